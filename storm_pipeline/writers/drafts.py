"""Reads what a capable model wrote from numbered passages: headings, paragraphs, and sentences that cite."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from storm_pipeline.languages import ordinals_have_stops
from storm_pipeline.quantities.months import month_names
from storm_pipeline.references.grounding import Claim
from storm_pipeline.text.sentences import is_complete
from storm_pipeline.text.words import MARKER, has_word
from storm_pipeline.writers.claims import claims_of, ends_in_marker, has_markers_alone, without_emphasis

_HEADING = re.compile(r"#{1,6} (.+?)(?: #+)?|\*\*([^*]+)\*\*:?")
_SET_APART = re.compile(r"(?:^|(?<=[.!?\]]))[^\S\n]*\\?(#{1,6})[^\S\n]+", re.M)
"""Where a heading begins: at a line's start, its mark escaped or not, or behind a sentence on the same line."""
_BULLET = re.compile(r"^\s*(?:(?:[-*•·]|\d+[.)])\s+|\d+[、．]\s*)")
_ENDS_SENTENCE = re.compile(r"[.!。！۔।]\W*$")
_END = 300  # trailing characters of a line that decide whether the next line continues it


@dataclass(frozen=True)
class Block:
    """A heading (empty if there is none) and its paragraphs of claims."""

    heading: str
    paragraphs: tuple[tuple[Claim, ...], ...]


@dataclass(frozen=True)
class Draft:
    """A parsed reply."""

    blocks: tuple[Block, ...]  # in order; the first one has no heading
    invented: int  # number of markers that refer to no passage
    broken_off: str = ""  # an incomplete last sentence; empty if there is none
    names: tuple[str, ...] = ()  # names that contain full stops, used in parsing

    def claims(self) -> list[Claim]:
        """All sentences in order."""
        return [claim for block in self.blocks for paragraph in block.paragraphs for claim in paragraph]


def read_draft(text: str, shown: int, language: str = "en", names: Sequence[str] = ()) -> Draft:
    """Read a reply with headings, paragraphs and ``[n]`` markers; an incomplete last sentence is left out.

    A line in bold type is a heading unless it is a sentence or cites something. A line of markers only belongs to the
    line before it, and so does a line in lower case that continues an unfinished sentence. ``names``: names that
    contain full stops, which are not split.
    """
    blocks: list[tuple[str, list[tuple[Claim, ...]]]] = [("", [])]
    invented = 0
    for line in _lines(text):
        if heading := _heading(line):
            blocks.append((heading, []))
            continue
        claims, wrong = claims_of(_without_bullet(line, language), shown, language, names)
        invented += wrong
        if claims:
            blocks[-1][1].append(claims)
    broken_off = ""
    last = next((paragraphs for _, paragraphs in reversed(blocks) if paragraphs), None)
    if last and not is_complete(last[-1][-1].text) and not ends_in_marker(text):
        broken_off = last[-1][-1].text
        last[-1] = last[-1][:-1]
        if not last[-1]:
            last.pop()
    read = tuple(Block(heading, tuple(paragraphs)) for heading, paragraphs in blocks)
    return Draft(read, invented, broken_off, tuple(names))


def _lines(text: str) -> list[str]:
    """The lines of a reply that contain words, with continuation lines joined to them."""
    lines: list[list[str]] = []
    end = ""
    for line in _SET_APART.sub(r"\n\1 ", text).splitlines():
        if lines and (has_markers_alone(line) or (line[:1].islower() and not _is_finished(end))):
            lines[-1].append(line)
            end = f"{end} {line}"[-_END:]
        elif has_word(line) and not line.startswith("```"):
            lines.append([line])
            end = line[-_END:]
    return [" ".join(pieces) for pieces in lines]


def _without_bullet(line: str, language: str) -> str:
    """A line without its list marker; "1. September" is a date in languages that mark ordinals with a full stop."""
    bare = _BULLET.sub("", line)
    first = bare.partition(" ")[0]
    is_date = bare != line and ordinals_have_stops(language) and first in month_names(language)
    return line if is_date else bare


def _heading(line: str) -> str:
    """The line's text if it is a heading, else an empty string."""
    found = _HEADING.fullmatch(" ".join(line.split()))
    if not found or MARKER.search(line) or (found[2] and _ENDS_SENTENCE.search(found[2])):
        return ""
    return without_emphasis(found[1] or found[2]).strip(" :：*#")


def _is_finished(line: str) -> bool:
    return bool(_heading(line)) or is_complete(line) or ends_in_marker(line)
