"""What an experiment will take, before it begins."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from storm_pipeline.estimate import Estimate, Range, estimate
from storm_pipeline.estimate.judging import ASK_JUDGE, ASKS_MODEL, JudgingEstimate, estimate_judging
from storm_pipeline.evaluation.metrics.resources import Resources
from storm_pipeline.evaluation.types import Topic
from storm_pipeline.experiments.config import ExperimentConfig
from storm_pipeline.experiments.units import Unit
from storm_pipeline.experiments.work import settings_of


@dataclass(frozen=True)
class JudgingForecast:
    """What judging articles will take of one model.

    Attributes:
        model: its name, as in the settings.
        metrics: names of the metrics that ask it.
        articles: how many.
        calls: replies.
        tokens_in: prompt tokens.
        tokens_out: completion tokens.
        dollars: US dollars; None where the model's price is unknown.
    """

    model: str
    metrics: tuple[str, ...]
    articles: int
    calls: Range
    tokens_in: Range
    tokens_out: Range
    dollars: Range | None


@dataclass(frozen=True)
class Forecast:
    """What is left of an experiment will take.

    Attributes:
        articles: how many are still to be written.
        calls: replies of the language models that write them.
        tokens_in: prompt tokens of these.
        tokens_out: completion tokens of these.
        dollars: US dollars of the models whose price is known.
        unpriced: models whose price is unknown.
        judging: what judging takes on top, a model each.
    """

    articles: int
    calls: Range
    tokens_in: Range
    tokens_out: Range
    dollars: Range
    unpriced: tuple[str, ...]
    judging: tuple[JudgingForecast, ...]


def forecast(
    config: ExperimentConfig,
    topics: Iterable[Topic],
    unwritten: Iterable[Unit],
    unscored: Mapping[Unit, Sequence[str]],
) -> Forecast:
    """Add up what writing and judging take; nothing is asked or fetched.

    Args:
        config: the experiment.
        topics: all of its topics.
        unwritten: the articles that are still to be written.
        unscored: the articles that are still to be judged, with the metrics.

    Raises:
        SettingsError: a setting cannot be used.
    """
    by_id = {topic.id: topic for topic in topics}
    # Articles of a method differ by their topic alone, which is a few words of a prompt.
    by_method: dict[str, Estimate] = {}
    made = []
    for unit in unwritten:
        if not config.method(unit.method).recipe:
            continue
        if unit.method not in by_method:
            by_method[unit.method] = _estimated(config, by_id[unit.topic], unit)
        made.append(by_method[unit.method])
    rows = [row for one in made for row in one.rows]
    return Forecast(
        len(made),
        Range.sum(row.calls for row in rows),
        Range.sum(row.tokens_in for row in rows),
        Range.sum(row.tokens_out for row in rows),
        Range.sum(row.dollars for row in rows if row.dollars is not None),
        tuple(sorted({name for one in made for name in one.unpriced})),
        tuple(_judging(config, by_id, unscored)),
    )


def _estimated(config: ExperimentConfig, topic: Topic, unit: Unit) -> Estimate:
    recipe, outline_only = config.method(unit.method).recipe, config.writes != "article"
    return estimate(settings_of(config, topic, unit), topic.title, recipe=recipe, outline_only=outline_only)


def _judging(
    config: ExperimentConfig, topics: Mapping[str, Topic], unscored: Mapping[Unit, Sequence[str]]
) -> Iterator[JudgingForecast]:
    """What each model that judges is asked; nothing where none of the metrics needs one."""
    grader = str(config.resources.get("judge_lm", Resources.judge_lm))
    kind, _, supporter = str(config.resources.get("judge", Resources.judge)).partition(":")
    asked = {grader: frozenset(ASKS_MODEL)}
    if kind == "lm":
        asked[supporter] = asked.get(supporter, frozenset()) | ASK_JUDGE
    for model, known in asked.items():
        # Articles of a method differ by their infobox and people's statements alone.
        made: dict[tuple[str, int, int, tuple[str, ...]], JudgingEstimate] = {}
        judged = []
        for unit, names in unscored.items():
            metrics = tuple(name for name in names if name in known)
            if not metrics:
                continue
            human = topics[unit.topic].human
            kin = unit.method, len(human.infobox), len(human.statements), metrics
            if kin not in made:
                made[kin] = estimate_judging(
                    settings_of(config, topics[unit.topic], unit),
                    metrics if model == grader else (),
                    model,
                    judges_support=kind == "lm" and model == supporter and bool(ASK_JUDGE.intersection(metrics)),
                    fields=kin[1],
                    statements=kin[2],
                )
            judged.append(made[kin])
        if judged:
            told = {name for *_, metrics in made for name in metrics}
            yield _added(model, tuple(name for name in config.metrics if name in told), judged)


def _added(model: str, metrics: tuple[str, ...], judged: Sequence[JudgingEstimate]) -> JudgingForecast:
    dollars = [one.dollars for one in judged if one.dollars is not None]
    return JudgingForecast(
        model,
        metrics,
        len(judged),
        Range.sum(one.calls for one in judged),
        Range.sum(one.tokens_in for one in judged),
        Range.sum(one.tokens_out for one in judged),
        Range.sum(dollars) if len(dollars) == len(judged) else None,
    )
