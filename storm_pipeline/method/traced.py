"""A run as one call of a DSPy module, so that tracers of DSPy nest all calls of the run below it."""

from collections.abc import Callable
from typing import Any, TypeVar

import dspy

from storm_pipeline.method.outlines import outline_to_markdown
from storm_pipeline.types import Article, Outline

T = TypeVar("T")


class StormRun(dspy.Module):
    """A DSPy module that does the work of one run; its name is that of the run's span."""

    def __init__(self, work: Callable[[], Any]) -> None:
        super().__init__()
        self._work = work
        self.made: Any = None

    def forward(self, topic: str, recipe: str) -> dspy.Prediction:  # noqa: ARG002 - for the span
        """Do the work; return the resulting article or outline as Markdown, for the span."""
        self.made = self._work()
        return dspy.Prediction(**_as_markdown(self.made))


def _as_markdown(made: object) -> dict[str, str]:
    if isinstance(made, Article):
        return {"article": made.to_markdown()}
    return {"outline": outline_to_markdown(made)} if isinstance(made, Outline) else {}


def traced(work: Callable[[], T], topic: str, recipe: str) -> T:
    """Return the result of ``work``; DSPy's callbacks see all of its model calls as calls of one module."""
    run = StormRun(work)
    run(topic=topic, recipe=recipe)
    made: T = run.made
    return made
