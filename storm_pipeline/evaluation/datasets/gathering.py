"""The documents of a new closed corpus: pages that editors cited, and pages that a search for the title finds."""

import logging
from collections.abc import Callable, Sequence
from typing import Any

from storm_pipeline.concurrency import parallel_map
from storm_pipeline.errors import PageError
from storm_pipeline.evaluation.datasets.answers import Answers
from storm_pipeline.evaluation.datasets.wikimedia import building
from storm_pipeline.evaluation.types import Document
from storm_pipeline.identity import canonical_url
from storm_pipeline.pages.extract import Page
from storm_pipeline.search.base import Search, SearchEngine
from storm_pipeline.search.edge import checked

Fetch = Callable[[str], Page]
"""Address → page; raises PageError. A :class:`storm_pipeline.pages.web.WebPages` heeds robots.txt and is polite."""

_AT_ONCE = 8
_log = logging.getLogger(__name__)


class Gathering:
    """Fetches and searches, each page and title once, failures to fetch included: what is gone is gone.

    Args:
        answers: of this build.
        search: finds pages.
        fetch: gets pages.
    """

    def __init__(self, answers: Answers, search: SearchEngine | Search, fetch: Fetch) -> None:
        self._answers = answers
        self._search = checked(search)
        self._fetch = fetch

    def fetched(self, documents: Sequence[Document]) -> tuple[Document, ...]:
        """The documents with the texts of their pages, empty where a page could not be had; in order."""
        texts = parallel_map(self._text, [document.url for document in documents], workers=_AT_ONCE)
        return tuple(
            Document(document.url, document.title or title, text, document.origin)
            for document, (title, text) in zip(documents, texts, strict=True)
        )

    def found(self, title: str, k: int) -> tuple[Document, ...]:
        """Up to ``k`` pages that a search for the title finds, fetched.

        Raises:
            DatasetError: the search failed.
        """
        with building():
            hits = self._answers.get(
                ["search", self._search.name, title, k],
                lambda: self._searched(title, k),
            )
        pages = {canonical_url(url): Document(url, said, origin="search") for url, said in reversed(hits)}
        return self.fetched(list(reversed(pages.values()))[:k])

    def _searched(self, title: str, k: int) -> list[list[str]]:
        result = self._search.search(title, k)
        for detail in result.lost:
            _log.warning("%s", detail)
        return [[snippet.url, snippet.title] for snippet in result.snippets]

    def _text(self, url: str) -> tuple[str, str]:
        """Title and text of a page; empty where it could not be had."""
        page = self._answers.get(["page", canonical_url(url)], lambda: self._asked(url))
        return str(page.get("title", "")), str(page.get("text", ""))

    def _asked(self, url: str) -> dict[str, Any]:
        try:
            page = self._fetch(url)
        except PageError as error:
            return {"problem": str(error)}
        return {"title": page.title, "text": "\n\n".join(text for _, text in page.pages)}
