"""Builds a new round of Wiki Live Challenge: articles that became Good Articles in given months.

Departures from the benchmark: statements are taken from the article by rules (:mod:`.wiki_live_statements`); the pages
are those that editors cite and, optionally, that a search finds, not those that other systems cited; there are no other
systems' articles.
"""

from collections.abc import Iterator
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Any

from storm_bench.datasets.answer_cache import AnswerCache
from storm_bench.datasets.current_page import CurrentPage
from storm_bench.datasets.dataset import DataSet, folder_to_build, remove_others, write_json
from storm_bench.datasets.document_collector import DocumentCollector, Fetch
from storm_bench.datasets.exclusions import Exclusions, Progress
from storm_bench.datasets.freshwiki_plan import non_article_reason
from storm_bench.datasets.freshwiki_writer import file_name
from storm_bench.datasets.leakage import copies, without_copies
from storm_bench.datasets.mediawiki import MediaWiki, PageGoneError
from storm_bench.datasets.months import Month
from storm_bench.datasets.seeded_order import shuffled
from storm_bench.datasets.wiki_live import read_wiki_live
from storm_bench.datasets.wiki_live_plan import WikiLivePlan, pages_with_text
from storm_bench.datasets.wiki_live_statements import spread, statements_of
from storm_bench.datasets.wiki_live_writer import SUFFIX, write_topic
from storm_bench.datasets.wiki_page import WikiPage, read_page
from storm_bench.datasets.wikigenbench_plan import links
from storm_bench.datasets.wikimedia import MADE_BY, Wikimedia
from storm_bench.types import Topic
from storm_pipeline import DatasetError, SearchEngine
from storm_pipeline.api import Search, repeats_wikipedia

MANIFEST = "manifest.json"
_CATEGORY = "Good articles"


def build_wiki_live(
    plan: WikiLivePlan,
    folder: Path,
    search: SearchEngine | Search | None = None,
    *,
    fetch: Fetch | None = None,
    services: Wikimedia | None = None,
    on_progress: Progress | None = None,
) -> DataSet:
    """Build a data set in Wiki Live's format, with ``manifest.json``: plan, revisions, excluded copies and pages.

    An interrupted build continues when called again with the same folder: responses and pages are cached in its
    ``.build/``.

    Args:
        plan: what to build.
        folder: target folder; created if absent.
        search: finds more pages by title; default: only cited pages.
        fetch: fetches pages; default: from the web, with rate limits.
        services: services to query; default: the English Wikipedia's.
        on_progress: called with one line per page.

    Raises:
        DatasetError: a service failed for good, nothing qualified, or the folder cannot be written.
    """
    services, folder = services or Wikimedia(), folder_to_build(folder, ".")
    answers = AnswerCache(folder)
    collector = DocumentCollector(answers, search, fetch)
    build = _Build(plan, MediaWiki(services, answers), collector, on_progress or (lambda _: None))
    topics = list(build.topics())
    if not topics:
        raise DatasetError(f"no article qualifies ({build.excluded.summary()}); take more months or a wider plan")
    for topic in topics:
        write_topic(folder, topic)
    remove_others(folder, (topic.id for topic in topics), SUFFIX)
    write_json(folder / MANIFEST, build.manifest(services.project, search.name if search else ""))
    return read_wiki_live(folder, strict=True)


class _Build:
    """The state of one build: taken topics, examined pages and reasons for exclusion."""

    def __init__(
        self, plan: WikiLivePlan, wiki: MediaWiki, collector: DocumentCollector, on_progress: Progress
    ) -> None:
        self._plan = plan
        self._wiki = wiki
        self._collector = collector
        self._taken: list[dict[str, Any]] = []
        self.excluded = Exclusions(on_progress)

    def topics(self) -> Iterator[Topic]:
        """Qualifying topics, month by month, each month in an order drawn by the seed until there are enough."""
        for month in self._plan.calendar():
            joined = self._wiki.members(f"Category:{_CATEGORY}", month.first_second, month.last_second)
            yield from self.excluded.taken(
                shuffled(self._wiki.current(joined), self._plan.seed, lambda page: page.number),
                partial(self._examine, month=month),
                lambda topic: f"with {len(topic.documents)} pages",
                self._plan.per_month,
            )

    def _examine(self, page: CurrentPage, month: Month) -> Topic | str:
        """The topic, or why the page is excluded; cheap checks come first."""
        if reason := non_article_reason(page):
            return reason
        try:
            page = self._wiki.at(page, month.last_second)
            if not self._is_good(page):
                return "no Good Article at the month's end"
            if self._was_good(page, month.second_before):
                return "a Good Article before the month"
            read = read_page(self._wiki.html(page), page.title, page.url)
        except PageGoneError:
            return "deleted"
        return self._plan.text_rejection(read) or self._topic(page, read, month)

    def _topic(self, page: CurrentPage, read: WikiPage, month: Month) -> Topic | str:
        statements = statements_of(read.article)
        if not statements:
            return "no statements"
        cited = self._collector.fetch_documents([one for one in links(read) if not repeats_wikipedia(one.url)])
        found = self._collector.search_documents(page.title, self._plan.search_results)
        human = replace(read.article, statements=spread(statements, self._plan.statements))
        whole = Topic(file_name(page.title), page.title, human, pages_with_text([*cited, *found]))
        topic = without_copies(whole)
        if reason := self._plan.documents_rejection(topic.documents):
            return reason
        self._taken.append(
            {
                "id": topic.id,
                "title": page.title,
                "url": page.url,
                "page": page.number,
                "revision": page.revision,
                "month": str(month),
                "words": read.features.words,
                "statements": len(human.statements),
                "statements_in_article": len(statements),
                "cited_pages": sum(document.origin == "human" for document in topic.documents),
                "found_pages": sum(document.origin == "search" for document in topic.documents),
                "copies": [{"url": copy.document.url, "reason": copy.reason} for copy in copies(whole)],
            }
        )
        return topic

    def _is_good(self, page: CurrentPage) -> bool:
        return _CATEGORY in self._wiki.categories(page)

    def _was_good(self, page: CurrentPage, time: str) -> bool:
        """Whether the page was a Good Article at a time; one that left the category for a day joins it anew."""
        try:
            return self._is_good(self._wiki.at(page, time))
        except PageGoneError:
            return False

    def manifest(self, project: str, engine: str) -> dict[str, Any]:
        """The data set's provenance, as JSON values."""
        return {
            "form": "wiki-live-1",
            "made_by": MADE_BY,
            "plan": asdict(self._plan),
            "wikipedia": project,
            "search": engine,
            "topics": sorted(self._taken, key=lambda entry: str(entry["id"])),
            "excluded": self.excluded.entries(),
        }
