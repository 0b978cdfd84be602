"""The sentences of a response, and the tokens that each has: the segments of Table 2."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from typing import Any

import torch
from torch import Tensor

from storm_pipeline.api import split_sentences
from storm_training.batches import Example

ANSWER = "Answer:"
"""Mark before the answer, if a structure and an outline precede it."""


@dataclass(frozen=True)
class Segmented:
    """An example and its answer's sentences.

    Attributes:
        example: prompt and response.
        sentences: the answer's, each with a token of its own; none where the response has no answer.
        numbers: the sentence of each of the response's tokens; -1 for structure, outline, and end.
        start: the response's first token of the answer.
    """

    example: Example
    sentences: tuple[str, ...]
    numbers: tuple[int, ...]
    start: int


def segment(tokenizer: Any, example: Example) -> Segmented:
    """Divide a response's answer into sentences; all of the response is the answer where :data:`ANSWER` is absent.

    A token is of the sentence in which it ends, else of the last that lies within it: one token may hold a whole line,
    line ends included. A sentence that shares its only token with a later one is left out.
    """
    pieces = [
        "" if token == tokenizer.eos_token_id else str(tokenizer.decode([token], skip_special_tokens=False))
        for token in example.response
    ]
    text = "".join(pieces)
    begin = text.rfind(ANSWER) + len(ANSWER) if ANSWER in text else 0
    spans = _spans(text, begin)
    ends = list(accumulate(map(len, pieces)))
    owners = [
        _owner(spans, end - len(piece), end) if piece.strip() else -1 for piece, end in zip(pieces, ends, strict=True)
    ]
    known = {owner: number for number, owner in enumerate(sorted({*owners} - {-1}))}
    numbers = tuple(known.get(owner, -1) for owner in owners)
    start = next((at for at, end in enumerate(ends) if end > begin), 0)
    return Segmented(example, tuple(text[slice(*spans[owner])] for owner in known), numbers, start)


def _owner(spans: Sequence[tuple[int, int]], start: int, end: int) -> int:
    """Return the sentence in which a token ends, else the last that lies within it; -1: none."""
    ending = (number for number, (low, high) in enumerate(spans) if low < end <= high)
    within = (number for number, (low, high) in enumerate(spans) if start <= low and high <= end)
    return next(ending, max(within, default=-1))


@lru_cache(maxsize=50_000)
def _spans(text: str, begin: int) -> tuple[tuple[int, int], ...]:
    spans, at = [], begin
    for sentence in split_sentences(text[begin:]):
        low = text.index(sentence, at)
        at = low + len(sentence)
        spans.append((low, at))
    return tuple(spans)


def whole(answer: Segmented) -> tuple[int, ...]:
    """Return the numbers where the answer, its end token included, is one segment."""
    return tuple(0 if at >= answer.start else -1 for at in range(len(answer.numbers)))


def numbered(rows: Sequence[tuple[Example, Sequence[int]]], width: int) -> tuple[Tensor, int]:
    """Return the numbers of a batch's tokens and the most segments that an answer has.

    Args:
        rows: examples with the numbers of their responses' tokens.
        width: tokens of the batch.

    Returns:
        Shape (answers, width), -1 outside segments, and a count of at least 1.
    """
    numbers = torch.full((len(rows), width), -1)
    for row, (example, own) in enumerate(rows):
        start = len(example.prompt)
        numbers[row, start : start + len(own)] = torch.tensor(own)
    return numbers, max(1, int(numbers.max()) + 1)
