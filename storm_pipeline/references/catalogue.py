"""Which snippets are kept: each text once, looked up by id, by text or by source."""

import threading
from collections.abc import Iterable

from storm_pipeline.errors import StoreError
from storm_pipeline.identity import normalised_text
from storm_pipeline.types import Snippet, Source


class Catalogue:
    """Snippets in order of finding, each text once. Safe for threads.

    A text that comes again, on another page or in other white space or case, is the snippet that came first.
    """

    def __init__(self) -> None:
        self._by_text: dict[str, Snippet] = {}
        self._by_id: dict[str, Snippet] = {}
        self._by_source: dict[str, list[Snippet]] = {}
        self._lock = threading.Lock()

    def __len__(self) -> int:
        """Number of snippets."""
        with self._lock:
            return len(self._by_id)

    def add(self, snippets: Iterable[Snippet]) -> tuple[Snippet, ...]:
        """Keep snippets; those that were new, in their order."""
        offered = [(normalised_text(snippet.text), snippet) for snippet in snippets]
        new = []
        with self._lock:
            for text, snippet in offered:
                if text not in self._by_text:
                    self._by_text[text] = self._by_id[snippet.id] = snippet
                    self._by_source.setdefault(snippet.source_id, []).append(snippet)
                    new.append(snippet)
        return tuple(new)

    def resolve(self, snippet: Snippet) -> Snippet:
        """The kept snippet of the same text.

        Raises:
            StoreError: no snippet of this text was added.
        """
        with self._lock:
            kept = self._by_text.get(normalised_text(snippet.text))
        if kept is None:
            raise StoreError(f"snippet {snippet.id} of {snippet.url} is not in the store: add it first")
        return kept

    def snippet(self, snippet_id: str) -> Snippet:
        """The snippet of an id.

        Raises:
            StoreError: there is none.
        """
        with self._lock:
            found = self._by_id.get(snippet_id)
        if found is None:
            raise StoreError(f"no snippet in the store has the id {snippet_id!r}: cite what `resolve` gives")
        return found

    def source(self, source_id: str) -> Source:
        """The source of an id, with its snippets.

        Raises:
            StoreError: there is none.
        """
        with self._lock:
            snippets = tuple(self._by_source.get(source_id, ()))
        if not snippets:
            raise StoreError(f"no source in the store has the id {source_id!r}: cite what `resolve` gives")
        return _source(snippets)

    def snippets(self) -> tuple[Snippet, ...]:
        """All snippets in order of finding."""
        with self._lock:
            return tuple(self._by_id.values())

    def sources(self) -> tuple[Source, ...]:
        """All sources with their snippets, both in order of finding."""
        with self._lock:
            groups = [tuple(snippets) for snippets in self._by_source.values()]
        return tuple(_source(group) for group in groups)

    def count_sources(self) -> int:
        """Number of sources."""
        with self._lock:
            return len(self._by_source)


def _source(snippets: tuple[Snippet, ...]) -> Source:
    first = snippets[0]
    title = next((snippet.title for snippet in snippets if snippet.title), "")
    return Source(first.source_id, first.url, title, snippets)
