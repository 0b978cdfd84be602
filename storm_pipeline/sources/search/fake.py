"""A fake search engine: answers from a table or a function, records the queries, fails on demand."""

from collections.abc import Callable, Collection, Mapping, Sequence

from storm_pipeline.errors import SearchError
from storm_pipeline.types import Snippet

Answers = Mapping[str, Sequence[Snippet]] | Callable[[str], Sequence[Snippet]]


class FakeSearch:
    """A :class:`storm_pipeline.sources.search.base.SearchEngine` that touches no network. Thread-safe.

    Example:
        >>> paper = Snippet("https://example.org/silk", "Silk", "Silk was traded for horses.")
        >>> engine = FakeSearch({"silk trade": [paper]}, failing={"horses"})
        >>> [snippet.title for snippet in engine.search("silk trade", k=3)]
        ['Silk']
        >>> engine.queries
        ('silk trade',)

    Args:
        answers: query → snippets, best first (no entry: nothing found), or a function that returns them. The
            function may raise; it is called in the thread that searches.
        name: the engine's name.
        failing: queries that raise a SearchError, or a predicate.
    """

    def __init__(
        self, answers: Answers, *, name: str = "fake", failing: Collection[str] | Callable[[str], bool] = ()
    ) -> None:
        self.name = name
        self._answers, self._failing = answers, failing
        self._queries: list[str] = []

    @property
    def queries(self) -> tuple[str, ...]:
        """All queries so far in order of arrival, including those that failed."""
        return tuple(self._queries)

    def search(self, query: str, k: int) -> Sequence[Snippet]:
        """Return the prepared snippets of up to ``k`` pages, best first.

        Raises SearchError: the query is one of ``failing``.
        """
        self._queries.append(query)
        if self._failing(query) if callable(self._failing) else query in self._failing:
            raise SearchError(f"{self.name} was set to fail for {query!r}")
        snippets = self._answers(query) if callable(self._answers) else self._answers.get(query, ())
        pages = set(list(dict.fromkeys(snippet.source_id for snippet in snippets))[: max(0, k)])
        return tuple(snippet for snippet in snippets if snippet.source_id in pages)
