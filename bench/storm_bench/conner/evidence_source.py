"""Where evidence for sentences, and retrieved knowledge, come from: the seam of eq. 1 and 8."""

from collections.abc import Callable, Sequence
from itertools import islice
from typing import Protocol

from storm_pipeline import Snippet
from storm_pipeline.api import LexicalIndex


class EvidenceSource(Protocol):
    """Searches a collection of passages: the texts of the ``k`` best for a query, best first, fewer where few fit."""

    @property
    def name(self) -> str: ...  # noqa: D102

    def find(self, query: str, k: int) -> list[str]: ...  # noqa: D102


EvidenceOver = Callable[[Sequence[Snippet]], EvidenceSource]
"""Makes the search of a collection of passages."""


class Bm25Evidence:
    """Stand-in for ColBERTv2: BM25 over title and text.

    Args:
        passages: the collection; indexed now.
    """

    name = "stand-in:bm25"

    def __init__(self, passages: Sequence[Snippet]) -> None:
        self._texts = [passage.text for passage in passages]
        self._index = LexicalIndex(([(f"{passage.title}\n{passage.text}", 1)] for passage in passages), floor=0.0)

    def find(self, query: str, k: int) -> list[str]:
        """As :class:`EvidenceSource`."""
        return [self._texts[match.position] for match in islice(self._index.search(query), max(0, k))]
