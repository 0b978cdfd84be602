"""Fusion of rankings."""

from collections.abc import Hashable, Iterable
from typing import TypeVar

T = TypeVar("T", bound=Hashable)
_RANK_CONSTANT = 60


def rank_scores(rankings: Iterable[Iterable[T]]) -> dict[T, float]:
    """Reciprocal rank fusion (Cormack et al. 2009): entry → the sum of 1 / (60 + rank), ranks from 1.

    Entries stand in order of first occurrence.
    """
    scores: dict[T, float] = {}
    for ranking in rankings:
        for rank, entry in enumerate(ranking, start=1):
            scores[entry] = scores.get(entry, 0.0) + 1 / (_RANK_CONSTANT + rank)
    return scores
