"""The reference store: every snippet that a run found, searchable by meaning and by word (paper section 3.4).

Adding returns at once. A thread of the store embeds what was added, in large batches, while the run waits for language
models; a search waits for whatever is still missing, and only then. What is merely kept is found by its words.
"""

import threading
from collections.abc import Iterable, Sequence
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from types import TracebackType
from typing import NamedTuple, Self

import numpy as np

from storm_pipeline.errors import StoreError
from storm_pipeline.references.catalogue import Catalogue
from storm_pipeline.retrieval.embedder import CachingEmbedder, Embedder, Vector, Vectors
from storm_pipeline.retrieval.ranking import HybridIndex, load_libraries
from storm_pipeline.types import Snippet, Source

_BATCH = 512
"""Snippets embedded at a time: enough to sort by length, few enough that closing does not take long."""


class ReferenceStore:
    """Snippets and their vectors, shared by all steps of a run. Safe for threads; close it, or use it in ``with``.

    Whatever it gives depends on which snippets were added and which of them merely kept, not on the order they came in,
    and not on those of sources that were removed. A text that stands on several pages is kept for each of them, but
    embedded once, and found once: on a page of which it was added rather than kept, then on the page with most
    snippets. Ties go to the lower id.

    Args:
        embedder: makes the vectors. Its threads are its own setting; FAISS is held to one.
    """

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._cache = CachingEmbedder(embedder)
        self._lock = threading.Lock()
        self._catalogue = Catalogue()
        self._wanted: set[str] = set()  # ids of what is to be embedded
        self._vectors: dict[str, Vector] = {}  # by text
        self._pending: dict[str, None] = {}  # texts in order
        self._job: Future[None] | None = None
        self._index: HybridIndex | None = None
        self._indexed = _State(0, 0, 0)
        self._indexing = threading.Lock()
        self._closed = False
        self._worker = ThreadPoolExecutor(max_workers=1, thread_name_prefix="storm-embedder")

    def warm_up(self) -> None:
        """Start to load the embedder, and what indexes are built with, in the background: nobody need wait for them."""
        with self._lock:
            self._need_open()
            self._job = self._worker.submit(self._load)

    def add(self, snippets: Iterable[Snippet]) -> tuple[Snippet, ...]:
        """Keep snippets and begin to embed them in the background; those that were new, in their order.

        Raises:
            StoreError: the store is closed.
        """
        offered = tuple(snippets)
        with self._lock:
            self._need_open()
            self._wanted.update(snippet.id for snippet in offered)
            return self._keep(offered)

    def keep(self, snippets: Iterable[Snippet]) -> tuple[Snippet, ...]:
        """Keep snippets without embedding them: they can be cited, and found by their words; those that were new.

        Raises:
            StoreError: the store is closed.
        """
        offered = tuple(snippets)
        with self._lock:
            self._need_open()
            return self._keep(offered)

    def remove(self, source_ids: Iterable[str]) -> None:
        """Forget sources with all their snippets, whether kept or added; ids that are unknown are passed over."""
        with self._lock:
            self._catalogue.remove(source_ids)

    def __len__(self) -> int:
        """Number of snippets kept."""
        return len(self._catalogue)

    def snippet(self, snippet_id: str) -> Snippet:
        """The kept snippet of an id; StoreError if there is none."""
        return self._catalogue.snippet(snippet_id)

    def source(self, source_id: str) -> Source:
        """The source of an id, with the snippets kept of it so far; StoreError if there is none."""
        return self._catalogue.source(source_id)

    def sources(self) -> tuple[Source, ...]:
        """All sources, those with most snippets first, then by address; see :class:`storm_pipeline.types.Source`."""
        return self._catalogue.sources()

    def count_sources(self) -> int:
        """Number of sources."""
        return self._catalogue.count_sources()

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Unit vectors of any texts, shape (texts, dimension); those of added snippets and recent texts are at hand."""
        with self._lock:
            held = {text: self._vectors[text] for text in texts if text in self._vectors}
        if not held:
            return self._cache.embed(texts)
        others = list(dict.fromkeys(text for text in texts if text not in held))
        held.update(zip(others, self._cache.embed(others), strict=True))
        return np.stack([held[text] for text in texts])

    def prepare(self, texts: Iterable[str]) -> None:
        """Begin to embed texts in the background that :meth:`embed` will be asked for.

        Raises:
            StoreError: the store is closed.
        """
        with self._lock:
            self._need_open()
            self._worker.submit(self._cache.embed, tuple(texts))

    def search(self, queries: Sequence[str], k: int) -> list[tuple[Snippet, ...]]:
        """For each query the ``k`` best snippets, best first: cosine and BM25 rankings, fused by reciprocal rank.

        Waits until everything added before is embedded.

        Raises:
            StoreError: the snippets could not be embedded; the cause is chained. The next search tries again.
        """
        index = self._current_index() if queries and k > 0 else None
        return index.search(queries, self.embed(queries), k) if index else [()] * len(queries)

    def search_fused(self, queries: Sequence[str], k: int) -> tuple[Snippet, ...]:
        """The ``k`` best snippets for one need that several queries describe, such as a heading and its subheadings.

        Raises:
            StoreError: as :meth:`search`.
        """
        index = self._current_index() if queries and k > 0 else None
        return index.search_fused(queries, self.embed(queries), k) if index else ()

    def close(self) -> None:
        """Stop embedding and end the thread; what is kept can still be looked up. May be called again."""
        with self._lock:
            self._closed = True
        self._worker.shutdown(wait=True, cancel_futures=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _need_open(self) -> None:
        if self._closed:
            raise StoreError("the reference store is closed: add and search before closing it")

    def _load(self) -> None:
        self._embedder.embed([""])
        load_libraries()

    def _keep(self, offered: Sequence[Snippet]) -> tuple[Snippet, ...]:
        """With the lock held: keep snippets, and have embedded what is wanted of them in the form that is kept."""
        new = self._catalogue.add(offered)
        wanted = (self._catalogue.snippet(s.id).text for s in offered if s.id in self._wanted)
        due = [text for text in wanted if text not in self._vectors and text not in self._pending]
        if due:
            self._pending.update(dict.fromkeys(due))
            self._job = self._worker.submit(self._embed_pending)
        return new

    def _embed_pending(self) -> None:
        """Runs on the store's thread: embed what waits when it begins; what fails keeps waiting."""
        with self._lock:
            due = list(self._pending)
        for start in range(0, len(due), _BATCH):
            with self._lock:
                if self._closed:
                    return
            batch = due[start : start + _BATCH]
            vectors = self._embedder.embed(batch)
            expected = (len(batch), self._embedder.dimension)
            if vectors.shape != expected:
                raise StoreError(
                    f"the embedder {self._embedder.name!r} gave vectors of shape {vectors.shape} "
                    f"where {expected} was expected: mend the embedder"
                )
            with self._lock:
                self._vectors.update(zip(batch, vectors, strict=True))
                for text in batch:
                    del self._pending[text]

    def _settle(self) -> None:
        """Wait until everything added before is embedded."""
        with self._lock:
            if self._pending:
                self._need_open()
                if self._job is None:
                    self._job = self._worker.submit(self._embed_pending)
            job = self._job
        if job is None:
            return
        try:
            # The thread works in order, so the last job ends after everything added before.
            job.result()
        except (Exception, CancelledError) as error:
            with self._lock:
                if self._job is job:
                    self._job = None
                if not self._pending:
                    return
                self._need_open()
            raise StoreError(
                f"the snippets could not be embedded by {self._embedder.name!r} ({error}): "
                "mend the cause and search again"
            ) from error

    def _current_index(self) -> HybridIndex | None:
        """The index of all that is kept, built anew if anything changed since; None while there is nothing."""
        self._settle()
        with self._indexing:
            with self._lock:
                state = _State(self._catalogue.changes, len(self._wanted), len(self._vectors))
                if state == self._indexed:
                    return self._index
                snippets = self._catalogue.distinct(self._wanted)
                embedded = (s for s in snippets if s.id in self._wanted and s.text in self._vectors)
                vectors = {snippet.id: self._vectors[snippet.text] for snippet in embedded}
            self._index = HybridIndex(snippets, vectors, self._embedder.dimension)
            self._indexed = state
            return self._index


class _State(NamedTuple):
    """What an index is made from. None of these numbers ever falls, so equal ones mean the same."""

    changes: int
    wanted: int
    vectors: int
