"""Snippets, looked up by id or by source, in orders that do not depend on when each was added."""

import dataclasses
import threading
from collections import Counter
from collections.abc import Container, Iterable

from storm_pipeline.errors import StoreError
from storm_pipeline.evidence.editions import Editions
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
        return tuple(sorted(map(_source, groups), key=lambda source: (-len(source.snippets), source.url)))

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
