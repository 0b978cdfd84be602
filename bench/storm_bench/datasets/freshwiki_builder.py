"""Builds a new FreshWiki: recent, heavily edited articles of high quality, for any months (STORM, section 2.1).

Departures from the paper's pipeline: Lift Wing replaces ORES, which was shut down; citations stay with their sentences
and full stops are kept; articles need a subsection in the body, not just among the references; pages are examined in
random order until enough qualify, which is equivalent to sampling from all that qualify.
"""

from dataclasses import dataclass

from storm_bench.datasets.building import Build, Plan
from storm_bench.datasets.built import file_name
from storm_bench.datasets.dataset import DataSet
from storm_bench.datasets.freshwiki import NAME
from storm_bench.datasets.mediawiki import CurrentPage
from storm_bench.datasets.wiki_page import WikiPage, read_page
from storm_bench.datasets.wikimedia import LiftWing, most_edited
from storm_bench.types import Topic
from storm_pipeline import DatasetError, SearchError

GOOD = frozenset({"FA", "GA", "A", "B"})
"""Grades accepted by the paper: B-class or better."""
_MAX_LIST_RATIO = 3


@dataclass(frozen=True)
class FreshWikiPlan(Plan):
    """A plan with the paper's limit."""

    max_words: int = 3000  # maximum words of an article; 3,000 in the paper's experiments

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.months:
            raise DatasetError("no months given; name them as 2024-01")
        if self.max_words < 1:
            raise DatasetError("max_words must be at least 1")

    def text_rejection(self, page: WikiPage) -> str | None:
        """Return why an article is rejected by its content; None if it may qualify."""
        if page.features.words > self.max_words:
            return f"over {self.max_words} words"
        if not page.features.words or page.features.list_words > _MAX_LIST_RATIO * page.features.words:
            return "list"
        return None if page.features.subsections else "no subsections"


def build_freshwiki(plan: FreshWikiPlan, build: Build) -> DataSet:
    """Build a FreshWiki, whose manifest has grades, months and edits; an interrupted build continues when run again.

    Raises DatasetError: a service failed for good, nothing qualified, or the folder cannot be written.
    """
    lift_wing = LiftWing(build.services, build.answers)

    def examine(page: CurrentPage) -> Topic | str:
        try:
            grade, judge = lift_wing.grade(page.revision)
        except SearchError as error:
            return f"not graded: {error}"
        if grade not in GOOD:
            return f"quality {grade}"
        read = read_page(build.wiki.html(page), page.title, page.url)
        if reason := plan.text_rejection(read):
            return reason
        facts = {"grade": grade, "judge": judge, "words": read.features.words, "references": len(read.citations)}
        when = {"months": list(edited[page.asked].months), "edits_in_months": edited[page.asked].edits}
        return build.entered(page, Topic(file_name(page.title), page.title, read.article), **facts, **when)

    edited = {page.title: page for page in most_edited(build.services, build.answers, plan.months)}
    topics = list(build.taken(build.drawn(edited, plan.seed), examine, plan.size))
    return build.written(NAME, plan, topics, most_edited_pages=len(edited))
