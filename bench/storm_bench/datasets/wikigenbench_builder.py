"""Builds a new WikiGenBench: recent articles on events with their source pages (v1, section 2.2; v2, 2.2).

Departures from the papers: candidates are the most edited pages of given months or given titles, not the difference of
two dumps; Wikidata decides what is an event; any search engine can be used, and pages are extracted by this package,
respecting robots.txt; copies of the article are excluded.
"""

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from storm_bench.datasets.answer_cache import AnswerCache
from storm_bench.datasets.current_page import CurrentPage
from storm_bench.datasets.dataset import DataSet, folder_to_build, remove_others, write_json
from storm_bench.datasets.document_collector import DocumentCollector, Fetch
from storm_bench.datasets.event_articles import events_among
from storm_bench.datasets.exclusions import Exclusions, Progress
from storm_bench.datasets.leakage import copies, without_copies
from storm_bench.datasets.mediawiki import MediaWiki, PageGoneError
from storm_bench.datasets.most_edited import most_edited
from storm_bench.datasets.seeded_order import shuffled
from storm_bench.datasets.wiki_page import read_page
from storm_bench.datasets.wikigenbench import read_wikigenbench
from storm_bench.datasets.wikigenbench_plan import WikiGenBenchPlan, links
from storm_bench.datasets.wikigenbench_writer import write_manifest, write_topic
from storm_bench.datasets.wikimedia import MADE_BY, Wikimedia
from storm_bench.types import Topic
from storm_pipeline import DatasetError, SearchEngine
from storm_pipeline.api import Search

PROVENANCE = "manifest.json"
_KINDS = ("wiki", "google")


def build_wikigenbench(
    plan: WikiGenBenchPlan,
    folder: Path,
    search: SearchEngine | Search,
    *,
    fetch: Fetch | None = None,
    services: Wikimedia | None = None,
    on_progress: Progress | None = None,
) -> DataSet:
    """Build a data set in WikiGenBench's format, with ``manifest.json``: plan, revisions, excluded copies and pages.

    An interrupted build continues when called again with the same folder: responses and pages are cached in its
    ``.build/``.

    Args:
        plan: what to build.
        folder: target folder; created if absent.
        search: finds pages by title.
        fetch: fetches pages; default: from the web, with rate limits.
        services: services to query; default: the English Wikipedia's.
        on_progress: called with one line per page.

    Raises:
        DatasetError: a service failed for good, nothing qualified, or the folder cannot be written.
    """
    services, folder = services or Wikimedia(), folder_to_build(folder, *_KINDS)
    answers = AnswerCache(folder)
    build = _Build(plan, services, answers, DocumentCollector(answers, search, fetch), on_progress or (lambda _: None))
    topics = sorted(build.topics(), key=lambda topic: int(topic.id))
    if not topics:
        raise DatasetError(
            f"no page qualifies ({build.excluded.summary()}); take more months or titles, or a wider plan"
        )
    for topic in topics:
        write_topic(folder, topic)
    for kind in _KINDS:
        remove_others(folder / kind, (topic.id for topic in topics), ".json")
    write_manifest(folder, topics)
    write_json(folder / PROVENANCE, build.provenance(search.name))
    return read_wikigenbench(folder, strict=True)


class _Build:
    """The state of one build: examined pages and reasons for exclusion."""

    def __init__(
        self,
        plan: WikiGenBenchPlan,
        services: Wikimedia,
        answers: AnswerCache,
        collector: DocumentCollector,
        on_progress: Progress,
    ) -> None:
        self._plan = plan
        self._services = services
        self._answers = answers
        self._wiki = MediaWiki(services, answers)
        self._collector = collector
        self._taken: list[dict[str, Any]] = []
        self.excluded = Exclusions(on_progress)

    def topics(self) -> Iterator[Topic]:
        """Qualifying topics in an order drawn by the seed, until there are enough."""
        edited = most_edited(self._services, self._answers, self._plan.months)
        candidates = [*(page.title for page in edited), *self._plan.titles]
        pages = shuffled(self._wiki.current(candidates), self._plan.seed, lambda page: page.number)
        events = self._events(pages)
        return self.excluded.taken(
            pages,
            lambda page: self._examine(page, is_event=page.item in events),
            lambda topic: f"with {len(topic.documents)} documents",
            self._plan.size,
        )

    def _events(self, pages: list[CurrentPage]) -> set[str]:
        wanted = self._plan.events_only
        return events_among(self._services, self._answers, [page.item for page in pages]) if wanted else set()

    def _examine(self, page: CurrentPage, *, is_event: bool) -> Topic | str:
        """The topic, or why the page is excluded; cheap checks come first."""
        if reason := self._plan.page_rejection(page) or self._kind_rejection(page, is_event=is_event):
            return reason
        try:
            read = read_page(self._wiki.html(page), page.title, page.url)
        except PageGoneError:
            return "deleted"
        if reason := self._plan.text_rejection(read):
            return reason
        cited = self._collector.fetch_documents(links(read))
        if reason := self._plan.documents_rejection(cited):
            return reason
        found = self._collector.search_documents(page.title, self._plan.search_results)
        topic = Topic(str(page.number), page.title, read.article, (*cited, *found))
        self._taken.append(_entry(page, topic))
        return without_copies(topic)

    def _kind_rejection(self, page: CurrentPage, *, is_event: bool) -> str | None:
        if self._plan.events_only and not is_event:
            return "no event"
        if self._plan.created_after and self._wiki.created(page)[:10] <= self._plan.created_after:
            return "older"
        return None

    def provenance(self, engine: str) -> dict[str, Any]:
        """The data set's provenance, as JSON values."""
        return {
            "form": "wikigenbench-1",
            "made_by": MADE_BY,
            "plan": asdict(self._plan),
            "wikipedia": self._services.project,
            "search": engine,
            "topics": sorted(self._taken, key=lambda entry: int(entry["id"])),
            "excluded": self.excluded.entries(),
        }


def _entry(page: CurrentPage, topic: Topic) -> dict[str, Any]:
    return {
        "id": topic.id,
        "title": page.title,
        "url": page.url,
        "revision": page.revision,
        "item": page.item,
        "copies": [{"url": copy.document.url, "reason": copy.reason} for copy in copies(topic)],
    }
