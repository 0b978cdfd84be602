"""Builds a new WikiGenBench: recent articles on events with their source pages (v1, section 2.2; v2, 2.2).

Departures from the papers: candidates are the most edited pages of given months or given titles, not the difference of
two dumps; Wikidata decides what is an event; any search engine can be used, and pages are extracted by this package,
respecting robots.txt; copies of the article are excluded.
"""

import re
from dataclasses import dataclass, replace

from storm_bench.datasets.building import Build, Plan
from storm_bench.datasets.dataset import DataSet
from storm_bench.datasets.mediawiki import CurrentPage
from storm_bench.datasets.usable_documents import is_usable, usable
from storm_bench.datasets.wiki_page import WikiPage, read_page
from storm_bench.datasets.wikigenbench import NAME, cited_title
from storm_bench.datasets.wikimedia import events_among, most_edited
from storm_bench.types import Topic
from storm_pipeline import DatasetError

_DATE = re.compile(r"\d{4}-\d\d-\d\d")


@dataclass(frozen=True)
class WikiGenBenchPlan(Plan):
    """A plan with the papers' limits."""

    titles: tuple[str, ...] = ()  # further candidates, e.g. of a category or a list of new articles
    events_only: bool = True  # whether articles must be about events, according to Wikidata
    # date such as ``2024-01-31`` after which the article must have been created, so that no model can have read it;
    # empty for any
    created_after: str = ""
    min_words: int = 1000  # minimum words of prose, including the lead
    max_words: int = 3000  # maximum words of prose
    min_links: int = 10  # minimum number of distinct cited pages
    max_links: int = 100  # maximum number of distinct cited pages
    min_fetched: float = 0.4  # share of cited pages that must be exceeded by those fetched, in [0, 1)
    search_results: int = 10  # maximum pages added by a search for the title, >= 0

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.months and not self.titles:
            raise DatasetError("a data set needs candidates: name months as 2024-01, or titles of articles")
        if self.created_after and not _DATE.fullmatch(self.created_after):
            raise DatasetError(f"{self.created_after!r} is not a date; write it as 2024-01-31")
        if not 0 <= self.min_fetched < 1 or self.search_results < 0:
            raise DatasetError("search_results must be at least 0, and min_fetched in [0, 1)")

    def text_rejection(self, page: WikiPage) -> str | None:
        """Return why an article is rejected by its content; None if it may qualify."""
        if not self.min_words <= page.features.words <= self.max_words:
            return f"not of {self.min_words} to {self.max_words} words"
        if not page.features.sections:
            return "no sections"
        if not self.min_links <= len(page.links()) <= self.max_links:
            return f"not of {self.min_links} to {self.max_links} links"
        return None


def build_wikigenbench(plan: WikiGenBenchPlan, build: Build) -> DataSet:
    """Build a WikiGenBench; an interrupted build continues when it is run again.

    Raises DatasetError: a service failed for good, nothing qualified, or the folder cannot be written.
    """

    def examine(page: CurrentPage) -> Topic | str:
        if plan.events_only and page.item not in events:
            return "no event"
        if plan.created_after and build.wiki.created(page)[:10] <= plan.created_after:
            return "older"
        read = read_page(build.wiki.html(page), page.title, page.url)
        if reason := plan.text_rejection(read):
            return reason
        fetched = build.pages.fetch_documents(read.links())
        cited = tuple(replace(one, title=cited_title(one.title)) for one in fetched)
        if sum(map(is_usable, cited)) <= plan.min_fetched * len(cited):
            return f"{plan.min_fetched:.0%} of its links or fewer were fetched"
        found = build.pages.search_documents(page.title, plan.search_results)
        human = replace(read.article, references=cited)
        whole = Topic(str(page.number), page.title, human, (*cited, *found))
        topic = build.entered(page, whole, item=page.item)
        return replace(topic, documents=usable(topic.documents))

    edited = most_edited(build.services, build.answers, plan.months)
    pages = build.drawn([*(page.title for page in edited), *plan.titles], plan.seed)
    items = [page.item for page in pages] if plan.events_only else []
    events = events_among(build.services, build.answers, items)
    return build.written(NAME, plan, list(build.taken(pages, examine, plan.size)))
