"""What the builders of data sets share: a folder, services, the documents of a topic, and why pages are left out."""

import logging
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

from storm_bench.datasets.dataset import folder_to_build, shuffled
from storm_bench.datasets.mediawiki import CurrentPage, MediaWiki, PageGoneError
from storm_bench.datasets.wikimedia import AnswerCache, Wikimedia, service_errors
from storm_bench.types import TopicDocument
from storm_pipeline import PageError, SearchEngine, __version__
from storm_pipeline.api import WebPages, checked, parallel_map, source_id
from storm_pipeline.sources.search.base import Search

T = TypeVar("T")
Progress = Callable[[str], None]
"""Called with one line per page."""
Fetch = Callable[[str], Any]
"""URL → page, with a title and texts (``pages``); raises PageError. By default :class:`WebPages`, which is polite."""
_AT_ONCE = 8
_log = logging.getLogger(__name__)


class Build:
    """One build: it continues an earlier one in the same folder, whose responses are cached in ``.build/``.

    Raises DatasetError: the folder holds a data set from elsewhere.
    """

    def __init__(
        self, folder: Path, *parts: str, services: Wikimedia | None = None, on_progress: Progress | None = None
    ) -> None:
        self.folder = folder_to_build(folder, *parts)
        self.services = services or Wikimedia()
        self.answers = AnswerCache(self.folder)
        self.wiki = MediaWiki(self.services, self.answers)
        self._on_progress = on_progress or (lambda _: None)
        self._left_out: list[tuple[str, str]] = []

    def drawn(self, titles: Iterable[str], seed: int) -> list[CurrentPage]:
        """The pages of titles in an order that the seed decides."""
        return shuffled(self.wiki.current(titles), seed, lambda page: page.number)

    def taken(
        self,
        pages: Iterable[CurrentPage],
        examine: Callable[[CurrentPage], T | str],
        described: Callable[[T], str],
        at_most: int | None,
    ) -> Iterator[T]:
        """What qualifies, in the order of the pages, until there is enough; the other pages are recorded.

        ``examine`` returns what the build takes of a page, or why it is left out (as a page that has gone is);
        ``described``: what progress says of it after "taken", such as ``with 7 pages``; ``at_most``: None for all.
        """
        found = 0
        for page in pages:
            if found == at_most:
                return
            try:
                one = examine(page)
            except PageGoneError:
                one = "deleted"
            if isinstance(one, str):
                self._left_out.append((page.title, one))
                self._on_progress(f"{page.title}: left out, {one}")
                continue
            found += 1
            self._on_progress(f"{page.title}: taken {described(one)}")
            yield one

    def reasons(self) -> str:
        """Why pages were left out, most frequent first, such as ``3 × list, 1 × deleted``."""
        counts = Counter(reason for _, reason in self._left_out)
        return ", ".join(f"{count} × {reason}" for reason, count in counts.most_common()) or "there were no candidates"

    def provenance(self, form: str, plan: dict[str, Any], topics: list[dict[str, Any]], **more: Any) -> dict[str, Any]:
        """Where the data set comes from, as JSON values: plan, revisions, and the pages left out with the reasons."""
        return {
            "form": form,
            "made_by": f"storm-pipeline/{__version__}",
            "plan": plan,
            "wikipedia": self.services.project,
            **more,
            "topics": topics,
            "excluded": [{"title": title, "reason": reason} for title, reason in sorted(self._left_out)],
        }


class DocumentCollector:
    """Fetches pages that editors cite and that a search finds, each once; failed fetches are cached and not retried.

    ``search``: None to find no pages.
    """

    def __init__(
        self, answers: AnswerCache, search: SearchEngine | Search | None = None, fetch: Fetch | None = None
    ) -> None:
        self._answers = answers
        self._search = checked(search) if search else None
        self._fetch = fetch or WebPages()

    def fetch_documents(self, documents: Sequence[TopicDocument]) -> tuple[TopicDocument, ...]:
        """The documents with their texts, in order; the text is empty if the fetch failed."""
        pages = parallel_map(self._page, [document.url for document in documents], workers=_AT_ONCE)
        return tuple(
            TopicDocument(one.url, one.title or str(page.get("title", "")), str(page.get("text", "")), one.origin)
            for one, page in zip(documents, pages, strict=True)
        )

    def search_documents(self, title: str, k: int) -> tuple[TopicDocument, ...]:
        """Up to ``k`` of the pages that a search for a title finds; none without a search engine.

        Raises DatasetError: the search failed.
        """
        search = self._search
        if search is None or k < 1:
            return ()
        with service_errors():
            hits = self._answers.get(["search", search.name, title, k], lambda: _search_pages(search, title, k))
        pages = {source_id(url): TopicDocument(url, said, origin="search") for url, said in reversed(hits)}
        return self.fetch_documents(list(reversed(pages.values()))[:k])

    def _page(self, url: str) -> dict[str, Any]:
        page: dict[str, Any] = self._answers.get(["page", source_id(url)], lambda: self._fetch_page(url))
        return page

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
