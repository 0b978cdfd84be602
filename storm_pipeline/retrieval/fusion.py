"""How several rankings become one: reciprocal rank fusion."""

from collections.abc import Hashable, Iterable
from typing import TypeVar

T = TypeVar("T", bound=Hashable)

RANK_CONSTANT = 60
"""k of reciprocal rank fusion, the value of its authors (Cormack et al. 2009)."""


def rank_scores(rankings: Iterable[Iterable[T]]) -> dict[T, float]:
    """The fused score of each entry, higher is better: a ranking gives its r-th entry 1 / (60 + r), r from 1.

    Args:
        rankings: each the distinct entries that it ranks, best first.

    Returns:
        Entries in the order in which they are first met.
    """
    scores: dict[T, float] = {}
    for ranking in rankings:
        for rank, entry in enumerate(ranking, start=1):
            scores[entry] = scores.get(entry, 0.0) + 1 / (RANK_CONSTANT + rank)
    return scores
