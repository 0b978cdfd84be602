"""Restricting results to domains."""

from dataclasses import replace

from storm_pipeline.identity import host_of
from storm_pipeline.search.base import Search, WrappingSearch
from storm_pipeline.search.engine_info import SearchOptions
from storm_pipeline.search.result import SearchResult


def is_within(host: str, domain: str) -> bool:
    """Whether a host is the domain or one of its subdomains; ``bbc.co.uk`` is not within ``c.co.uk``."""
    domain = domain.casefold().strip(". ")
    return bool(domain) and (host == domain or host.endswith("." + domain))


class DomainSearch(WrappingSearch):
    """A search that filters results by the domains of the options, whether or not the engine can do so itself.

    Args:
        engine: where to search.
        options: only ``domains`` and ``without_domains`` are used.
    """

    def __init__(self, engine: Search, options: SearchOptions) -> None:
        super().__init__(engine)
        self._options = options

    def search(self, query: str, k: int) -> SearchResult:
        """As the engine's ``search``; asks for twice as many pages to make up for those filtered out.

        Raises:
            SearchError: as the engine's.
        """
        found = self._engine.search(query, 2 * k)
        pages: set[str] = set()
        kept = []
        for snippet in found.snippets:
            if self._allows(host_of(snippet.url)) and len(pages | {snippet.source_id}) <= k:
                pages.add(snippet.source_id)
                kept.append(snippet)
        return replace(found, snippets=tuple(kept))

    def _allows(self, host: str) -> bool:
        options = self._options
        inside = not options.domains or any(is_within(host, domain) for domain in options.domains)
        return inside and not any(is_within(host, domain) for domain in options.without_domains)
