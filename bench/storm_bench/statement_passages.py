"""The passages of an article, or of a topic's documents, that best match a statement.

Both judges of statement coverage get the same passages, of articles and of documents alike, so that coverage and its
ceiling are comparable.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice

from storm_bench.datasets.closed_corpus import topic_chunks
from storm_bench.metrics.texts import generated_text
from storm_bench.types import Topic
from storm_pipeline import Article
from storm_pipeline.api import LexicalIndex, chunks

PASSAGE_WORDS = 120
"""Maximum words per passage."""
TOP_PASSAGES = 5
"""Passages shown to a judge per statement, the best by BM25."""
_CACHED_TOPICS = 32  # topics whose passages are cached: chunking a topic's documents takes seconds


@dataclass(frozen=True)
class StatementPassages:
    """A statement and its best-matching passages, best first; none if no passage shares a word with it."""

    statement: str
    passages: tuple[str, ...] = ()


def find_in_text(text: str, statements: Iterable[str]) -> tuple[StatementPassages, ...]:
    """Each statement with its passages of a plain text, in order."""
    return _best_passages(statements, chunks(text, PASSAGE_WORDS))


def find_in_article(article: Article, statements: Iterable[str]) -> tuple[StatementPassages, ...]:
    """Each statement with its passages of an article's lead and body, in order."""
    return find_in_text(generated_text(article), statements)


@lru_cache(_CACHED_TOPICS)
def find_in_documents(topic: Topic) -> tuple[StatementPassages, ...]:
    """Each statement of a topic with its passages of the documents, copies of the article excluded; in order."""
    return _best_passages(topic.human.statements, [chunk.text for chunk in topic_chunks(topic, words=PASSAGE_WORDS)])


def share(found: Sequence[bool]) -> float | None:
    """Share of true values, in [0, 1]; None for an empty sequence."""
    return sum(found) / len(found) if found else None


def _best_passages(statements: Iterable[str], passages: Sequence[str]) -> tuple[StatementPassages, ...]:
    index = LexicalIndex(([(passage, 1)] for passage in passages), floor=0.0)
    return tuple(
        StatementPassages(
            statement, tuple(passages[match.position] for match in islice(index.search(statement), TOP_PASSAGES))
        )
        for statement in statements
    )
