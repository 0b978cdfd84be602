"""Which hosts results may stand on."""

from dataclasses import replace
from urllib.parse import urlsplit

from storm_pipeline.search.base import Search
from storm_pipeline.search.opening import SearchOptions
from storm_pipeline.search.result import SearchResult


def host_of(url: str) -> str:
    """The host of an address, in lower case; empty where it has none."""
    try:
        return (urlsplit(url.strip()).hostname or "").rstrip(".")
    except ValueError:
        return ""


def stands_below(host: str, domain: str) -> bool:
    """Whether a host is a domain or one of its subdomains; ``bbc.co.uk`` is not below ``c.co.uk``."""
    domain = domain.casefold().strip(". ")
    return bool(domain) and (host == domain or host.endswith("." + domain))


class DomainSearch(Search):
    """A search engine whose results are held to the domains of the options, whether or not it can do so itself.

    Args:
        engine: where to search.
        options: ``domains`` and ``without_domains`` are looked at.
    """

    def __init__(self, engine: Search, options: SearchOptions) -> None:
        self._engine = engine
        self._options = options

    @property
    def name(self) -> str:
        """Name of the engine that searches."""
        return self._engine.name

    def search(self, query: str, k: int) -> SearchResult:
        """As the engine's, asked for twice as many pages so that those left out cost fewer places.

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
        inside = not options.domains or any(stands_below(host, domain) for domain in options.domains)
        return inside and not any(stands_below(host, domain) for domain in options.without_domains)
