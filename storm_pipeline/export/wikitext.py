"""Wikitext: a page for MediaWiki, each source a citation template in a named reference."""

import re
from collections.abc import Iterator

from storm_pipeline.export.manuscript import HeadingBlock, Manuscript
from storm_pipeline.export.reference import Reference
from storm_pipeline.references.citations import page_span
from storm_pipeline.text.formatting import day

_SPECIAL = re.compile(r"[&<>\[\]{}|=]|'(?=')|(?<=')'|~(?=~)|(?<=~)~|_(?=_)|(?<=_)_|(?<=:)/(?=/)")
_MARKUP_IN_URL = re.compile(r"'|~(?=~)|(?<=~)~|_(?=_)|(?<=_)_")
"""Two of which would be italics, a signature, a switch of the page."""
_SCHEME = re.compile(r"\b(bitcoin|geo|magnet|mailto|news|sips?|sms|tel|urn|xmpp):(?=\S)", re.I)
_LINE_START = re.compile(r"^[*#:;!+\-]")
_MAGIC_LINK = re.compile(r"\b(RFC|PMID|ISBN) (?=[\d ])")
_TEMPLATES = {
    "journal": "cite journal",
    "paper": "cite web",
    "proceedings": "cite conference",
    "chapter": "cite book",
    "book": "cite book",
    "thesis": "cite thesis",
    "report": "cite report",
    "page": "cite web",
    "document": "citation",
}


def write(manuscript: Manuscript) -> bytes:
    """The page: a sentence a line with its references behind it, which MediaWiki lists at the end."""
    return ("\n".join(_lines(manuscript)) + "\n").encode()


def _lines(manuscript: Manuscript) -> Iterator[str]:
    yield f"<!-- {_in_comment(manuscript.provenance)} -->"
    defined: set[int] = set()
    for block in manuscript.blocks:
        yield ""
        if isinstance(block, HeadingBlock):
            marks = "=" * min(block.level + 1, 6)
            yield f"{marks} {escape(block.text)} {marks}"
            continue
        for sentence in block.sentences:
            marks = "".join(_ref(manuscript.references[number - 1], defined) for number in sentence.numbers)
            yield escape(sentence.text) + marks
    if manuscript.references:
        yield f"\n== {escape(manuscript.references_heading)} ==\n<references />"


def escape(text: str) -> str:
    """A text on one line that MediaWiki shows literally, in a template's parameter and at the start of a line too."""
    entities = _SPECIAL.sub(lambda found: f"&#{ord(found[0])};", text)
    unlinked = _SCHEME.sub(r"\1&#58;", _MAGIC_LINK.sub(r"\1&#32;", entities))
    return _LINE_START.sub(lambda found: f"&#{ord(found[0])};", unlinked)


def _ref(reference: Reference, defined: set[int]) -> str:
    if reference.number in defined:
        return f'<ref name="{reference.key}" />'
    defined.add(reference.number)
    fields = "".join(f" |{name}={value}" for name, value in _fields(reference) if value)
    return f'<ref name="{reference.key}">{{{{{_TEMPLATES[reference.kind]}{fields}}}}}</ref>'


def _fields(reference: Reference) -> Iterator[tuple[str, str]]:
    for number, name in enumerate(reference.authors, 1):
        if name.given:
            yield f"last{number}", escape(name.family)
            yield f"first{number}", escape(name.given)
        else:
            yield f"author{number}", escape(name.family)
    yield "title", escape(reference.title)
    yield "url", _MARKUP_IN_URL.sub(lambda found: f"%{ord(found[0]):02X}", reference.link)
    yield ("journal" if reference.kind == "journal" else "website"), escape(reference.site)
    yield "publisher", escape(reference.publisher)
    yield "date", day(reference.published) if reference.published else ""
    yield ("page" if len(reference.pages) == 1 else "pages"), page_span(reference.pages)
    yield "doi", escape(reference.doi)
    yield "id", "" if reference.link else escape(reference.address)
    yield "language", escape(reference.language)
    yield "access-date", day(reference.accessed) if reference.accessed and reference.link else ""


def _in_comment(text: str) -> str:
    return re.sub("-(?=-)", "- ", text).replace(">", "&gt;").rstrip("-")
