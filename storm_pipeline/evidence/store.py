"""The reference store: all snippets of a run, searchable by embedding and by keyword (paper section 3.4).

Adding returns at once. A background thread embeds added snippets in large batches while the run waits for language
models; only searches wait for pending embeddings. A search embeds the best, by keyword, of those merely kept.
"""

import dataclasses
import threading
from collections import Counter
from collections.abc import Container, Iterable, Sequence
from concurrent.futures import CancelledError, ThreadPoolExecutor
from typing import Self

import numpy as np

from storm_pipeline.errors import StoreError
from storm_pipeline.evidence.editions import Editions
from storm_pipeline.evidence.retrieval import Vector, Vectors
from storm_pipeline.evidence.retrieval.embedder import CachingEmbedder, Embedder
from storm_pipeline.evidence.retrieval.ranking import HybridIndex, load_libraries, prepare_terms
from storm_pipeline.text.identity import normalised_text
from storm_pipeline.types import Snippet, Source


class SnippetIndex:
    """Snippets by id. Thread-safe. Its content depends on what was added, not on the order of adding.

    Of several forms of a snippet (different title, white space or case), the one with the fewest empty fields is kept.
    A text that occurs on several pages is kept once per page, and each can be cited.
    """

    def __init__(self) -> None:
        self._by_id: dict[str, Snippet] = {}
        self._by_text: dict[str, list[str]] = {}
        self._by_source: dict[str, list[str]] = {}
        self._held: set[str] = set()  # ids of passages neither returned by a search nor shown
        self._changes = 0  # number of changes: snippets added, removed or replaced
        self._editions, self._editions_of = Editions(()), (0, 0)  # and the state for which they were computed
        self._made: dict[str, tuple[list[Snippet], Source]] = {}  # by id of the source: of which snippets, and it
        self._lock = threading.RLock()

    def __len__(self) -> int:
        """Return the number of snippets."""
        with self._lock:
            return len(self._by_id)

    def keep(self, snippets: Iterable[Snippet]) -> tuple[Snippet, ...]:
        """Store snippets and return the stored form of the new ones, in the given order."""
        offered = tuple(snippets)
        with self._lock:
            self._held.difference_update(snippet.id for snippet in offered)
            return self._store(offered)

    def hold(self, snippets: Iterable[Snippet]) -> tuple[Snippet, ...]:
        """Store snippets that :meth:`sources` does not list until they are kept; return the new ones."""
        with self._lock:
            new = self._store(snippets)
            self._held.update(snippet.id for snippet in new)
            return new

    def _store(self, snippets: Iterable[Snippet]) -> tuple[Snippet, ...]:
        offered = [(normalised_text(snippet.text), snippet) for snippet in snippets]
        new = []
        with self._lock:
            for text, snippet in offered:
                known = self._by_id.get(snippet.id)
                if known is None:
                    new.append(snippet.id)
                    self._by_text.setdefault(text, []).append(snippet.id)
                    self._by_source.setdefault(snippet.source_id, []).append(snippet.id)
                elif known == snippet or _preference(known) <= _preference(snippet):
                    continue
                self._by_id[snippet.id] = snippet
                self._changes += 1
            return tuple(self._by_id[snippet_id] for snippet_id in new)

    def remove(self, source_ids: Iterable[str]) -> None:
        """Remove sources with all their snippets; unknown ids are ignored."""
        with self._lock:
            for source_id in source_ids:
                for snippet_id in self._by_source.pop(source_id, ()):
                    text = normalised_text(self._by_id.pop(snippet_id).text)
                    self._by_text[text].remove(snippet_id)
                    self._held.discard(snippet_id)
                    if not self._by_text[text]:
                        del self._by_text[text]
                    self._changes += 1

    def snippet(self, snippet_id: str) -> Snippet:
        """Return the snippet with this id. Raises StoreError: there is none."""
        with self._lock:
            stored = self._by_id.get(snippet_id)
        if stored is None:
            raise StoreError(f"no snippet in the store has the id {snippet_id!r}: cite what was added")
        return stored

    def source(self, source_id: str) -> Source:
        """Return the source with this id, with all its snippets, held ones too. Raises StoreError: there is none."""
        with self._lock:
            snippets = [self._by_id[snippet_id] for snippet_id in self._by_source.get(source_id, ())]
        if not snippets:
            raise StoreError(f"no source in the store has the id {source_id!r}: cite what was added")
        return _source(snippets)

    def distinct(self, preferred: Container[str]) -> tuple[Snippet, ...]:
        """Return one snippet per distinct text: a preferred one if possible, then from the page with most snippets."""
        with self._lock:

            def place(snippet_id: str) -> tuple[bool, int, str]:
                of_page = self._by_source[self._by_id[snippet_id].source_id]
                return snippet_id not in preferred, -len(of_page), snippet_id

            groups = self._by_text.values()
            return tuple(self._by_id[min(ids, key=place) if len(ids) > 1 else ids[0]] for ids in groups)

    def sources(self) -> tuple[Source, ...]:
        """Return all sources, most snippets first, then by address; see :class:`storm_pipeline.types.Source`.

        They have the snippets that searches returned or that were kept, not all that are held of their pages.
        """
        with self._lock:
            kept = ([i for i in ids if i not in self._held] for ids in self._by_source.values())
            groups = [[self._by_id[snippet_id] for snippet_id in ids] for ids in kept if ids]
            for snippets in groups:  # a page that is as it was is not made again
                if self._made.get(snippets[0].source_id, ((), None))[0] != snippets:
                    self._made[snippets[0].source_id] = snippets, _source(snippets)
            made = [self._made[snippets[0].source_id][1] for snippets in groups]
        return tuple(sorted(made, key=lambda source: (-len(source.snippets), source.url)))

    def editions(self) -> Editions:
        """Return which of the sources have the same text."""
        with self._lock:
            state = self._changes, len(self._held)  # held snippets become sources when kept
            if self._editions_of != state:
                self._editions, self._editions_of = Editions(self.sources()), state
            return self._editions

    def count_sources(self) -> int:
        """Count the sources that :meth:`sources` lists."""
        with self._lock:
            return sum(not self._held.issuperset(ids) for ids in self._by_source.values())


def _preference(snippet: Snippet) -> tuple[int | str, ...]:
    """Return a sort key for the forms of one snippet: fewest empty fields first, then by field values."""
    values = dataclasses.astuple(snippet)
    return sum(value in {None, ""} for value in values), *map(repr, values)


def _source(snippets: Iterable[Snippet]) -> Source:
    ordered = tuple(sorted(snippets, key=lambda snippet: (snippet.page or 0, snippet.id)))
    url = _most_common(snippet.url for snippet in ordered)
    return Source(ordered[0].source_id, url, _most_common(s.title for s in ordered if s.title), ordered)


def _most_common(texts: Iterable[str]) -> str:
    """Return the most frequent text, ties broken alphabetically; empty if there is none."""
    counts = Counter(texts)
    return min(counts, key=lambda text: (-counts[text], text), default="")


MOST_FOUND = 20_000
"""Maximum snippets searched in the store; beyond it, those at the beginnings of their pages."""
_BATCH = 512  # snippets per embedding batch: enough to sort by length, few enough to close the store quickly


class ReferenceStore(SnippetIndex):
    """Snippets and their vectors, shared by all steps of a run. Thread-safe; close it, or use it in ``with``.

    Results depend only on which snippets were added and which merely kept, not on their order, nor on removed sources.
    A text that occurs on several pages is kept for each of them, but embedded once and found once: preferably on a page
    for which it was added rather than kept, then on the page with most snippets. Ties go to the lower id.

    Args:
        embedder: computes the vectors, with its own thread setting; FAISS runs on one thread.
    """

    def __init__(self, embedder: Embedder) -> None:
        super().__init__()
        self._embedder = embedder
        self._cache = CachingEmbedder(embedder)
        self._wanted: set[str] = set()  # ids of snippets to embed
        self._vectors: dict[str, Vector] = {}  # by text
        self._pending: dict[str, None] = {}  # texts waiting to be embedded, in order
        self._index: HybridIndex | None = None
        self._indexed = (0, 0, 0)  # increasing numbers; equal ones mean no change
        self._indexing = threading.Lock()
        self._closed = False
        self._worker = ThreadPoolExecutor(max_workers=1, thread_name_prefix="storm-embedder")

    def warm_up(self) -> None:
        """Start loading the embedder and the index libraries in the background."""
        with self._lock:
            self._require_open()
            self._worker.submit(self._load)

    def add(self, snippets: Iterable[Snippet]) -> tuple[Snippet, ...]:
        """Store snippets, embed them in the background, and return the new ones in the given order.

        Raises StoreError: the store is closed.
        """
        offered = tuple(snippets)
        with self._lock:
            self._require_open()
            self._wanted.update(snippet.id for snippet in offered)
            return self.keep(offered)

    def keep(self, snippets: Iterable[Snippet]) -> tuple[Snippet, ...]:
        """Store snippets without embedding them, to be cited and found; return the new ones in order.

        Raises StoreError: the store is closed.
        """
        offered = tuple(snippets)
        with self._lock:
            self._require_open()
            new = super().keep(offered)
            if new:
                self._worker.submit(prepare_terms, new)
            wanted = (self.snippet(s.id).text for s in offered if s.id in self._wanted)
            queued = [text for text in wanted if text not in self._vectors and text not in self._pending]
            if queued:
                self._pending.update(dict.fromkeys(queued))
                self._worker.submit(self._embed_pending)
            return new

    def hold(self, snippets: Iterable[Snippet]) -> tuple[Snippet, ...]:
        """Store passages of whole pages, to be found by keyword; return the new ones. They are not sources until kept.

        Raises StoreError: the store is closed.
        """
        with self._lock:
            self._require_open()
            new = super().hold(snippets)
            if new:
                self._worker.submit(prepare_terms, new)
            return new

    def remove(self, source_ids: Iterable[str]) -> None:
        """Remove sources with all their snippets; unknown ids are ignored."""
        with self._lock:
            super().remove(source_ids)
            self._wanted.intersection_update(self._by_id)

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return unit vectors of any texts, shape (texts, dimension); added snippets and recent texts are cached."""
        with self._lock:
            held = {text: self._vectors[text] for text in texts if text in self._vectors}
        if not held:
            return self._cache.embed(texts)
        others = list(dict.fromkeys(text for text in texts if text not in held))
        held.update(zip(others, self._cache.embed(others), strict=True))
        return np.stack([held[text] for text in texts])

    def prepare(self, texts: Iterable[str]) -> None:
        """Start embedding texts in the background, ahead of a call of :meth:`embed`.

        Raises StoreError: the store is closed.
        """
        with self._lock:
            self._require_open()
            self._worker.submit(self._cache.embed, tuple(texts))

    def search(self, queries: Sequence[str], k: int) -> list[tuple[Snippet, ...]]:
        """Return the ``k`` best snippets for each query, best first: cosine and BM25, fused by reciprocal rank.

        BM25 ranks all stored snippets; the cosine ranks the added ones and the best others by BM25.
        Content that several pages with the same text share is found once, on the page that ranks first. Waits until all
        snippets added before are embedded. Raises StoreError: the snippets could not be embedded; the cause is chained.
        The next search tries again.
        """
        index = self._current_index() if queries and k > 0 else None
        if index is None:
            return [()] * len(queries)
        editions = self.editions()
        rankings = index.search(queries, self.embed(queries), k * editions.most)
        return [editions.one_per_text(ranked)[:k] for ranked in rankings]

    def search_fused(self, queries: Sequence[str], k: int) -> tuple[Snippet, ...]:
        """Return the ``k`` best snippets for one need that several queries describe, such as heading and subheadings.

        Raises StoreError: as :meth:`search`.
        """
        index = self._current_index() if queries and k > 0 else None
        if index is None:
            return ()
        editions = self.editions()
        return editions.one_per_text(index.search_fused(queries, self.embed(queries), k * editions.most))[:k]

    def close(self) -> None:
        """Stop embedding and end the thread; stored snippets can still be looked up. Idempotent."""
        with self._lock:
            self._closed = True
        self._worker.shutdown(wait=True, cancel_futures=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _require_open(self) -> None:
        if self._closed:
            raise StoreError("the reference store is closed: add and search before closing it")

    def _load(self) -> None:
        self._embedder.embed([""])
        load_libraries()

    def _embed_pending(self) -> None:
        """Embed the texts pending at the start (on the store's thread); texts that fail stay pending."""
        with self._lock:
            queued = list(self._pending)
        for start in range(0, len(queued), _BATCH):
            with self._lock:
                if self._closed:
                    return
            batch = queued[start : start + _BATCH]
            vectors = self._cache.embed(batch)
            with self._lock:
                self._vectors.update(zip(batch, vectors, strict=True))
                for text in batch:
                    del self._pending[text]

    def _settle(self) -> None:
        """Wait until all snippets added before are embedded; those that could not be are tried again."""
        with self._lock:
            if not self._pending:
                return
            self._require_open()
            job = self._worker.submit(self._embed_pending)
        try:
            job.result()  # the thread works in order, so this job ends after everything added before
        except (Exception, CancelledError) as error:
            with self._lock:
                self._require_open()
            raise StoreError(
                f"the snippets could not be embedded by {self._embedder.name!r} ({error}): "
                "fix the cause and search again"
            ) from error

    def _current_index(self) -> HybridIndex | None:
        """Return the index of all stored snippets, brought up to date; None before anything was stored."""
        self._settle()
        with self._indexing:
            with self._lock:
                state = (self._changes, len(self._wanted), len(self._vectors))
                if state == self._indexed:
                    return self._index
                snippets = self._searchable_snippets()
                embedded = (s for s in snippets if s.id in self._wanted and s.text in self._vectors)
                vectors = {snippet.id: self._vectors[snippet.text] for snippet in embedded}
            self._index = self._index or HybridIndex(self._embedder.dimension, self.embed)
            self._index.update(snippets, vectors)
            self._indexed = state
            return self._index

    def _searchable_snippets(self) -> Sequence[Snippet]:
        snippets = self.distinct(self._wanted)
        if len(snippets) <= MOST_FOUND:
            return snippets
        return sorted(snippets, key=lambda s: (s.id in self._held, s.place or 0, s.id))[:MOST_FOUND]
