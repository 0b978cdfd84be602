"""Search in the documents of a data set alone: a topic's own, or those of all topics pooled (WikiGenBen, section 2).

chunks = topic_chunks(topic, sources="mixed")
engine = ClosedCorpus(chunks, Bm25Ranker())          # a SearchEngine, for recipes that search
Bm25Ranker().rank(topic.title, chunks, 5)            # retrieve-then-read: the five best chunks at once
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

from storm_pipeline.documents.chunks import chunks as cut
from storm_pipeline.documents.plain import plain_text
from storm_pipeline.errors import DatasetError
from storm_pipeline.evaluation.datasets.leakage import without_copies
from storm_pipeline.evaluation.datasets.rankers import Bm25Ranker, Ranker
from storm_pipeline.evaluation.types import Document, Topic
from storm_pipeline.search.passages import best_passages
from storm_pipeline.text.prose import statements_in
from storm_pipeline.types import Snippet

NAME = "closed-corpus"
WORDS = 256
"""Words in a chunk, as in the papers. Here chunks end where sentences end and are of even size, so hold 256 at most."""

Sources = Literal["mixed", "human", "search"]
"""Whose documents: those that editors cited (human), that a search found (search), or both."""


class ClosedCorpus:
    """A :class:`storm_pipeline.search.base.SearchEngine` over chunks. Thread-safe; reaches no network.

    Args:
        chunks: from :func:`topic_chunks` or :func:`pooled_chunks`.
        ranker: orders them; by default BM25, which with TF-IDF beat the dense ones in the papers.
        passages: chunks of one document that a search returns at most, >= 1.

    Raises:
        DatasetError: there are no chunks.
    """

    name = NAME

    def __init__(self, chunks: Sequence[Snippet], ranker: Ranker | None = None, *, passages: int = 3) -> None:
        if not chunks:
            raise DatasetError("a closed corpus without documents answers nothing; take a core topic or other sources")
        self._chunks = tuple(chunks)
        self._ranker = ranker or Bm25Ranker()
        self._passages = passages

    def search(self, query: str, k: int) -> Sequence[Snippet]:
        """Chunks of up to ``k`` documents, best chunk first, up to ``passages`` of each document."""
        if k < 1 or not query.strip():
            return ()
        return best_passages(self._ranker.rank(query, self._chunks, len(self._chunks)), k, self._passages)


def topic_chunks(
    topic: Topic, *, sources: Sources = "mixed", words: int = WORDS, guarded: bool = True
) -> tuple[Snippet, ...]:
    """The documents of a topic, cut; in order, each distinct chunk once.

    Args:
        topic: of a data set with documents.
        sources: whose documents.
        words: in a chunk at most, >= 1.
        guarded: whether copies of the topic's article are left out (:func:`leakage.without_copies`).
    """
    held = without_copies(topic) if guarded else topic
    return _chunks((document for document in held.documents if sources in {"mixed", document.origin}), words)


def pooled_chunks(
    topics: Iterable[Topic], *, sources: Sources = "mixed", words: int = WORDS, guarded: bool = True
) -> tuple[Snippet, ...]:
    """The documents of all topics as one corpus; what is a copy of its own topic's article is left out of it."""
    pooled = (topic_chunks(topic, sources=sources, words=words, guarded=guarded) for topic in topics)
    return tuple({chunk.id: chunk for chunks in pooled for chunk in chunks}.values())


def article_chunks(topic: Topic, *, words: int = WORDS) -> tuple[Snippet, ...]:
    """The human article itself, cut: what the paper's ``golden`` retrieval draws on. An upper bound, never a result.

    Raises:
        DatasetError: the article has no address under which it could be cited.
    """
    if not topic.human.url:
        raise DatasetError(
            f"the article {topic.title!r} has no address; only data sets that state it have golden chunks"
        )
    return _chunks([Document(topic.human.url, topic.human.title, topic.human.text())], words)


def _chunks(documents: Iterable[Document], words: int) -> tuple[Snippet, ...]:
    return tuple({chunk.id: chunk for document in documents for chunk in _cut(document, words)}.values())


def _cut(document: Document, words: int) -> Iterator[Snippet]:
    """The chunks of a document in which something is told: the menus of pages name their topic more than their text."""
    for text in filter(statements_in, map(plain_text, cut(document.text, words))):
        yield Snippet(document.url, document.title, text, engine=NAME, origin="page")
