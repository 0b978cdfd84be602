"""What sections and articles are written from: the facts that prompts show, by where a recipe has them from."""

import math
from collections.abc import Callable
from dataclasses import dataclass

from storm_pipeline.estimate.courses import Run
from storm_pipeline.estimate.prompts import filler
from storm_pipeline.references.facts import Fact, numbered
from storm_pipeline.types import Citation

UNTITLED_SECTIONS = 5
"""Sections that an article without an outline is given room for."""
FEWEST_FACTS = 2
"""A section with fewer is left out."""
_TOLD = 0.8
"""Words that a section is asked for, for each word of its facts."""
_SHORTEST_SECTION = 30


@dataclass(frozen=True)
class Shown:
    """Facts of one prompt: how many, and the words of each, its title aside."""

    number: int
    words: int


Material = Callable[[Run], Shown]
"""What one section, or a whole article, is written from in a run."""


def from_interviews(run: Run) -> Shown:
    """A section's share of what the interviews found."""
    return _share(run, run.sources)


def from_headings(run: Run) -> Shown:
    """A section's share of what searches with the topic and with every section's title found."""
    return _share(run, math.ceil((1 + run.sections) * run.settings.top_k * run.course.new))


def from_topic(run: Run) -> Shown:
    """A section's share of what a search with the topic found."""
    return _share(run, run.pages)


def passages(run: Run) -> Shown:
    """All that one search found: whole passages or, for who writes sentence by sentence, the nearest sentences."""
    if run.settings.writes_by_sentence:
        return Shown(min(run.settings.section_facts, facts_of(run, run.pages)), run.course.fact)
    return Shown(run.pages * run.course.passages, run.course.passage)


def passages_for_all(run: Run) -> Shown:
    """What one search found, for an article that is not divided."""
    if run.settings.writes_by_sentence:
        most = run.settings.section_facts * UNTITLED_SECTIONS
        return Shown(min(most, facts_of(run, run.pages)), run.course.fact)
    return passages(run)


def learnt(run: Run) -> Shown:
    """The sentences of all answers."""
    course = run.course
    return Shown(
        run.conversations * run.turns * course.sentences_an_answer, course.answer // course.sentences_an_answer
    )


def facts_of(run: Run, pages: int) -> int:
    """Sentences of so many pages that can stand as facts."""
    return math.ceil(pages * run.course.facts_a_hit)


def words_for(shown: Shown, most: int) -> int:
    """Words that these facts reach for, where ``most`` are wanted."""
    return max(_SHORTEST_SECTION, min(most, math.floor(shown.number * shown.words * _TOLD)))


def told(run: Run, shown: Shown, mark: str) -> str:
    """The facts as a prompt tells them."""
    fact = Fact(filler(shown.words, mark), filler(run.course.title, mark), Citation("", ""))
    return numbered([fact] * shown.number)


def _share(run: Run, pages: int) -> Shown:
    shared = pages * run.course.facts_a_hit / run.sections
    allowed = run.settings.section_facts * run.course.fill
    least = min(FEWEST_FACTS, run.settings.section_facts)
    return Shown(max(least, math.floor(min(shared, allowed))), run.course.fact)
