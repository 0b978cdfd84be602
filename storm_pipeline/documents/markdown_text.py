"""Marks within the lines of Markdown, as people read them: superscripts, subscripts, struck text, marks of notes."""

import re

from storm_pipeline.documents.inline_markup import labels_note
from storm_pipeline.documents.markup import fragment_text
from storm_pipeline.documents.raised import is_note_mark, lowered_text, raised_text

_KEPT = (
    r"^[ \t>]*(?P<fence>`{3,}|~{3,})[^\n`]*\n.*?(?:^[ \t>]*(?P=fence)[^\n]*$|\Z)",  # fenced code
    r"(?:\A|(?<=\n\n))(?!\s*(?:[-*+]|\d{1,9}[.)])\s)(?:(?:[ ]{4}|\t)[^\n]*(?:\n|\Z))+",  # indented code
    r"(?<!`)(?P<ticks>`+)(?!`)(?:(?!\n\s*\n).){1,1000}?(?<!`)(?P=ticks)(?!`)",  # a code span
    r"\$\$.{1,1000}?\$\$|\$(?=\S)[^$\n]{1,300}(?<=\S)\$(?!\d)",  # formulas
    r"\\.|\]\([^\s()]*|https?://[^\s<>\[\]]+",  # escaped characters, addresses
)
_MARK = re.compile(
    "|".join(f"(?:{kept})" for kept in _KEPT) + r"|<(?P<name>sup|sub|del|strike|s|rt|rp)\b(?P<labels>[^<>]*)>"
    r"(?P<content>(?:[^<]|<(?!/?(?P=name)\b))*)</(?P=name)\s*>"
    r"|(?P<note>^[ ]{0,3}\[\^[^\]\s]{1,99}\]:[ \t]*|\[\^[^\]\s]{1,99}\])"
    r"|(?P<struck>(?<!~)~~(?=[^\s~])(?:(?!~~|\n\s*\n).){1,1000}(?<=\S)~~(?!~))"
    r"|\^(?P<raised>[^\s^\[\]]{0,20}[^\W_][^\s^\[\]]{0,20})\^"
    r"|(?<=[^\s~])~(?P<lowered>[^\s~]{1,20})~(?!~)",
    re.I | re.M | re.S,
)


def markdown_as_read(text: str) -> str:
    """Replace marks within the lines of a Markdown text by what people read; code, formulas and addresses stay.

    ``10^6^`` and ``10<sup>6</sup>`` become ``10⁶``, ``H~2~O`` becomes ``H₂O``; struck text and marks of notes
    (``[^1]``) are left out, and a note's own line stays without its mark.
    """
    return _MARK.sub(_as_read, text)


def _as_read(found: re.Match[str]) -> str:
    if found["name"]:
        return _inline_text(found)
    if found["raised"]:
        return raised_text(found["raised"])
    if found["lowered"]:
        return lowered_text(found["lowered"])
    return "" if found["note"] or found["struck"] else found[0]


def _inline_text(found: re.Match[str]) -> str:
    """A superscript or subscript as text; nothing for marks of notes, deleted text, and readings of ruby."""
    text, name = fragment_text(found["content"]), found["name"].lower()
    if name == "sub":
        return lowered_text(text)
    before, after = found.string[max(0, found.start() - 20) : found.start()], found.string[found.end() :][:1]
    is_note = 'href="#' in found["content"] or labels_note(found["labels"]) or is_note_mark(text, before, after)
    return "" if name != "sup" or is_note else raised_text(text)
