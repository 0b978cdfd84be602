"""Builds a new round of Wiki Live Challenge: articles that became Good Articles in given months.

Departures from the benchmark: a statement is a whole sentence of the article, behind the titles of article and section
in place of resolved pronouns, not a fact in a language model's words; the pages are those that editors cite and,
optionally, that a search finds, not those that other systems cited; there are no other systems' articles.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any
from unicodedata import normalize

from storm_bench.datasets.building import Build, DocumentCollector, Fetch, Progress
from storm_bench.datasets.dataset import DataSet, remove_others, write_json
from storm_bench.datasets.freshwiki import file_name
from storm_bench.datasets.leakage import copies, without_copies
from storm_bench.datasets.mediawiki import CurrentPage, PageGoneError, non_article_reason
from storm_bench.datasets.usable_documents import usable
from storm_bench.datasets.wiki_live import SUFFIX, read_wiki_live, write_topic
from storm_bench.datasets.wiki_page import WikiPage, read_page
from storm_bench.datasets.wikimedia import Wikimedia, first_second
from storm_bench.types import HumanArticle, Topic, TopicDocument
from storm_pipeline import DatasetError, SearchEngine
from storm_pipeline.api import is_complete, repeats_wikipedia, words
from storm_pipeline.sources.search.base import Search

MANIFEST = "manifest.json"
_CATEGORY = "Good articles"
_MIN_CHARACTERS = 500  # minimum length of a page's text
_QUOTED = re.compile(r"[\"“„«][^\"“”„«»]*[\"”“»]")
_MIN_UNQUOTED = 4  # minimum words outside quotation marks; fewer are a quotation and its speaker
_WORDS = range(6, 61)  # of a statement
_SECOND = timedelta(seconds=1)


@dataclass(frozen=True)
class WikiLivePlan:
    """A data set to build; reproducible for equal service responses."""

    months: tuple[str, ...]  # such as ``2026-09``, in which the articles became Good Articles; each must be over
    per_month: int | None = 20  # maximum number of topics of a month, sampled from those that qualify; None for all
    seed: int = 0  # seed of the sample
    min_words: int = 0  # minimum words of prose, including the lead
    statements: int = 150  # maximum statements of a topic, spread over its article, >= 1
    min_pages: int = 5  # minimum pages with text, >= 1; a topic with fewer cannot be written from its pages
    search_results: int = 10  # maximum pages added by a search for the title, >= 0

    def __post_init__(self) -> None:
        if not self.months:
            raise DatasetError("no months given; name them as 2026-09")
        if unfinished := [start for start in self.calendar() if _next(start) > datetime.now(UTC)]:
            raise DatasetError(f"{unfinished[0]:%Y-%m} is not over: its revisions are not final; name earlier months")
        least = (self.statements, self.min_pages, 1 if self.per_month is None else self.per_month)
        if min(least) < 1 or self.min_words < 0 or self.search_results < 0:
            raise DatasetError(
                "per_month, statements and min_pages must be at least 1, min_words and search_results at least 0"
            )

    def calendar(self) -> list[datetime]:
        """The first seconds of the distinct months, in order."""
        return sorted(set(map(first_second, self.months)))

    def text_rejection(self, page: WikiPage) -> str | None:
        """Why an article is rejected by its content; None if it may qualify."""
        if page.features.words < self.min_words:
            return f"under {self.min_words} words"
        return None if page.features.sections else "no sections"


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

    Further arguments as for :class:`.building.Build` and :class:`.building.DocumentCollector`; an interrupted
    build continues when called again. Raises DatasetError: a service failed for good, nothing qualified, or the folder
    cannot be written.
    """
    build = Build(folder, ".", services=services, on_progress=on_progress)
    examination = _Examination(plan, build, DocumentCollector(build.answers, search, fetch))
    topics = list(examination.topics())
    if not topics:
        raise DatasetError(f"no article qualifies ({build.reasons()}); take more months or a wider plan")
    for topic in topics:
        write_topic(build.folder, topic)
    remove_others(build.folder, (topic.id for topic in topics), SUFFIX)
    entries = sorted(examination.entries, key=lambda entry: str(entry["id"]))
    engine = search.name if search else ""
    write_json(build.folder / MANIFEST, build.provenance("wiki-live-1", asdict(plan), entries, search=engine))
    return read_wiki_live(build.folder, strict=True)


class _Examination:
    """Which pages qualify, with what the manifest says of them."""

    def __init__(self, plan: WikiLivePlan, build: Build, collector: DocumentCollector) -> None:
        self.entries: list[dict[str, Any]] = []
        self._plan = plan
        self._build = build
        self._collector = collector

    def topics(self) -> Iterator[Topic]:
        """Qualifying topics, month by month, each month in an order drawn by the seed until there are enough."""
        for month in self._plan.calendar():
            joined = self._build.wiki.members(f"Category:{_CATEGORY}", _iso(month), _iso(_next(month) - _SECOND))
            pages = self._build.drawn(joined, self._plan.seed)
            examine = partial(self._examine, month=month)
            yield from self._build.taken(
                pages, examine, lambda topic: f"with {len(topic.documents)} pages", self._plan.per_month
            )

    def _examine(self, page: CurrentPage, month: datetime) -> Topic | str:
        """The topic, or why the page is excluded; cheap checks come first."""
        if reason := non_article_reason(page):
            return reason
        page = self._build.wiki.at(page, _iso(_next(month) - _SECOND))
        if not self._is_good(page):
            return "no Good Article at the month's end"
        if self._was_good(page, _iso(month - _SECOND)):
            return "a Good Article before the month"
        read = read_page(self._build.wiki.html(page), page.title, page.url)
        return self._plan.text_rejection(read) or self._topic(page, read, month)

    def _topic(self, page: CurrentPage, read: WikiPage, month: datetime) -> Topic | str:
        statements = statements_of(read.article)
        if not statements:
            return "no statements"
        cited = self._collector.fetch_documents([one for one in read.links() if not repeats_wikipedia(one.url)])
        found = self._collector.search_documents(page.title, self._plan.search_results)
        human = replace(read.article, statements=spread(statements, self._plan.statements))
        whole = Topic(file_name(page.title), page.title, human, _pages_with_text([*cited, *found]))
        topic = without_copies(whole)
        if len(topic.documents) < self._plan.min_pages:
            return f"under {self._plan.min_pages} pages with text"
        origins = [document.origin for document in topic.documents]
        self.entries.append(
            page.told(topic.id)
            | {
                "month": f"{month:%Y-%m}",
                "words": read.features.words,
                "statements": len(human.statements),
                "statements_in_article": len(statements),
                "cited_pages": origins.count("human"),
                "found_pages": origins.count("search"),
                "copies": [{"url": copy.document.url, "reason": copy.reason} for copy in copies(whole)],
            }
        )
        return topic

    def _is_good(self, page: CurrentPage) -> bool:
        return _CATEGORY in self._build.wiki.categories(page)

    def _was_good(self, page: CurrentPage, time: str) -> bool:
        """Whether the page was a Good Article at a time; one that left the category for a day joins it anew."""
        try:
            return self._is_good(self._build.wiki.at(page, time))
        except PageGoneError:
            return False


def _pages_with_text(documents: Sequence[TopicDocument]) -> tuple[TopicDocument, ...]:
    """The usable pages with at least 500 characters, in order, each once, without Wikipedia and its mirrors."""
    own = (document for document in documents if not repeats_wikipedia(document.url))
    return usable(document for document in own if len(document.text) >= _MIN_CHARACTERS)


def statements_of(article: HumanArticle) -> tuple[str, ...]:
    """The distinct statements of an article's body, in order: its complete sentences of 6 to 60 words in context.

    Left out are questions, mere quotations, and the lead, which repeats the body.
    """
    found: dict[tuple[str, ...], str] = {}
    for part in (part for section in article.sections for part in section.walk()):
        for one in part.sentences:
            if _is_statement(one.text):
                key = tuple(normalize("NFKC", one.text).casefold().split())
                found.setdefault(key, f"{article.title}, {part.heading}: {one.text}")
    return tuple(found.values())


def spread(statements: Sequence[str], most: int) -> tuple[str, ...]:
    """At most ``most`` statements, evenly spaced over the text, in order."""
    kept = min(most, len(statements))
    return tuple(statements[index * len(statements) // kept] for index in range(kept))


def _is_statement(sentence: str) -> bool:
    if len(words(sentence)) not in _WORDS or not is_complete(sentence):
        return False
    return not sentence.endswith("?") and len(words(_QUOTED.sub("", sentence))) >= _MIN_UNQUOTED


def _next(month: datetime) -> datetime:
    """Return the first second of the month after."""
    return (month + timedelta(days=31)).replace(day=1)


def _iso(time: datetime) -> str:
    return f"{time:%Y-%m-%dT%H:%M:%SZ}"
