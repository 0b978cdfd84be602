"""Obsidian: a Markdown note with properties, whose citations are wiki links to the lines of its references."""

import json
import re
from collections.abc import Iterator
from typing import Any

from storm_pipeline.export.entries import Run
from storm_pipeline.export.manuscript import HeadingBlock, Manuscript
from storm_pipeline.render.markdown import LINE_START, escaped_mark

_SPECIAL = re.compile(r"[\\`*_\[\]<>|~$#^]|&(?=#?\w+;)|=(?==)|(?<==)=|%(?=%)|(?<=%)%")
_RAISED = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
_IN_ADDRESS = str.maketrans({"(": "%28", ")": "%29", "<": "%3C", ">": "%3E"})


def write(manuscript: Manuscript) -> bytes:
    """The note: properties, a sentence a line, and a reference a line, which is a block with an id."""
    return ("\n".join(_lines(manuscript)) + "\n").encode()


def _lines(manuscript: Manuscript) -> Iterator[str]:
    yield "---"
    yield from (f"{name}: {json.dumps(value, ensure_ascii=False)}" for name, value in _properties(manuscript))
    yield f"---\n\n> [!info] {escape(manuscript.provenance)}"
    mark = "[^{}]".format if manuscript.note_place else _link
    for block in manuscript.blocks:
        yield ""
        if isinstance(block, HeadingBlock):
            yield f"{'#' * block.level} {escape(block.text)}"
        else:
            for sentence in block.sentences:
                yield escape(sentence.text) + "".join(mark(number) for number in sentence.marks)
    if manuscript.references:
        yield f"\n# {escape(manuscript.references_heading)}\n"
    for number, entry in manuscript.bibliography:
        line = "".join(map(_run, entry))
        yield f"- {line}" if manuscript.note_place else f"{number}. {line} ^ref-{number}"
    for number, note in enumerate(manuscript.notes, 1):
        yield f"\n[^{number}]: {''.join(map(_run, note))}"


def escape(text: str) -> str:
    """A text on one line that Obsidian shows literally: no tag, comment, highlight, link or block id is in it."""
    return LINE_START.sub(escaped_mark, _SPECIAL.sub(r"\\\g<0>", text))


def _link(number: int) -> str:
    return f" [[#^ref-{number}|{str(number).translate(_RAISED)}]]"


def _properties(manuscript: Manuscript) -> Iterator[tuple[str, Any]]:
    yield "title", manuscript.title
    yield "aliases", [manuscript.title]
    if manuscript.written:
        yield "date", manuscript.written
    yield "language", manuscript.language
    yield "written-by", list(manuscript.models) or ["a program"]
    yield "sentences", sum(1 for _ in manuscript.sentences())
    yield "sources", [reference.link or reference.address for reference in manuscript.references]
    yield "tags", ["storm"]


def _run(run: Run) -> str:
    text = escape(run.text)
    if run.href:
        text = f"[{text}]({run.href.translate(_IN_ADDRESS)})"
    return f"*{text}*" if run.italic and text.strip() == text else text
