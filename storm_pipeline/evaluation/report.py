"""An experiment's results as tables like the papers' 2 to 5: means with intervals, paired tests, values per topic."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from storm_pipeline.evaluation.metrics.base import Measure
from storm_pipeline.evaluation.significance import Comparison, compare, holm, interval


@dataclass(frozen=True)
class Result:
    """One article of an experiment and its scores.

    Attributes:
        recipe: the method.
        topic: id of the topic.
        seed: of the run.
        values: name of a measure → value; None where it is not defined.
        failure: why there is no article; empty where there is one.
    """

    recipe: str
    topic: str
    seed: int
    values: Mapping[str, float | None] = field(default_factory=dict)
    failure: str = ""


def to_markdown(
    title: str, results: Sequence[Result], measures: Sequence[Measure], *, baseline: str, facts: Mapping[str, str]
) -> str:
    """The whole report.

    Args:
        title: of the experiment.
        results: every article that was to be written.
        measures: columns of the tables, in their order.
        baseline: the recipe that the others are compared with.
        facts: what a reader must know to repeat it (versions, models, hashes of prompts), by name.
    """
    recipes = list(dict.fromkeys(result.recipe for result in results))
    parts = [
        f"# {title}",
        *_facts(facts),
        "## Means over topics",
        "With 95 % bootstrap intervals; the number of topics that have a value in parentheses.",
        _means(recipes, results, measures),
        *_comparisons(recipes, results, measures, baseline),
        "## Topic by topic",
        _per_topic(results, measures),
        *_failures(results),
    ]
    return "\n\n".join(parts) + "\n"


def topic_means(results: Sequence[Result], recipe: str, measure: str) -> dict[str, float]:
    """Topic → mean over seeds of a recipe's values, for the topics that have one."""
    found: dict[str, list[float]] = {}
    for result in results:
        value = result.values.get(measure)
        if result.recipe == recipe and value is not None and not math.isnan(value):
            found.setdefault(result.topic, []).append(value)
    return {topic: sum(values) / len(values) for topic, values in found.items()}


def table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table; what would break a cell is escaped."""
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n".join("| " + " | ".join(_cell(text) for text in line) + " |" for line in lines)


def _facts(facts: Mapping[str, str]) -> list[str]:
    return [table(("", ""), [(name, value) for name, value in facts.items()])] if facts else []


def _means(recipes: Sequence[str], results: Sequence[Result], measures: Sequence[Measure]) -> str:
    rows = []
    for recipe in recipes:
        cells = []
        for measure in measures:
            values = list(topic_means(results, recipe, measure.name).values())
            cells.append(_interval(values))
        rows.append((recipe, *cells))
    return table(("recipe", *(_heading(measure) for measure in measures)), rows)


def _interval(values: Sequence[float]) -> str:
    if not values:
        return "no value"
    found = interval(values)
    bounds = "" if found.low is None or found.high is None else f" [{_number(found.low)}, {_number(found.high)}]"
    return f"{_number(found.mean)}{bounds} ({found.topics})"


def _comparisons(
    recipes: Sequence[str], results: Sequence[Result], measures: Sequence[Measure], baseline: str
) -> list[str]:
    """Every other recipe against the baseline, corrected over all comparisons of the table."""
    rows: list[tuple[str, Measure, Comparison]] = []
    for recipe in recipes:
        for measure in measures:
            own, other = (topic_means(results, name, measure.name) for name in (recipe, baseline))
            if recipe != baseline and measure.better != "neither" and own.keys() & other.keys():
                rows.append((recipe, measure, compare(own, other)))
    if not rows:
        return []
    corrected = holm([found.permutation for _, _, found in rows])
    shown = [
        (recipe, measure.name, _signed(c.difference), str(c.topics), _p(c.t_test), _p(c.permutation), _p(p))
        for (recipe, measure, c), p in zip(rows, corrected, strict=True)
    ]
    columns = ("recipe", "measure", "difference", "topics", "t-test p", "permutation p", "Holm-corrected")
    significant = sum(p is not None and p < 0.05 for p in corrected)
    return [
        f"## Against {baseline}",
        f"Paired over topics; {significant} of {len(rows)} differences are significant (corrected p < 0.05).",
        table(columns, shown),
    ]


def _per_topic(results: Sequence[Result], measures: Sequence[Measure]) -> str:
    rows = [
        (result.topic, result.recipe, str(result.seed), *(_number(result.values.get(m.name)) for m in measures))
        for result in sorted(results, key=lambda r: (r.topic, r.recipe, r.seed))
        if not result.failure
    ]
    return table(("topic", "recipe", "seed", *(measure.name for measure in measures)), rows)


def _failures(results: Sequence[Result]) -> list[str]:
    failed = [(r.topic, r.recipe, str(r.seed), r.failure) for r in results if r.failure]
    return ["## Failures", table(("topic", "recipe", "seed", "why"), failed)] if failed else []


def _heading(measure: Measure) -> str:
    arrow = {"higher": " ↑", "lower": " ↓"}.get(measure.better, "")
    return f"{measure.name}{arrow}"


def _number(value: float | None) -> str:
    if value is None or math.isnan(value):
        return "–"
    return f"{value:.3f}" if abs(value) < 10 else f"{value:,.1f}"


def _signed(value: float) -> str:
    return f"{value:+.3f}"


def _p(value: float | None) -> str:
    if value is None or math.isnan(value):
        return "–"
    return "< 0.001" if value < 0.001 else f"{value:.3f}"


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;")
