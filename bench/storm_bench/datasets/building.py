"""Builds of data sets: the folder, services, pages of topics, which pages are taken, and what is written."""

import logging
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from storm_bench.datasets.built import folder_to_build, read_built, write_topics
from storm_bench.datasets.dataset import DataSet, shuffled, write_json
from storm_bench.datasets.leakage import copies, without_copies
from storm_bench.datasets.mediawiki import CurrentPage, MediaWiki, PageGoneError, non_article_reason
from storm_bench.datasets.wikimedia import AnswerCache, Wikimedia, service_errors
from storm_bench.types import Topic, TopicDocument
from storm_pipeline import DatasetError, PageError, SearchEngine, __version__
from storm_pipeline.api import WebPages, parallel_map, source_id, with_checks
from storm_pipeline.sources.search.base import Search

MANIFEST = "manifest.json"
Progress = Callable[[str], None]
"""Called with one line per page."""
Fetch = Callable[[str], Any]
"""URL → page, with a title and texts (``pages``); raises PageError. By default :class:`WebPages`, which is polite."""
_AT_ONCE = 8
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Plan:
    """A data set to build; reproducible for equal service responses."""

    months: tuple[str, ...] = ()  # such as ``2024-01``; their most edited pages are candidates
    size: int | None = 100  # maximum number of topics, sampled from those that qualify; None for all
    seed: int = 0  # seed of the sample

    def __post_init__(self) -> None:
        if self.size is not None and self.size < 1:
            raise DatasetError("size must be at least 1")


class Build:
    """One build: it continues an earlier one in the same folder, whose responses are cached in ``.build/``.

    ``folder``: where the data set is built; ``search``: finds further pages of a topic; None to find none; ``fetch``:
    fetches pages; ``services``: Wikipedia and those around it; ``on_progress``: called with one line per page. Raises
    DatasetError: the folder holds a data set from elsewhere.
    """

    def __init__(
        self,
        folder: Path,
        search: SearchEngine | Search | None = None,
        *,
        fetch: Fetch | None = None,
        services: Wikimedia | None = None,
        on_progress: Progress = lambda _: None,
    ) -> None:
        self.folder = folder_to_build(folder)
        self.services = services or Wikimedia()
        self.answers = AnswerCache(self.folder)
        self.wiki = MediaWiki(self.services, self.answers)
        self.pages = DocumentCollector(self.answers, search, fetch)
        self._engine, self._on_progress = search.name if search else "", on_progress
        self._left_out: list[tuple[str, str]] = []
        self._entries: list[dict[str, Any]] = []

    def drawn(self, titles: Iterable[str], seed: int) -> list[CurrentPage]:
        """Return the pages of titles in an order that the seed decides."""
        return shuffled(self.wiki.current(titles), seed, lambda page: page.number)

    def taken(
        self, pages: Iterable[CurrentPage], examine: Callable[[CurrentPage], Topic | str], at_most: int | None
    ) -> Iterator[Topic]:
        """Yield the topics of pages that qualify, in their order, until there are enough; the other pages are recorded.

        ``examine`` returns the topic of a page, or why it is left out (as a page that has gone is); cheap checks come
        first. ``at_most``: None for all.
        """
        found = 0
        for page in pages:
            if found == at_most:
                return
            try:
                one = non_article_reason(page) or examine(page)
            except PageGoneError:
                one = "deleted"
            if isinstance(one, str):
                self._left_out.append((page.title, one))
                self._on_progress(f"{page.title}: left out, {one}")
                continue
            found += 1
            self._on_progress(f"{page.title}: taken with {len(one.documents)} pages")
            yield one

    def entered(self, page: CurrentPage, topic: Topic, **facts: Any) -> Topic:
        """Add the page, these facts and the copies to the manifest; return the topic without copies of its article."""
        listed = [{"url": copy.document.url, "reason": copy.reason} for copy in copies(topic)]
        about = {"id": topic.id, "title": page.title, "url": page.url, "page": page.number, "revision": page.revision}
        self._entries.append(about | facts | {"copies": listed})
        return without_copies(topic)

    def written(self, name: str, plan: Any, topics: Sequence[Topic], **facts: Any) -> DataSet:
        """Write the topics and ``manifest.json``: plan, facts, revisions, copies, and the pages left out with reasons.

        Raises DatasetError: there is no topic, or the folder cannot be written.
        """
        if not topics:
            counts = Counter(reason for _, reason in self._left_out).most_common()
            why = ", ".join(f"{count} × {reason}" for reason, count in counts) or "there were no candidates"
            raise DatasetError(f"no article qualifies ({why}); take more months or a wider plan")
        write_topics(self.folder, topics)
        manifest = {
            "form": "topics-1",
            "made_by": f"storm-pipeline/{__version__}",
            "plan": asdict(plan),
            "wikipedia": self.services.project,
            "search": self._engine,
            **facts,
            "topics": sorted(self._entries, key=lambda entry: str(entry["id"])),
            "excluded": [{"title": title, "reason": reason} for title, reason in sorted(self._left_out)],
        }
        write_json(self.folder / MANIFEST, manifest)
        return read_built(name, self.folder) or DataSet(name, ())


class DocumentCollector:
    """Fetches pages that editors cite and that a search finds, each once; failed fetches are cached and not retried.

    ``search``: None to find no pages.
    """

    def __init__(
        self, answers: AnswerCache, search: SearchEngine | Search | None = None, fetch: Fetch | None = None
    ) -> None:
        self._answers = answers
        self._search = with_checks(search) if search else None
        self._given = fetch

    def fetch_documents(self, documents: Sequence[TopicDocument]) -> tuple[TopicDocument, ...]:
        """Return the documents with their texts, in order; the text is empty if the fetch failed."""
        pages = parallel_map(self._page, [document.url for document in documents], workers=_AT_ONCE)
        return tuple(
            TopicDocument(d.url, d.title or str(page.get("title", "")), str(page.get("text", "")), d.origin)
            for d, page in zip(documents, pages, strict=True)
        )

    def search_documents(self, title: str, k: int) -> tuple[TopicDocument, ...]:
        """Return up to ``k`` of the pages that a search for a title finds; none without a search engine.

        Raises DatasetError: the search failed.
        """
        search = self._search
        if search is None or k < 1:
            return ()
        with service_errors():
            hits = self._answers.get(["search", search.name, title, k], lambda: _search_pages(search, title, k))
        pages = {source_id(url): TopicDocument(url, said, origin="search") for url, said in reversed(hits)}
        return self.fetch_documents(list(reversed(pages.values()))[:k])

    @cached_property
    def _fetch(self) -> Fetch:
        return self._given or WebPages()

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
