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
from storm_pipeline.evidence.editions import Editions, PairsOfTexts
from storm_pipeline.evidence.retrieval import Vector, Vectors
from storm_pipeline.evidence.retrieval.embedder import CachingEmbedder, Embedder
from storm_pipeline.evidence.retrieval.ranking import HybridIndex, load_libraries
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
        self._changed: set[str] = set()  # texts for which another snippet may be found than at the last search
        self._made: dict[str, Source | None] = {}  # by id, the sources that are as they were; None: all is held
        self._editions: Editions | None = None
        self._pairs = PairsOfTexts()
        self._lock = threading.RLock()

    def __len__(self) -> int:
        """Return the number of snippets."""
        with self._lock:
            return len(self._by_id)

    def keep(self, snippets: Iterable[Snippet]) -> tuple[Snippet, ...]:
        """Store snippets and return the stored form of the new ones, in the given order."""
        offered = tuple(snippets)
        with self._lock:
            kept = self._held.intersection(snippet.id for snippet in offered)
            self._held -= kept
            self._note_changes({self._by_id[snippet_id].source_id for snippet_id in kept})
            return self._store(offered)

    def hold(self, snippets: Iterable[Snippet]) -> tuple[Snippet, ...]:
        """Store snippets that :meth:`sources` does not list until they are kept; return the new ones."""
        with self._lock:
            new = self._store(snippets)
            self._held.update(snippet.id for snippet in new)
            return new

    def _store(self, snippets: Iterable[Snippet]) -> tuple[Snippet, ...]:
        offered = [(normalised_text(snippet.text), snippet) for snippet in snippets]
        new, pages = [], set()
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
                self._changed.add(text)
                pages.add(snippet.source_id)
            self._note_changes(pages)
            return tuple(self._by_id[snippet_id] for snippet_id in new)

    def remove(self, source_ids: Iterable[str]) -> None:
        """Remove sources with all their snippets; unknown ids are ignored."""
        with self._lock:
            for source_id in source_ids:
                self._note_changes({source_id} & self._by_source.keys())
                for snippet_id in self._by_source.pop(source_id, ()):
                    text = normalised_text(self._by_id.pop(snippet_id).text)
                    self._by_text[text].remove(snippet_id)
                    self._held.discard(snippet_id)
                    if not self._by_text[text]:
                        del self._by_text[text]
                    self._changed.add(text)

    def _note_changes(self, pages: Iterable[str]) -> None:
        """Note that pages have other snippets, on whose number the choice among pages with one text depends."""
        for page in pages:
            self._editions = None
            self._made.pop(page, None)
            texts = [normalised_text(self._by_id[snippet_id].text) for snippet_id in self._by_source.get(page, ())]
            self._changed.update(text for text in texts if len(self._by_text[text]) > 1)

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

    def _snippet_with(self, text: str, preferred: Container[str]) -> Snippet | None:
        """Return the snippet with a normalised text: a preferred one if possible, then of the page with most snippets.

        None: there is none.
        """

        def place(snippet_id: str) -> tuple[bool, int, str]:
            of_page = self._by_source[self._by_id[snippet_id].source_id]
            return snippet_id not in preferred, -len(of_page), snippet_id

        with self._lock:
            ids = self._by_text.get(text)
            return self._by_id[min(ids, key=place)] if ids else None

    def sources(self) -> tuple[Source, ...]:
        """Return all sources, most snippets first, then by address; see :class:`storm_pipeline.types.Source`.

        They have the snippets that searches returned or that were kept, not all that are held of their pages.
        """
        with self._lock:
            for source_id, ids in self._by_source.items():
                if source_id not in self._made:  # a page that is as it was is not made again
                    kept = [self._by_id[snippet_id] for snippet_id in ids if snippet_id not in self._held]
                    self._made[source_id] = _source(kept) if kept else None
            made = filter(None, self._made.values())
            return tuple(sorted(made, key=lambda source: (-len(source.snippets), source.url)))

    def editions(self) -> Editions:
        """Return which of the sources have the same text."""
        with self._lock:
            self._editions = self._editions or Editions(self.sources(), self._pairs)
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

    Methods that store or embed raise StoreError: the store is closed.

    Results depend only on which snippets were added and which merely kept, not on their order, nor on removed sources.
    A text that occurs on several pages is kept for each of them, but embedded once and found once: preferably on a page
    for which it was added rather than kept, then on the page with most snippets. Ties go to the lower id.

    ``embedder``: computes the vectors, with its own thread setting; FAISS runs on one thread.
    """

    def __init__(self, embedder: Embedder) -> None:
        super().__init__()
        self._embedder = embedder
        self._cache = CachingEmbedder(embedder)
        self._wanted: set[str] = set()  # ids of snippets to embed
        self._vectors: dict[str, Vector] = {}  # by text
        self._pending: dict[str, None] = {}  # texts waiting to be embedded, in order
        self._index: HybridIndex | None = None
        self._cut: set[str] = set()  # texts that are not found, since there are too many
        self._indexing = threading.Lock()
        self._closed = False
        self._worker = ThreadPoolExecutor(max_workers=1, thread_name_prefix="storm-embedder")

    def warm_up(self) -> None:
        """Start loading the embedder and the index libraries in the background."""
        with self._lock:
            self._require_open()
            self._worker.submit(self._load)

    def add(self, snippets: Iterable[Snippet]) -> tuple[Snippet, ...]:
        """Store snippets, embed them in the background, and return the new ones in the given order."""
        offered = tuple(snippets)
        with self._lock:
            self._require_open()
            self._wanted.update(snippet.id for snippet in offered)
            self._changed.update(normalised_text(snippet.text) for snippet in offered)
            return self.keep(offered)

    def keep(self, snippets: Iterable[Snippet]) -> tuple[Snippet, ...]:
        """Store snippets without embedding them, to be cited and found; return the new ones in order."""
        offered = tuple(snippets)
        with self._lock:
            self._require_open()
            new = super().keep(offered)
            wanted = (self.snippet(s.id).text for s in offered if s.id in self._wanted)
            queued = [text for text in wanted if text not in self._vectors and text not in self._pending]
            self._pending.update(dict.fromkeys(queued))
            if new or queued:
                self._worker.submit(self._prepare)
            return new

    def hold(self, snippets: Iterable[Snippet]) -> tuple[Snippet, ...]:
        """Store passages of whole pages, found by keyword; return the new ones. They are not sources until kept."""
        with self._lock:
            self._require_open()
            new = super().hold(snippets)
            if new:
                self._worker.submit(self._prepare)
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
        """Start embedding texts in the background, ahead of a call of :meth:`embed`."""
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

    def _prepare(self) -> None:
        """Embed and index what was added, ahead of a search (on the store's thread)."""
        self._embed_pending()
        if len(self._by_text) <= MOST_FOUND:
            self._update_index()

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
        """Wait until all earlier snippets are embedded; failed ones are tried again."""
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
        return self._update_index()

    def _update_index(self) -> HybridIndex | None:
        with self._indexing:
            index = self._index
            if not self._changed:
                return index
            if index is None or index.is_sparse:
                index = HybridIndex(self._embedder.dimension, self.embed)
            with self._lock:
                is_cut = len(self._by_text) > MOST_FOUND
                texts = self._changed | (self._by_text.keys() if is_cut or index is not self._index else self._cut)
                snippets = {text: self._snippet_with(text, self._wanted) for text in texts}
                self._cut = self._cut_ends(snippets) if is_cut else set()
                wanted = {text: s for text, s in snippets.items() if s and s.id in self._wanted}
                vectors = {text: self._vectors.get(snippet.text) for text, snippet in wanted.items()}
                self._changed = {text for text, vector in vectors.items() if vector is None}
            index.update({text: (s, vectors.get(text)) if s else None for text, s in snippets.items()})
            self._index = index
            return index

    def _cut_ends(self, snippets: dict[str, Snippet | None]) -> set[str]:
        """Set what is found for the texts beyond :data:`MOST_FOUND`, at the ends of pages, to None; return them."""
        every = [(s.id in self._held, s.place or 0, s.id, text) for text, s in snippets.items() if s]
        beyond = {text for *_, text in sorted(every)[MOST_FOUND:]}
        snippets |= dict.fromkeys(beyond)
        return beyond
