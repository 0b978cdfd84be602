"""Cutting a long text into passages of whole sentences, in any script."""

import math
import re
from bisect import bisect_right
from collections.abc import Iterator
from itertools import accumulate

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
    passages = []
    pieces = list(_pieces(text, limit))
    remaining = sum(size for _, _, size in pieces)
    start, held, target = 0, 0.0, _target(remaining, limit)
    for begin, end, size in pieces:
        if held and (held + size > limit or held >= target):
            passages.append(text[start:begin])
            remaining -= held
            start, held, target = begin, 0.0, _target(remaining, limit)
        held += size
        last = end
    if pieces:
        passages.append(text[start:last])
    return [" ".join(passage.split()) for passage in passages]


def _target(remaining: float, limit: int) -> float:
    """Size at which the rest is shared out evenly over as few passages as can hold it."""
    return remaining / math.ceil(remaining / limit) if remaining else 0.0


def _pieces(text: str, limit: int) -> Iterator[tuple[int, int, float]]:
    """Sentences, and parts of those over the limit: start, end, size in words. Between them is only space."""
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
