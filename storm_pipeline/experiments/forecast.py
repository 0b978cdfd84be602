"""What an experiment will take, before it begins."""

from collections.abc import Iterable
from dataclasses import dataclass

from storm_pipeline.estimate import Estimate, Range, estimate
from storm_pipeline.evaluation.types import Topic
from storm_pipeline.experiments.config import ExperimentConfig
from storm_pipeline.experiments.units import Unit
from storm_pipeline.experiments.work import settings_of
from storm_pipeline.programs import Programs
from storm_pipeline.settings import is_embedded

_OF_THE_OUTLINE = frozenset({"related topics", "perspectives", "conversations", "search", "draft outline", "outline"})
"""Stages of a run that makes an outline alone."""
_ASK_A_MODEL = frozenset({"rubric", "wikigen_quality", "ib_score", "support_errors"})
_ASK_A_JUDGE = frozenset({"citation_alce", "citation_wikigenbench", "support_errors"})


@dataclass(frozen=True)
class Forecast:
    """What the articles of an experiment that are still to be written will take, judges left out.

    Attributes:
        articles: how many.
        calls: replies of language models.
        tokens_in: prompt tokens.
        tokens_out: completion tokens.
        dollars: US dollars of the models whose price is known.
        unpriced: models whose price is unknown.
        notes: what the numbers leave out.
    """

    articles: int
    calls: Range
    tokens_in: Range
    tokens_out: Range
    dollars: Range
    unpriced: tuple[str, ...]
    notes: tuple[str, ...]


def forecast(config: ExperimentConfig, topics: Iterable[Topic], units: Iterable[Unit]) -> Forecast:
    """Add up what the runs of these units take; nothing is asked or fetched.

    Raises:
        SettingsError: a setting cannot be used.
    """
    by_id = {topic.id: topic for topic in topics}
    programs = Programs()
    made = [
        _estimated(config, by_id[unit.topic], unit, programs)
        for unit in units
        if config.method(unit.method).recorded is None
    ]
    rows = [row for one in made for row in one.rows if config.writes == "article" or row.stage in _OF_THE_OUTLINE]
    unpriced = {name for one in made for name in one.unpriced} & {row.model for row in rows}
    return Forecast(
        len(made),
        Range.sum(row.calls for row in rows),
        Range.sum(row.tokens_in for row in rows),
        Range.sum(row.tokens_out for row in rows),
        Range.sum(row.dollars for row in rows if row.dollars is not None),
        tuple(sorted(unpriced)),
        tuple(_notes(config)),
    )


def _estimated(config: ExperimentConfig, topic: Topic, unit: Unit, programs: Programs) -> Estimate:
    return estimate(settings_of(config, topic, unit), topic.title, programs, recipe=config.method(unit.method).recipe)


def _notes(config: ExperimentConfig) -> Iterable[str]:
    judges = {str(config.resources.get("judge_lm", "embedded")): _ASK_A_MODEL}
    kind, _, model = str(config.resources.get("judge", "screen")).partition(":")
    if kind == "lm":
        judges[model] = judges.get(model, frozenset()) | _ASK_A_JUDGE
    for judge, metrics in judges.items():
        if asked := sorted(metrics.intersection(config.metrics)):
            takes = "the time that it takes" if is_embedded(judge) else "what it takes"
            yield f"{judge} judges as well ({', '.join(asked)}): {takes} comes on top"
