"""What outlines ask (paper sections 3.3 and 4.3)."""

from collections.abc import Iterator

from storm_pipeline.estimate.asks import Ask, Asked
from storm_pipeline.estimate.courses import Run
from storm_pipeline.estimate.material import Shown, told
from storm_pipeline.estimate.prompts import filler, measure
from storm_pipeline.outlines import outline_to_markdown
from storm_pipeline.types import Heading, Outline

TITLES_SHOWN = 1500
"""Characters of source titles shown when the outline is refined."""
PASSAGE_SHOWN = 120
"""Words of each passage shown when an outline is planned from passages."""
_REFINED = 160
"""Tokens of an outline whose maker knows the sources."""


def draft_outline(run: Run) -> Iterator[Asked]:
    """An outline from the topic alone."""
    prompts = measure(run.programs.draft, *[{"topic": run.topic}] * 2)
    why = "once, from the topic alone"
    yield Ask("draft outline", "outliner", "draft", 1, prompts, run.reply(150), why)


def refine_outline(run: Run) -> Iterator[Asked]:
    """The draft improved with the interviews."""
    interviews = run.conversations * run.turns * (run.course.question + run.course.answer)
    inputs = {
        "topic": run.topic,
        "sources": filler(run.course.title * run.sources, "a")[:TITLES_SHOWN],
        "interviews": filler(min(interviews, run.settings.interview_words), "a"),
        "draft": outline_text(run),
    }
    yield Ask("outline", "outliner", "refine", 1, measure(run.programs.refine, inputs, inputs), run.reply(_REFINED))


def plan_outline(run: Run) -> Iterator[Asked]:
    """An outline from the passages that a search with the topic found."""
    found = Shown(run.pages * run.course.passages, min(run.course.passage, PASSAGE_SHOWN))
    inputs = {"topic": run.topic, "sources": told(run, found, "a")}
    yield Ask("outline", "outliner", "plan", 1, measure(run.programs.plan, inputs, inputs), run.reply(_REFINED))


def outline_text(run: Run) -> str:
    """An outline as prompts show it."""
    title = filler(run.course.heading, "h")
    section = Heading(title, (Heading(title),) * run.subheadings)
    return outline_to_markdown(Outline(run.topic, (section,) * run.sections))
