"""Builds a new FreshWiki: recent, heavily edited articles of high quality, for any months (STORM, section 2.1).

Departures from the paper's pipeline: Lift Wing replaces ORES, which was shut down; citations stay with their sentences
and full stops are kept; articles need a subsection in the body, not just among the references; pages are examined in
random order until enough qualify, which is equivalent to sampling from all that qualify.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from storm_bench.datasets.answer_cache import AnswerCache
from storm_bench.datasets.current_page import CurrentPage
from storm_bench.datasets.dataset import DataSet, folder_to_build, remove_others, write_json
from storm_bench.datasets.exclusions import Exclusions, Progress
from storm_bench.datasets.freshwiki import read_freshwiki
from storm_bench.datasets.freshwiki_plan import FreshWikiPlan
from storm_bench.datasets.freshwiki_writer import write_article
from storm_bench.datasets.histories import EditHistory, write_histories
from storm_bench.datasets.mediawiki import MediaWiki, PageGoneError
from storm_bench.datasets.most_edited import EditedPage, most_edited
from storm_bench.datasets.quality import LiftWing, QualityGrade, by_features
from storm_bench.datasets.seeded_order import shuffled
from storm_bench.datasets.wiki_page import WikiPage, read_page
from storm_bench.datasets.wikimedia import MADE_BY, Wikimedia
from storm_pipeline import DatasetError, SearchError

MANIFEST = "manifest.json"
_KINDS = ("json", "txt")


@dataclass(frozen=True)
class _Chosen:
    page: CurrentPage
    edited: EditedPage
    read: WikiPage
    verdict: QualityGrade


def build_freshwiki(
    plan: FreshWikiPlan, folder: Path, services: Wikimedia | None = None, on_progress: Progress | None = None
) -> DataSet:
    """Build a data set in the published format, with ``manifest.json``: months, judges, revisions, exclusions.

    An interrupted build continues when called again with the same folder: service responses are cached in its
    ``.build/``.

    Args:
        plan: what to build.
        folder: target folder; created if absent.
        services: services to query; default: the English Wikipedia's.
        on_progress: called with one line per page.

    Raises:
        DatasetError: a service failed for good, nothing qualified, or the folder cannot be written.
    """
    services, folder = services or Wikimedia(), folder_to_build(folder, *_KINDS)
    answers = AnswerCache(folder)
    build = _Build(plan, services, answers, on_progress or (lambda _: None))
    edited = most_edited(services, answers, plan.months)
    chosen = list(build.chosen(edited))
    if not chosen:
        raise DatasetError(
            f"none of {len(edited)} pages qualifies ({build.excluded.summary()}); take more months or a wider plan"
        )
    names = {write_article(folder, one.read.article): one for one in chosen}
    for kind in _KINDS:
        remove_others(folder / kind, names, f".{kind}")
    histories = build.histories(names)
    if histories:
        write_histories(folder, histories)
    write_json(folder / MANIFEST, build.manifest(names, len(edited)))
    return read_freshwiki(folder, strict=True)


class _Build:
    """The state of one build: examined pages and reasons for exclusion."""

    def __init__(self, plan: FreshWikiPlan, services: Wikimedia, answers: AnswerCache, on_progress: Progress) -> None:
        self._plan = plan
        self._services = services
        self._wiki = MediaWiki(services, answers)
        self._lift_wing = LiftWing(services, answers)
        self.excluded = Exclusions(on_progress)
        self._failures: list[str] = []

    def chosen(self, edited: Iterable[EditedPage]) -> Iterator[_Chosen]:
        """Qualifying pages in an order drawn by the seed, until there are enough."""
        by_title = {page.title: page for page in edited}
        pages = shuffled(self._wiki.current(by_title), self._plan.seed, lambda page: page.number)
        return self.excluded.taken(
            pages,
            lambda page: self._examine(page, by_title[page.asked]),
            lambda one: f"({one.verdict.grade} by {one.verdict.judge})",
            self._plan.size,
        )

    def _examine(self, page: CurrentPage, edited: EditedPage) -> _Chosen | str:
        """The page with its verdict, or why it is excluded; cheap checks come first."""
        if reason := self._plan.page_rejection(page):
            return reason
        verdict = self._lift_wing_verdict(page)
        if verdict and not verdict.is_good:
            return f"quality {verdict.grade}"
        try:
            read = read_page(self._wiki.html(page), page.title, page.url)
        except PageGoneError:
            return "deleted"
        if reason := self._plan.text_rejection(read):
            return reason
        verdict = verdict or by_features(read.features)
        return _Chosen(page, edited, read, verdict) if verdict.is_good else f"quality {verdict.grade}"

    def _lift_wing_verdict(self, page: CurrentPage) -> QualityGrade | None:
        """Lift Wing's verdict; None if the fallback has to judge."""
        if self._plan.quality == "features":
            return None
        try:
            return self._lift_wing.judge(page.revision)
        except SearchError as error:
            if self._plan.quality == "lift-wing":
                raise DatasetError(
                    f"{error}; run the same build again, or use the fallback with quality 'auto'"
                ) from error
            self._failures.append(str(error))
            return None

    def histories(self, names: dict[str, _Chosen]) -> dict[str, EditHistory]:
        """The topics' edit histories, if the plan includes them."""
        points = self._plan.history_points
        return {name: self._wiki.history(one.page, points) for name, one in names.items()} if points else {}

    def manifest(self, names: dict[str, _Chosen], looked_at: int) -> dict[str, Any]:
        """The data set's provenance, as JSON values."""
        return {
            "form": "freshwiki-1",
            "made_by": MADE_BY,
            "plan": asdict(self._plan),
            "wikipedia": self._services.project,
            "most_edited_pages": looked_at,
            "judges": dict(Counter(one.verdict.judge for one in names.values())),
            "lift_wing_failures": sorted(set(self._failures)),
            "topics": [_entry(name, one) for name, one in sorted(names.items())],
            "excluded": self.excluded.entries(),
        }


def _entry(name: str, one: _Chosen) -> dict[str, Any]:
    return {
        "id": name,
        "title": one.page.title,
        "url": one.page.url,
        "page": one.page.number,
        "revision": one.page.revision,
        "grade": one.verdict.grade,
        "judge": one.verdict.judge,
        "months": list(one.edited.months),
        "edits_in_months": one.edited.edits,
        "words": one.read.features.words,
        "references": one.read.features.references,
    }
