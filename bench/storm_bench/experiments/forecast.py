"""Forecast of an experiment's calls, tokens and dollars, before it starts."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from storm_bench.experiments.config import ExperimentConfig
from storm_bench.experiments.jobs import settings_of
from storm_bench.experiments.own_code import is_own, own_recipe
from storm_bench.experiments.units import Unit
from storm_bench.judge_calls import ASK_JUDGE, ASKS_MODEL, JudgingEstimate, estimate_judging
from storm_bench.metrics.registry import METRICS
from storm_bench.metrics.resources import Resources, named_judge
from storm_bench.types import Topic
from storm_pipeline.interfaces.estimate import Estimate, estimate
from storm_pipeline.recipes import DEFAULT
from storm_pipeline.types import Range

MANY = 10
"""Number of articles from which single ones hardly matter to a forecast."""


@dataclass(frozen=True)
class JudgingForecast(JudgingEstimate):
    """Forecast of one judge model's calls."""

    model: str  # its name, as in the settings
    metrics: tuple[str, ...]  # names of the metrics that call it
    articles: int  # number of articles to judge


@dataclass(frozen=True)
class Forecast:
    """Forecast of the remaining work of an experiment."""

    articles: int  # articles still to be written
    calls: Range  # calls to the models that write them
    tokens_in: Range  # prompt tokens of these calls
    tokens_out: Range  # completion tokens of these calls
    dollars: Range  # US dollars, for models with known prices
    unpriced: tuple[str, ...]  # models with unknown prices
    judging: tuple[JudgingForecast, ...]  # additional cost of judging, one entry per model
    unjudged: tuple[str, ...]  # metrics of support for which no judge is named


def _recipe(config: ExperimentConfig, method: str) -> str:
    """Return a method's recipe; one of the user's own is taken to cost what the default does."""
    name = config.method(method).recipe
    own = is_own(name) and config.code and own_recipe(name, config.code)  # which says what is wrong with it
    return ("storm" if config.writes != "article" else DEFAULT) if own else name


def forecast(
    config: ExperimentConfig, topics: Iterable[Topic], unwritten: Iterable[Unit], unscored: Mapping[Unit, Sequence[str]]
) -> Forecast:
    """Sum the estimates of writing and judging; makes no calls and no requests.

    From :data:`MANY` articles on ranges are half to twice the likely number: long and short articles cancel out.
    Raises SettingsError: a setting is invalid.
    """
    by_id = {topic.id: topic for topic in topics}
    written = [unit for unit in unwritten if config.method(unit.method).recipe]
    by_method = _estimates(config, by_id, written)
    estimates = [by_method[unit.method] for unit in written]
    rows = [row for one in estimates for row in one.rows]
    return Forecast(
        len(estimates),
        _total([row.calls for row in rows], len(written)),
        _total([row.tokens_in for row in rows], len(written)),
        _total([row.tokens_out for row in rows], len(written)),
        _total([row.dollars for row in rows if row.dollars is not None], len(written)),
        tuple(sorted({name for one in estimates for name, price in one.prices.items() if price is None})),
        tuple(_judging_forecasts(config, by_id, unscored)),
        _unjudged(config),
    )


def _estimates(config: ExperimentConfig, topics: Mapping[str, Topic], written: Sequence[Unit]) -> dict[str, Estimate]:
    """Return the estimate of an article of each method.

    A method's articles differ only in the topic, which is a few words of a prompt; methods of one recipe and of the
    same settings search differently, which no estimate knows.
    """
    first = {unit.method: unit for unit in reversed(written)}
    known: dict[tuple[str, str], Estimate] = {}
    by_method: dict[str, Estimate] = {}
    for name, unit in reversed(first.items()):
        settings = settings_of(config, topics[unit.topic], unit)
        key = config.method(name).recipe, settings.model_dump_json()
        if key not in known:
            known[key] = estimate(
                settings,
                topics[unit.topic].title,
                recipe=_recipe(config, name),
                outline_only=config.writes != "article",
            )
        by_method[name] = known[key]
    return by_method


def _total(ranges: Sequence[Range], articles: int) -> Range:
    """Return the sum of what so many articles take."""
    whole = Range.sum(ranges)
    return Range(whole.likely / 2, whole.likely, 2 * whole.likely) if articles >= MANY else whole


def _judge(config: ExperimentConfig) -> str:
    """Return the judge of support; empty if none is named."""
    given = config.resources
    return named_judge(*(str(given.get(name, getattr(Resources, name))) for name in ("judge", "judge_lm")))


def _unjudged(config: ExperimentConfig) -> tuple[str, ...]:
    known = (name for name in config.metrics if name in METRICS)
    return () if _judge(config) else tuple(name for name in known if "support_judge" in METRICS[name].needs)


def _judging_forecasts(
    config: ExperimentConfig, topics: Mapping[str, Topic], unscored: Mapping[Unit, Sequence[str]]
) -> Iterator[JudgingForecast]:
    """Yield one forecast per judge model; empty if no metric needs one."""
    grader = str(config.resources.get("judge_lm", Resources.judge_lm))
    kind, _, support_model = _judge(config).partition(":")
    metrics_by_model = {grader: frozenset(ASKS_MODEL).difference(_unjudged(config))}
    if kind == "lm":
        metrics_by_model[support_model] = metrics_by_model.get(support_model, frozenset()) | ASK_JUDGE.keys()
    for model, model_metrics in metrics_by_model.items():
        # A method's articles differ only in the topic's infobox and number of human statements.
        estimates: dict[tuple[str, int, int, tuple[str, ...]], JudgingEstimate] = {}
        judged = []
        for unit, names in unscored.items():
            metrics = tuple(name for name in names if name in model_metrics)
            if not metrics:
                continue
            human = topics[unit.topic].human
            key = unit.method, len(human.infobox), len(human.statements), metrics
            if key not in estimates:
                estimates[key] = estimate_judging(
                    settings_of(config, topics[unit.topic], unit),
                    metrics if model == grader else (),
                    model,
                    judged_support=metrics if kind == "lm" and model == support_model else (),
                    fields=key[1],
                    statements=key[2],
                )
            judged.append(estimates[key])
        if judged:
            used = {name for *_, metrics in estimates for name in metrics}
            yield _summed(model, tuple(name for name in config.metrics if name in used), judged)


def _summed(model: str, metrics: tuple[str, ...], judged: Sequence[JudgingEstimate]) -> JudgingForecast:
    dollars = [one.dollars for one in judged if one.dollars is not None]
    return JudgingForecast(
        _total([one.calls for one in judged], len(judged)),
        _total([one.tokens_in for one in judged], len(judged)),
        _total([one.tokens_out for one in judged], len(judged)),
        _total(dollars, len(judged)) if len(dollars) == len(judged) else None,
        model,
        metrics,
        len(judged),
    )
