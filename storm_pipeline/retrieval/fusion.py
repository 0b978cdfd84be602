"""Reciprocal rank fusion."""

from collections.abc import Hashable, Iterable
from typing import TypeVar

T = TypeVar("T", bound=Hashable)

RANK_CONSTANT = 60
"""The constant k of reciprocal rank fusion, as in Cormack et al. (2009)."""


def rank_scores(rankings: Iterable[Iterable[T]]) -> dict[T, float]:
    """The fused score of each entry, higher is better: the sum of 1 / (60 + rank) over the rankings, ranks from 1.

    Returns:
        Entry → score, in order of first occurrence.
    """
    scores: dict[T, float] = {}
    for ranking in rankings:
        for rank, entry in enumerate(ranking, start=1):
            scores[entry] = scores.get(entry, 0.0) + 1 / (RANK_CONSTANT + rank)
    return scores
