"""Where to look for a statement: the passages of an article, or of the pages of a topic, that share most with it.

Both judges of statement coverage are shown the same passages, of an article and of the pages alike, so that what an
article states and what its pages hold are measured with one measure.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice

from storm_pipeline.documents.chunks import chunks
from storm_pipeline.evaluation.datasets.closed_corpus import topic_chunks
from storm_pipeline.evaluation.metrics.texts import generated_text
from storm_pipeline.evaluation.types import Topic
from storm_pipeline.retrieval.lexical import LexicalIndex
from storm_pipeline.types import Article

WORDS = 120
"""Words of a passage at most."""
LOOKED_AT = 5
"""Passages that a judge is shown of one statement, the best by BM25."""


_REMEMBERED = 32
"""Topics of which it is kept where on their pages to look: cutting them takes seconds."""


@dataclass(frozen=True)
class Sought:
    """A statement and the passages that share most with it, best first; none where no passage shares a word."""

    statement: str
    passages: tuple[str, ...] = ()


def sought_in_text(text: str, statements: Iterable[str]) -> tuple[Sought, ...]:
    """Statements with the passages of a plain text, in order."""
    return _sought(statements, chunks(text, WORDS))


def sought_in_article(article: Article, statements: Iterable[str]) -> tuple[Sought, ...]:
    """Statements with the passages of an article's lead and body, in order."""
    return sought_in_text(generated_text(article), statements)


@lru_cache(_REMEMBERED)
def sought_on_pages(topic: Topic) -> tuple[Sought, ...]:
    """The statements of a topic with the passages of its documents, copies of the article left out; in order."""
    return _sought(topic.human.statements, [chunk.text for chunk in topic_chunks(topic, words=WORDS)])


def share(found: Sequence[bool]) -> float | None:
    """Share of what was found, in [0, 1]; None of nothing."""
    return sum(found) / len(found) if found else None


def _sought(statements: Iterable[str], passages: Sequence[str]) -> tuple[Sought, ...]:
    index = LexicalIndex(([(passage, 1)] for passage in passages), floor=0.0)
    return tuple(
        Sought(statement, tuple(passages[match.position] for match in islice(index.search(statement), LOOKED_AT)))
        for statement in statements
    )
