"""Builds a new FreshWiki: recent, heavily edited articles of high quality, for any months (STORM, section 2.1).

Departures from the paper's pipeline: Lift Wing replaces ORES, which was shut down; citations stay with their sentences
and full stops are kept; articles need a subsection in the body, not just among the references; pages are examined in
random order until enough qualify, which is equivalent to sampling from all that qualify.
"""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from storm_bench.datasets.building import Build, Progress
from storm_bench.datasets.dataset import DataSet, remove_others, write_json
from storm_bench.datasets.freshwiki import read_freshwiki, write_article
from storm_bench.datasets.mediawiki import CurrentPage, non_article_reason
from storm_bench.datasets.wiki_page import WikiPage, read_page
from storm_bench.datasets.wikimedia import EditedPage, LiftWing, Wikimedia, most_edited
from storm_pipeline import DatasetError, SearchError

MANIFEST = "manifest.json"
GOOD = frozenset({"FA", "GA", "A", "B"})
"""Grades accepted by the paper: B-class or better."""
_KINDS = ("json", "txt")
_MAX_LIST_RATIO = 3


@dataclass(frozen=True)
class FreshWikiPlan:
    """A data set to build; reproducible for equal service responses."""

    months: tuple[str, ...]  # such as ``2024-01``; their most edited pages are the candidates
    size: int | None = 100  # maximum number of topics, sampled from those that qualify, as in the paper; None for all
    max_words: int = 3000  # maximum words of an article; 3,000 in the paper's experiments
    seed: int = 0  # seed of the sample

    def __post_init__(self) -> None:
        if not self.months:
            raise DatasetError("no months given; name them as 2024-01")
        if (self.size is not None and self.size < 1) or self.max_words < 1:
            raise DatasetError("size and max_words must be at least 1")

    def text_rejection(self, page: WikiPage) -> str | None:
        """Why an article is rejected by its content; None if it may qualify."""
        if page.features.words > self.max_words:
            return f"over {self.max_words} words"
        if not page.features.words or page.features.list_words > _MAX_LIST_RATIO * page.features.words:
            return "list"
        return None if page.features.subsections else "no subsections"


@dataclass(frozen=True)
class _Chosen:
    page: CurrentPage
    edited: EditedPage
    read: WikiPage
    grade: str
    judge: str


def build_freshwiki(
    plan: FreshWikiPlan, folder: Path, services: Wikimedia | None = None, on_progress: Progress | None = None
) -> DataSet:
    """Build a data set in the published format, with ``manifest.json``: months, grades, revisions, exclusions.

    Arguments beside the plan as for :class:`.building.Build`; an interrupted build continues when called again. Raises
    DatasetError: a service failed for good, nothing qualified, or the folder cannot be written.
    """
    build = Build(folder, *_KINDS, services=services, on_progress=on_progress)
    lift_wing = LiftWing(build.services, build.answers)

    def examine(page: CurrentPage) -> _Chosen | str:
        """The page with its grade, or why it is excluded; cheap checks come first."""
        if reason := non_article_reason(page):
            return reason
        try:
            grade, judge = lift_wing.grade(page.revision)
        except SearchError as error:
            return f"not graded: {error}"
        if grade not in GOOD:
            return f"quality {grade}"
        read = read_page(build.wiki.html(page), page.title, page.url)
        return plan.text_rejection(read) or _Chosen(page, edited[page.asked], read, grade, judge)

    edited = {page.title: page for page in most_edited(build.services, build.answers, plan.months)}
    pages = build.drawn(edited, plan.seed)
    chosen = list(build.taken(pages, examine, lambda one: f"({one.grade} by {one.judge})", plan.size))
    if not chosen:
        reasons = build.reasons()
        raise DatasetError(f"none of {len(edited)} pages qualifies ({reasons}); take more months or a wider plan")
    names = {write_article(build.folder, one.read.article): one for one in chosen}
    for kind in _KINDS:
        remove_others(build.folder / kind, names, f".{kind}")
    entries = [_entry(name, one) for name, one in sorted(names.items())]
    facts = build.provenance("freshwiki-1", asdict(plan), entries, most_edited_pages=len(edited))
    write_json(build.folder / MANIFEST, facts)
    return read_freshwiki(build.folder, strict=True)


def _entry(name: str, one: _Chosen) -> dict[str, Any]:
    return one.page.told(name) | {
        "grade": one.grade,
        "judge": one.judge,
        "months": list(one.edited.months),
        "edits_in_months": one.edited.edits,
        "words": one.read.features.words,
        "references": len(one.read.citations),
    }
