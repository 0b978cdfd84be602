"""Where evidence for sentences, and retrieved knowledge, come from: the seam of eq. 1 and 8."""

import json
from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from pathlib import Path
from typing import Protocol

from storm_bench.datasets.conner import KnowledgeItem
from storm_pipeline import Snippet
from storm_pipeline.api import LexicalIndex, chunks


class EvidenceSource(Protocol):
    """Searches a collection of passages: the texts of the ``k`` best for a query, best first, fewer where few fit."""

    @property
    def name(self) -> str: ...  # noqa: D102

    def find(self, query: str, k: int) -> list[str]: ...  # noqa: D102


EvidenceOver = Callable[[Sequence[Snippet]], EvidenceSource]
"""Makes the search of a collection of passages."""


class Bm25Evidence:
    """Stand-in for ColBERTv2: BM25 over title and text."""

    name = "stand-in:bm25"

    def __init__(self, passages: Sequence[Snippet]) -> None:
        self._texts = [passage.text for passage in passages]
        self._index = LexicalIndex(([(f"{passage.title}\n{passage.text}", 1)] for passage in passages), floor=0.0)

    def find(self, query: str, k: int) -> list[str]:
        """As :class:`EvidenceSource`."""
        return [self._texts[match.position] for match in islice(self._index.search(query), max(0, k))]


LONGEST = 40
"""Words of any knowledge that are scored, so that long references and short generations are comparable."""
LEADS = "wikipedia-vital-article-leads-en"
"""The pinned file of lead sections."""


def passage_pool(items: Iterable[KnowledgeItem], leads: Path) -> tuple[Snippet, ...]:
    """Passages of whole sentences, of as many words as are scored; equal ones once.

    It stands in for all of Wikipedia, so that references of the measured items belong to it as their pages belong to
    that: retrieval is easier here than over Wikipedia.

    Args:
        items: their references, under the titles of their topics.
        leads: the pinned file of lead sections, title → ``extract``.
    """
    texts = [(item.topic, item.reference) for item in items]
    known = json.loads(leads.read_text(encoding="utf-8"))
    texts += [(title, entry["extract"]) for title, entry in known.items()]
    found = {
        (title, passage): Snippet(f"https://en.wikipedia.org/wiki/{title.replace(' ', '_')}", title, passage)
        for title, text in texts
        for passage in chunks(text, LONGEST)
    }
    return tuple(found.values())
