"""Whole methods, each a composition of what its steps ask: the mirror of :mod:`storm_pipeline.recipes`."""

from collections.abc import Callable, Iterator, Mapping

from storm_pipeline.estimate.asks import Asked
from storm_pipeline.estimate.courses import Run
from storm_pipeline.estimate.material import (
    from_headings,
    from_interviews,
    from_topic,
    learnt,
    passages,
    passages_for_all,
)
from storm_pipeline.estimate.planning import draft_outline, plan_outline, refine_outline
from storm_pipeline.estimate.research import (
    ask_all_at_once,
    converse,
    fill_gaps,
    find_perspectives,
    search_headings,
    search_topic,
)
from storm_pipeline.estimate.writing import article, article_from_memory, lead, outlined_article, polish, sections


def _storm(run: Run) -> Iterator[Asked]:
    yield from find_perspectives(run)
    yield from converse(run)
    yield from _from_interviews(run)


def _storm_no_perspective(run: Run) -> Iterator[Asked]:
    yield from converse(run, named=False)
    yield from _from_interviews(run)


def _storm_no_conversation(run: Run) -> Iterator[Asked]:
    yield from find_perspectives(run)
    yield from ask_all_at_once(run)
    yield from _from_interviews(run)


def _storm_no_outline(run: Run) -> Iterator[Asked]:
    yield from find_perspectives(run)
    yield from converse(run)
    yield from article(run, learnt)


def _direct(run: Run) -> Iterator[Asked]:
    yield from draft_outline(run)
    yield from article_from_memory(run)


def _rag(run: Run) -> Iterator[Asked]:
    yield from search_topic(run)
    yield from plan_outline(run)
    yield from outlined_article(run, passages, from_topic)


def _orag(run: Run) -> Iterator[Asked]:
    yield from search_topic(run)
    yield from plan_outline(run)
    yield from search_headings(run)
    yield from sections(run, from_headings)


def _rr(run: Run) -> Iterator[Asked]:
    yield from search_topic(run)
    yield from article(run, passages_for_all)


def _rprr(run: Run) -> Iterator[Asked]:
    yield from search_topic(run)
    yield from plan_outline(run)
    yield from search_headings(run)
    yield from sections(run, passages)


RECIPES: Mapping[str, Callable[[Run], Iterator[Asked]]] = {
    "storm": _storm,
    "storm-no-perspective": _storm_no_perspective,
    "storm-no-conversation": _storm_no_conversation,
    "storm-no-outline": _storm_no_outline,
    "direct": _direct,
    "rag": _rag,
    "orag": _orag,
    "rr": _rr,
    "rprr": _rprr,
}
"""What each method asks, in the order of its steps; whatever course a run takes, the same things in that order."""


def _from_interviews(run: Run) -> Iterator[Asked]:
    """Outline and writing of STORM."""
    yield from draft_outline(run)
    yield from refine_outline(run)
    yield from fill_gaps(run)
    yield from sections(run, from_interviews)
    yield from polish(run)
    yield from lead(run, from_interviews)
