"""Building a new FreshWiki: recent, much-edited articles of high quality, for any months (STORM, section 2.1).

Where this departs from the paper's own pipeline: Lift Wing instead of ORES, which is switched off; citations stay with
their sentences and full stops are kept; a subsection in the body is asked for, not one among the references; topics
are drawn until there are enough, which is the same draw as from all that qualify.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from storm_pipeline.errors import DatasetError, SearchError
from storm_pipeline.evaluation.datasets.answers import Answers
from storm_pipeline.evaluation.datasets.dataset import DataSet, folder_to_build, remove_others, write_json
from storm_pipeline.evaluation.datasets.drawing import drawn
from storm_pipeline.evaluation.datasets.freshwiki import read_freshwiki
from storm_pipeline.evaluation.datasets.freshwiki_form import write_article
from storm_pipeline.evaluation.datasets.freshwiki_plan import FreshWikiPlan
from storm_pipeline.evaluation.datasets.histories import EditHistory, write_histories
from storm_pipeline.evaluation.datasets.mediawiki import CurrentPage, MediaWiki, PageGoneError
from storm_pipeline.evaluation.datasets.most_edited import EditedPage, most_edited
from storm_pipeline.evaluation.datasets.quality import LiftWing, Verdict, by_features
from storm_pipeline.evaluation.datasets.wiki_page import WikiPage, read_page
from storm_pipeline.evaluation.datasets.wikimedia import Wikimedia
from storm_pipeline.net.http import user_agent

MANIFEST = "manifest.json"
_KINDS = ("json", "txt")
Progress = Callable[[str], None]
"""Told one line for each page that was looked at."""


@dataclass(frozen=True)
class _Chosen:
    page: CurrentPage
    edited: EditedPage
    read: WikiPage
    verdict: Verdict


def build_freshwiki(
    plan: FreshWikiPlan, folder: Path, services: Wikimedia | None = None, on_progress: Progress | None = None
) -> DataSet:
    """Build a data set in the published form, with ``manifest.json``: months, versions, judges, revisions, exclusions.

    A build that was broken off goes on where it stopped when it is called again with the same folder: what the
    services answered is kept in ``.build/`` inside it.

    Args:
        plan: what to build.
        folder: where; made if need be.
        services: where to ask; by default the English Wikipedia.
        on_progress: told of each page.

    Raises:
        DatasetError: a service failed for good, nothing qualified, or the folder cannot be written.
    """
    services, folder = services or Wikimedia(), folder_to_build(folder, *_KINDS)
    answers = Answers(folder)
    build = _Build(plan, services, answers, on_progress or (lambda _: None))
    edited = most_edited(services, answers, plan.months)
    chosen = list(build.chosen(edited))
    if not chosen:
        raise DatasetError(
            f"none of {len(edited)} pages qualifies ({build.why_not()}); take more months or a wider plan"
        )
    names = {write_article(folder, one.read.article): one for one in chosen}
    for kind in _KINDS:
        remove_others(folder / kind, names)
    histories = build.histories(names)
    if histories:
        write_histories(folder, histories)
    write_json(folder / MANIFEST, build.manifest(names, len(edited)))
    return read_freshwiki(folder, strict=True)


class _Build:
    """One build: what was looked at, and why it was left out."""

    def __init__(self, plan: FreshWikiPlan, services: Wikimedia, answers: Answers, told: Progress) -> None:
        self._plan = plan
        self._services = services
        self._wiki = MediaWiki(services, answers)
        self._lift_wing = LiftWing(services, answers)
        self._told = told
        self._excluded: list[tuple[str, str]] = []
        self._failures: list[str] = []

    def chosen(self, edited: Iterable[EditedPage]) -> Iterator[_Chosen]:
        """Pages that qualify, in an order that the seed draws, until there are enough."""
        by_title = {page.title: page for page in edited}
        pages = drawn(self._wiki.current(by_title), self._plan.seed, lambda page: page.number)
        found = 0
        for page in pages:
            if found == self._plan.size:
                return
            one = self._looked_at(page, by_title[page.asked])
            if isinstance(one, str):
                self._excluded.append((page.title, one))
                self._told(f"{page.title}: left out, {one}")
                continue
            found += 1
            self._told(f"{page.title}: taken ({one.verdict.grade} by {one.verdict.judge})")
            yield one

    def _looked_at(self, page: CurrentPage, edited: EditedPage) -> _Chosen | str:
        """The page with its verdict, or why it is left out; what is cheap to ask comes first."""
        if reason := self._plan.refuses(page):
            return reason
        verdict = self._asked_verdict(page)
        if verdict and not verdict.is_good:
            return f"quality {verdict.grade}"
        try:
            read = read_page(self._wiki.html(page), page.title, page.url)
        except PageGoneError:
            return "deleted"
        if reason := self._plan.refuses_text(read):
            return reason
        verdict = verdict or by_features(read.features)
        return _Chosen(page, edited, read, verdict) if verdict.is_good else f"quality {verdict.grade}"

    def _asked_verdict(self, page: CurrentPage) -> Verdict | None:
        """Lift Wing's verdict; None where the stand-in is to judge."""
        if self._plan.quality == "features":
            return None
        try:
            return self._lift_wing.judge(page.revision)
        except SearchError as error:
            if self._plan.quality == "lift-wing":
                raise DatasetError(
                    f"{error}; run the same build again, or let the stand-in judge with quality 'auto'"
                ) from error
            self._failures.append(str(error))
            return None

    def histories(self, names: dict[str, _Chosen]) -> dict[str, EditHistory]:
        """The histories of the topics, if the plan asks for them."""
        points = self._plan.history_points
        return {name: self._wiki.history(one.page, points) for name, one in names.items()} if points else {}

    def why_not(self) -> str:
        """The reasons for which pages were left out, the commonest first."""
        counts = Counter(why for _, why in self._excluded)
        return ", ".join(f"{count} × {reason}" for reason, count in counts.most_common())

    def manifest(self, names: dict[str, _Chosen], looked_at: int) -> dict[str, Any]:
        """What the data set is and where it comes from, as JSON values."""
        return {
            "form": "freshwiki-1",
            "made_by": user_agent().partition(" ")[0],
            "plan": asdict(self._plan),
            "wikipedia": self._services.project,
            "most_edited_pages": looked_at,
            "judges": dict(Counter(one.verdict.judge for one in names.values())),
            "lift_wing_failures": sorted(set(self._failures)),
            "topics": [_entry(name, one) for name, one in sorted(names.items())],
            "excluded": [{"title": title, "reason": reason} for title, reason in sorted(self._excluded)],
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
