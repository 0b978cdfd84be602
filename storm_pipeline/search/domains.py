"""Restricting results to domains."""

from dataclasses import replace

from storm_pipeline.identity import host_of
from storm_pipeline.search.base import Search
from storm_pipeline.search.engine_info import SearchOptions
from storm_pipeline.search.result import SearchResult


def is_within(host: str, domain: str) -> bool:
    """Whether a host is the domain or one of its subdomains; ``bbc.co.uk`` is not within ``c.co.uk``."""
    domain = domain.casefold().strip(". ")
    return bool(domain) and (host == domain or host.endswith("." + domain))


def within_domains(engine: Search, options: SearchOptions) -> Search:
    """The engine with its results held to the domains of the options, whether or not it can do so itself.

    It is asked for twice as many pages, to make up for those left out.
    """

    def search(query: str, k: int) -> SearchResult:
        found = engine.search(query, 2 * k)
        pages: set[str] = set()
        kept = []
        for snippet in found.snippets:
            if _allows(options, host_of(snippet.url)) and len(pages | {snippet.source_id}) <= k:
                pages.add(snippet.source_id)
                kept.append(snippet)
        return replace(found, snippets=tuple(kept))

    return Search(engine.name, search)


def _allows(options: SearchOptions, host: str) -> bool:
    inside = not options.domains or any(is_within(host, domain) for domain in options.domains)
    return inside and not any(is_within(host, domain) for domain in options.without_domains)
