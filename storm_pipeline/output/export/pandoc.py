"""Pandoc's Markdown: an article with its citations, its references as CSL items in the metadata."""

import json
import string
from collections.abc import Iterator
from typing import Any
from uuid import NAMESPACE_OID, uuid5

from storm_pipeline.evidence.citations import page_span
from storm_pipeline.output.export.csl import csl_item
from storm_pipeline.output.export.manuscript import CitedSentence, HeadingBlock, Manuscript, Reference
from storm_pipeline.text.languages import is_right_to_left, references_heading

READER = "markdown_strict-raw_html+all_symbols_escapable+auto_identifiers+citations+yaml_metadata_block"
"""Pandoc's name of the Markdown variant; its ``markdown`` reads it in the same way."""
_ESCAPED = str.maketrans({sign: f"\\{sign}" for sign in string.punctuation})


def write(manuscript: Manuscript) -> bytes:
    """Return the metadata and the text, one sentence per line; Pandoc adds the references at the end."""
    body = "\n".join(_body(manuscript))
    metadata = {
        "identifier": f"urn:uuid:{uuid5(NAMESPACE_OID, manuscript.title + body)}",
        "title": manuscript.title,
        "subtitle": manuscript.provenance,
        "author": list(manuscript.models) or ["storm-pipeline"],
        "date": manuscript.written,
        "lang": "" if manuscript.language == "und" else manuscript.language,
        "dir": "rtl" if is_right_to_left(manuscript.language) else "",
        "reference-section-title": references_heading(manuscript.language) if manuscript.references else "",
        "references": list(map(_item, manuscript.references)),
    }
    fields = (f"{name}: {json.dumps(_escape(value), ensure_ascii=False)}" for name, value in metadata.items() if value)
    return "\n".join(["---", *fields, "---", body, ""]).encode()


def escape(text: str) -> str:
    """Escape a text on one line, so that Pandoc shows it literally everywhere."""
    return text.translate(_ESCAPED)


def _body(manuscript: Manuscript) -> Iterator[str]:
    for block in manuscript.blocks:
        yield ""
        if isinstance(block, HeadingBlock):
            yield f"{'#' * block.level} {escape(block.text)}"
        else:
            yield from (_sentence(sentence, manuscript.references) for sentence in block.sentences)
    if manuscript.note:
        yield f"\n*{escape(manuscript.note)}*"


def _sentence(sentence: CitedSentence, references: tuple[Reference, ...]) -> str:
    """Return the sentence with its citations; pages without a leading digit are in braces for Pandoc."""
    cites = []
    for cite in sentence.cites:
        pages = escape(page_span(cite.pages))
        shown = f", {pages}" if pages[:1].isdecimal() else f"{{{pages}}}" if pages else ""
        cites.append(f"@{references[cite.number - 1].key}{shown}")
    return escape(sentence.text) + (f" [{'; '.join(cites)}]" if cites else "")


def _item(reference: Reference) -> dict[str, Any]:
    """Return the CSL item with the other addresses of its text; its title names a local file."""
    item = {"title-short": reference.title} | csl_item(reference) | {"title": reference.named_title}
    return item | ({"note": f"Also at {', '.join(reference.also)}"} if reference.also else {})


def _escape(value: Any) -> Any:
    if isinstance(value, str):
        return escape(value)
    if isinstance(value, dict):
        return {name: _escape(element) for name, element in value.items()}
    return [_escape(element) for element in value] if isinstance(value, list) else value
