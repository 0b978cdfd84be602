"""Search restricted to a data set's documents: a topic's own, or all topics' pooled (WikiGenBen, section 2).

chunks = topic_chunks(topic, sources="mixed")
engine = ClosedCorpus(chunks, Bm25Ranker())          # a SearchEngine, for recipes that search
Bm25Ranker().rank(topic.title, chunks, 5)            # the five best chunks, for retrieve-then-read
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

from storm_bench.datasets.leakage import without_copies
from storm_bench.datasets.rankers import Bm25Ranker, Ranker
from storm_bench.types import Topic, TopicDocument
from storm_pipeline import DatasetError, Snippet
from storm_pipeline.api import best_passages, plain_text
from storm_pipeline.api import chunks as cut

NAME = "closed-corpus"
WORDS = 256
"""Maximum words per chunk, as in the papers; our chunks end at sentence ends and are of even size."""
Sources = Literal["mixed", "human", "search"]
"""Documents cited by editors (human), found by search (search), or both (mixed)."""


class ClosedCorpus:
    """A :class:`storm_pipeline.sources.search.base.SearchEngine` over chunks. Thread-safe; makes no network requests.

    ``chunks``: from :func:`topic_chunks` or :func:`pooled_chunks`; ``ranker``: ranks the chunks; default: BM25, which
    like TF-IDF beat dense rankers in the papers; ``passages``: maximum chunks per document in a search result, >= 1.
    Raises DatasetError: there are no chunks.
    """

    name = NAME

    def __init__(self, chunks: Sequence[Snippet], ranker: Ranker | None = None, *, passages: int = 3) -> None:
        if not chunks:
            raise DatasetError("a closed corpus needs documents; use a core topic or other sources")
        self._chunks = tuple(chunks)
        self._ranker = ranker or Bm25Ranker()
        self._passages = passages

    def search(self, query: str, k: int) -> Sequence[Snippet]:
        """Return the chunks of up to ``k`` documents, best chunk first, up to ``passages`` of each document."""
        if k < 1 or not query.strip():
            return ()
        return best_passages(self._ranker.rank(query, self._chunks, len(self._chunks)), k, self._passages)


def topic_chunks(topic: Topic, *, sources: Sources = "mixed", words: int = WORDS) -> tuple[Snippet, ...]:
    """Return the distinct chunks of a topic's documents but for copies of its article, in order.

    ``topic``: a topic with documents; ``sources``: which documents; ``words``: maximum words per chunk, >= 1.
    """
    documents = without_copies(topic).documents
    return _chunks((document for document in documents if sources in {"mixed", document.origin}), words)


def pooled_chunks(topics: Iterable[Topic], *, sources: Sources = "mixed") -> tuple[Snippet, ...]:
    """Return the distinct chunks of all topics' documents, without copies of each document's own topic article."""
    pooled = (topic_chunks(topic, sources=sources) for topic in topics)
    return tuple({chunk.id: chunk for chunks in pooled for chunk in chunks}.values())


def article_chunks(topic: Topic, *, words: int = WORDS) -> tuple[Snippet, ...]:
    """Return chunks of the human article itself, as in the paper's ``golden`` retrieval: an upper bound, not a result.

    Raises DatasetError: the article has no URL to cite.
    """
    if not topic.human.url:
        raise DatasetError(
            f"the article {topic.title!r} has no URL; golden retrieval needs a data set with article URLs"
        )
    return _chunks([TopicDocument(topic.human.url, topic.human.title, topic.human.text())], words)


def _chunks(documents: Iterable[TopicDocument], words: int) -> tuple[Snippet, ...]:
    return tuple({chunk.id: chunk for document in documents for chunk in _cut(document, words)}.values())


def _cut(document: TopicDocument, words: int) -> Iterator[Snippet]:
    for text in filter(None, map(plain_text, cut(document.text, words))):
        yield Snippet(document.url, document.title, text, engine=NAME, origin="page")
