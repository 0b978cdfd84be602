"""Cutting a long text into passages of whole sentences, in any script."""

import math
import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from itertools import accumulate

Piece = tuple[int, int, float]
"""Start and end of a sentence, or of a part of one, in a text, and its size."""

_SCRIPTS_WITHOUT_SPACES = "\u0e00-\u0eff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_LONGEST_UNIT = 30
# What a passage is measured in: a word of up to 30 characters, or a character of a script without spaces.
_UNIT = re.compile(rf"[{_SCRIPTS_WITHOUT_SPACES}]|[^\s{_SCRIPTS_WITHOUT_SPACES}]{{1,{_LONGEST_UNIT}}}")
_UNSPACED = re.compile(f"[{_SCRIPTS_WITHOUT_SPACES}]")
_CLOSERS = "\"'”’»)\\]}」』】》〉）］"
# Possessive, and begun only where a run of marks begins: a page of leader dots must not take quadratic time.
_END = re.compile(rf"[。！？｡]++[{_CLOSERS}]*+|(?<![.!?…؟।])[.!?…؟।]++[{_CLOSERS}]*+(?=\s)|\n[^\S\n]*+\n\s*+")
_NO_END = re.compile(
    r"(?:^|[\s(\[“\"])(?:[A-Z]|[Dd]r|Mrs?|Ms|Prof|St|Sr|Jr|Gen|Col|Capt|[Nn]os?|[Vv]ols?|[Ff]igs?|pp?|al|ca?|cf|vs?|e\.g|i\.e|approx)\.$"
)
_OPEN_BLOCK = re.compile(r"(?<=[^\W_])(?=[^\S\n]*\n[^\S\n]*\n)")


def closed_blocks(text: str) -> str:
    """The text with a full stop behind each block that ends in a word, blocks being parted by blank lines.

    Without it a heading would run into the sentence that follows, once the passage is on one line.
    """
    return _OPEN_BLOCK.sub(".", text)


def count_words(text: str) -> float:
    """Length of a text in words: two characters of a script without spaces, or 30 of a longer word, are one."""
    return sum(_weight(unit.group()[0]) for unit in _UNIT.finditer(text))


def chunks(text: str, limit: int = 150) -> list[str]:
    """Cut a text into passages of about even size, none over the limit, in order.

    Passages end where sentences end; a sentence that is longer than the limit is cut between words, so that a
    text without any punctuation stays usable. White space is collapsed; nothing else is lost or changed.

    Args:
        text: any text.
        limit: most words in a passage, >= 1. In scripts written without spaces two characters count as a
            word, and of a "word" of more than 30 characters each 30 count as one. Passages hold two thirds of
            it or more, unless the text or its sentences leave no choice.
    """
    return [_flat(text, group) for group in _grouped(list(_pieces(text, limit)), limit)]


def token_chunks(text: str, limit: int, count: Callable[[str], int]) -> list[str]:
    """As :func:`chunks`, but measured in tokens of an encoder, so that it reads each passage to its end.

    Args:
        text: any text.
        limit: most tokens in a passage, >= 1; leave room for those that the encoder adds.
        count: tokens of a text, without those that the encoder adds. Only a single character may be over the limit.
    """
    pieces = [piece for start, end in _sentences(text) for piece in _fitting(text, start, end, limit, count)]
    groups = (part for group in _grouped(pieces, limit) for part in _halved(text, group, limit, count))
    return [_flat(text, group) for group in groups]


def _flat(text: str, group: list[Piece]) -> str:
    return " ".join(text[group[0][0] : group[-1][1]].split())


def _grouped(pieces: list[Piece], limit: int) -> Iterator[list[Piece]]:
    """Pieces that follow each other, together up to the limit, in groups of even size."""
    remaining = sum(size for _, _, size in pieces)
    group: list[Piece] = []
    held, target = 0.0, _target(remaining, limit)
    for piece in pieces:
        if group and (held + piece[2] > limit or held >= target):
            yield group
            remaining -= held
            group, held, target = [], 0.0, _target(remaining, limit)
        group.append(piece)
        held += piece[2]
    if group:
        yield group


def _fitting(text: str, start: int, end: int, limit: int, count: Callable[[str], int]) -> Iterator[Piece]:
    """A sentence, or the parts of one that is over the limit, cut between words if it can be."""
    units = [unit.span() for unit in _UNIT.finditer(text, start, end)]
    if len(units) > limit:  # hardly any word is less than a token: no need to measure all of it
        for first in range(0, len(units), limit):
            yield from _fitting(text, units[first][0], units[first : first + limit][-1][1], limit, count)
        return
    if not units:
        return
    begin, after = units[0][0], units[-1][1]
    size = count(" ".join(text[begin:after].split()))
    if size <= limit or after - begin == 1:
        yield begin, after, size
        return
    middle = units[len(units) // 2][0] if len(units) > 1 else (begin + after) // 2
    yield from _fitting(text, begin, middle, limit, count)
    yield from _fitting(text, middle, after, limit, count)


def _halved(text: str, group: list[Piece], limit: int, count: Callable[[str], int]) -> Iterable[list[Piece]]:
    """A group, or its parts: tokens of texts that are put together need not add up."""
    if len(group) == 1 or count(_flat(text, group)) <= limit:
        return [group]
    halves = group[: len(group) // 2], group[len(group) // 2 :]
    return [part for half in halves for part in _halved(text, half, limit, count)]


def _target(remaining: float, limit: int) -> float:
    """Size at which the rest is shared out evenly over as few passages as can hold it."""
    return remaining / math.ceil(remaining / limit) if remaining else 0.0


def _pieces(text: str, limit: int) -> Iterator[Piece]:
    """Sentences, and parts of those over the limit, sized in words. Between them is only space."""
    for start, end in _sentences(text):
        units = [(unit.start(), unit.end()) for unit in _UNIT.finditer(text, start, end)]
        sizes = list(accumulate((_weight(text[a]) for a, _ in units), initial=0.0))
        first = 0
        while first < len(units):
            after = max(first + 1, bisect_right(sizes, sizes[first] + limit) - 1)
            yield units[first][0], units[after - 1][1], sizes[after] - sizes[first]
            first = after


def _weight(char: str) -> float:
    return 0.5 if _UNSPACED.match(char) else 1.0


def _sentences(text: str) -> Iterator[tuple[int, int]]:
    """Spans of sentences; together they cover the text."""
    start = 0
    for boundary in _END.finditer(text):
        if not _NO_END.search(text[max(start, boundary.end() - 12) : boundary.end()]):
            yield start, boundary.end()
            start = boundary.end()
    if start < len(text):
        yield start, len(text)
