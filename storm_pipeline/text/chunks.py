"""Splitting a long text into passages of whole sentences, in any script."""

import math
import re
from collections.abc import Callable, Iterable, Iterator

_Piece = tuple[int, int, float]  # Start, end and size of a sentence or a part of one

_SCRIPTS_WITHOUT_SPACES = "\u0e00-\u0eff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_MAX_UNIT = 30
# The unit of length: a word of up to 30 characters, or a character of a script without spaces.
_UNIT = re.compile(rf"[{_SCRIPTS_WITHOUT_SPACES}]|[^\s{_SCRIPTS_WITHOUT_SPACES}]{{1,{_MAX_UNIT}}}")
_UNSPACED = re.compile(f"[{_SCRIPTS_WITHOUT_SPACES}]")
_CLOSERS = "\"'”’»)\\]}」』】》〉）］"
# Possessive and anchored at the start of a run of marks: linear time for a page of leader dots.
_END = re.compile(rf"[。！？｡]++[{_CLOSERS}]*+|(?<![.!?…؟।])[.!?…؟।]++[{_CLOSERS}]*+(?=\s)|\n[^\S\n]*+\n\s*+")
_NOT_AN_END = re.compile(
    r"(?:^|[\s(\[“\"])(?:[A-Z]|[Dd]r|Mrs?|Ms|Prof|St|Sr|Jr|Gen|Col|Capt|[Nn]os?|[Vv]ols?|[Ff]igs?|pp?|al|ca?|cf|vs?|e\.g|i\.e|approx)\.$"
)
_UNPUNCTUATED_BLOCK = re.compile(r"(?<=[^\W_])(?=[^\S\n]*+\n[^\S\n]*+\n\s*+(\S?))")
MOST_SHARED = 45  # maximum number of words that :func:`overlapping` passages have in common
FEWEST_SHARED = 6  # minimum number of shared words that joins two passages
_LINE = 5  # minimum words of a line that continues in the next one; shorter lines are headings


def punctuated_blocks(text: str) -> str:
    """Add a full stop to each block (between blank lines) that ends in a word, unless the next block continues it.

    Otherwise a heading would run into the next sentence once the passage is on one line. A block continues if it has
    five words and the next block begins in lower case.
    """

    def stop(end: re.Match[str]) -> str:
        line = text[text.rfind("\n", 0, end.start()) + 1 : end.start()]
        return "" if end[1].islower() and len(line.split()) >= _LINE else "."

    return _UNPUNCTUATED_BLOCK.sub(stop, text)


def count_words(text: str) -> float:
    """Return the length in words; 2 characters of a script without spaces, or 30 of a longer word, count as one."""
    units = _UNIT.findall(text)
    return sum(0.5 if _UNSPACED.match(unit) else 1.0 for unit in units) if _UNSPACED.search(text) else float(len(units))


def chunks(text: str, limit: int = 150) -> list[str]:
    """Split a text into passages of similar size, none over the limit, in order.

    Passages end at sentence ends; a sentence over the limit is split between words. White space is collapsed; nothing
    else is lost or changed. ``limit``: maximum words per passage as by :func:`count_words`, >= 1.
    """
    return token_chunks(text, limit, count_words)


def overlapping(passages: Iterable[str]) -> Iterator[str]:
    """Yield the passages of a text, each after the last sentences of the previous one, unless they are long."""
    end = ""
    for passage in passages:
        yield f"{end} {passage}".lstrip()
        ends = (passage[start:].strip() for start, _ in reversed(list(_sentences(passage))))
        end = next((end for end in ends if count_words(end) >= FEWEST_SHARED), "")
        if count_words(end) > MOST_SHARED:
            end = ""


def token_chunks(text: str, limit: int, count: Callable[[str], float]) -> list[str]:
    """Split as :func:`chunks`, measured in an encoder's tokens, so that no passage is truncated.

    ``limit``: maximum tokens per passage, >= 1; leave room for special tokens. Only a single character may exceed it.
    ``count``: number of tokens of a text, without special tokens.
    """
    pieces = [piece for start, end in _sentences(text) for piece in _split_to_fit(text, start, end, limit, count)]
    groups = (part for group in _group(pieces, limit) for part in _halve(text, group, limit, count))
    return [_one_line(text, group) for group in groups]


def _one_line(text: str, group: list[_Piece]) -> str:
    return " ".join(text[group[0][0] : group[-1][1]].split())


def _group(pieces: list[_Piece], limit: int) -> Iterator[list[_Piece]]:
    """Yield consecutive pieces in groups of similar size, none over the limit."""
    remaining = sum(size for _, _, size in pieces)
    group: list[_Piece] = []
    length = 0.0
    for piece in pieces:
        target = remaining / math.ceil(remaining / limit) if remaining else 0.0  # evenly, in as few groups as possible
        if group and (length + piece[2] > limit or length >= target):
            yield group
            remaining -= length
            group, length = [], 0.0
        group.append(piece)
        length += piece[2]
    if group:
        yield group


def _split_to_fit(text: str, start: int, end: int, limit: int, count: Callable[[str], float]) -> Iterator[_Piece]:
    """Yield a sentence, or its parts if it is over the limit, split between words if possible."""
    units = [unit.span() for unit in _UNIT.finditer(text, start, end)]
    most = 2 * limit  # a unit has at least half a token, so a longer text need not be counted
    if len(units) > most:
        for first in range(0, len(units), most):
            yield from _split_to_fit(text, units[first][0], units[first : first + most][-1][1], limit, count)
        return
    if not units:
        return
    begin, after = units[0][0], units[-1][1]
    size = count(" ".join(text[begin:after].split()))
    if size <= limit or after - begin == 1:
        yield begin, after, size
        return
    middle = units[len(units) // 2][0] if len(units) > 1 else (begin + after) // 2
    yield from _split_to_fit(text, begin, middle, limit, count)
    yield from _split_to_fit(text, middle, after, limit, count)


def _halve(text: str, group: list[_Piece], limit: int, count: Callable[[str], float]) -> Iterable[list[_Piece]]:
    """Return a group, or its halves if over the limit: token counts are not additive."""
    if len(group) == 1 or count(_one_line(text, group)) <= limit:
        return [group]
    halves = group[: len(group) // 2], group[len(group) // 2 :]
    return [part for half in halves for part in _halve(text, half, limit, count)]


def _sentences(text: str) -> Iterator[tuple[int, int]]:
    start = 0
    for boundary in _END.finditer(text):
        if not _NOT_AN_END.search(text[max(start, boundary.end() - 12) : boundary.end()]):
            yield start, boundary.end()
            start = boundary.end()
    if start < len(text):
        yield start, len(text)
