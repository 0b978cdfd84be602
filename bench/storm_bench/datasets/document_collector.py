"""Collects the documents of a new closed corpus: pages cited by editors, and pages found by a search."""

import logging
from collections.abc import Callable, Sequence
from typing import Any, Protocol

from storm_bench.datasets.wikimedia import AnswerCache, service_errors
from storm_bench.types import TopicDocument
from storm_pipeline import PageError, SearchEngine
from storm_pipeline.api import checked, parallel_map, source_id
from storm_pipeline.search.base import Search


class FetchedPage(Protocol):
    """What is read of a page: its title, and its texts with their page numbers, in order."""

    @property
    def title(self) -> str: ...  # noqa: D102

    @property
    def pages(self) -> Sequence[tuple[int | None, str]]: ...  # noqa: D102


Fetch = Callable[[str], FetchedPage]
"""URL → page; raises PageError. :class:`storm_pipeline.pages.reading.WebPages` respects robots.txt and rate limits."""

_AT_ONCE = 8
_log = logging.getLogger(__name__)


class DocumentCollector:
    """Fetches pages and searches titles, each once; failed fetches are cached and not retried.

    Args:
        search: the search engine; None to find no pages.
        fetch: the page fetcher; default: from the web, with rate limits.
    """

    def __init__(
        self, answers: AnswerCache, search: SearchEngine | Search | None = None, fetch: Fetch | None = None
    ) -> None:
        self._answers = answers
        self._search = checked(search) if search else None
        self._fetch = fetch or _web()

    def fetch_documents(self, documents: Sequence[TopicDocument]) -> tuple[TopicDocument, ...]:
        """Fetch the documents' texts, in order; the text is empty if the fetch failed."""
        texts = parallel_map(self._page_text, [document.url for document in documents], workers=_AT_ONCE)
        return tuple(
            TopicDocument(document.url, document.title or title, text, document.origin)
            for document, (title, text) in zip(documents, texts, strict=True)
        )

    def search_documents(self, title: str, k: int) -> tuple[TopicDocument, ...]:
        """Search for a title and fetch up to ``k`` of the pages found; none without a search engine.

        Raises DatasetError: the search failed.
        """
        search = self._search
        if search is None or k < 1:
            return ()
        with service_errors():
            hits = self._answers.get(["search", search.name, title, k], lambda: _search_pages(search, title, k))
        pages = {source_id(url): TopicDocument(url, said, origin="search") for url, said in reversed(hits)}
        return self.fetch_documents(list(reversed(pages.values()))[:k])

    def _page_text(self, url: str) -> tuple[str, str]:
        """Title and text of a page; empty if the fetch failed."""
        page = self._answers.get(["page", source_id(url)], lambda: self._fetch_page(url))
        return str(page.get("title", "")), str(page.get("text", ""))

    def _fetch_page(self, url: str) -> dict[str, Any]:
        try:
            page = self._fetch(url)
        except PageError as error:
            return {"problem": str(error)}
        return {"title": page.title, "text": "\n\n".join(text for _, text in page.pages)}


def _search_pages(search: Search, title: str, k: int) -> list[list[str]]:
    result = search.search(title, k)
    for detail in result.lost:
        _log.warning("%s", detail)
    return [[snippet.url, snippet.title] for snippet in result.snippets]


def _web() -> Fetch:
    from storm_pipeline.api import WebPages

    return WebPages()
