"""Numbers as the report shows them, and its sentences on what they mean."""

import math
from collections.abc import Iterable, Sequence

from storm_pipeline.evaluation.metrics.base import Measure
from storm_pipeline.evaluation.reporting.results import Judged
from storm_pipeline.evaluation.reporting.tables import LEVEL, Paired, Table
from storm_pipeline.evaluation.significance import Interval, smallest_p

UNDEFINED, UNSCORED = "–", "·"
"""What stands for a value that is not defined, and for one that was not asked for."""


def digits(values: Iterable[float]) -> int:
    """Digits behind the point for means and differences: thousandths below 10, more where all are below 0.01."""
    largest = max((abs(value) for value in values if math.isfinite(value)), default=0.0)
    if largest >= 10:
        return 0 if largest >= 1000 else 1
    return 3 if largest >= 0.01 or largest == 0 else min(8, 2 - math.floor(math.log10(largest)))


def digits_of_values(values: Sequence[float]) -> int:
    """Digits behind the point for a column of single values: none where all are whole."""
    return 0 if all(value.is_integer() for value in map(float, values) if math.isfinite(value)) else digits(values)


def number(value: float, places: int) -> str:
    """A number with thousands apart."""
    return f"{value:,.{places}f}"


def signed(value: float, places: int) -> str:
    """A difference, with its sign."""
    return f"{value:+,.{places}f}"


def bounds(found: Interval, places: int) -> str:
    """An interval; empty where there is none."""
    if found.low is None or found.high is None:
        return ""
    return f"[{number(found.low, places)}, {number(found.high, places)}]"


def p_value(value: float | None) -> str:
    """A p-value; a dash where there was no test."""
    if value is None or math.isnan(value):
        return UNDEFINED
    return "< 0.001" if value < 0.001 else f"{value:.3f}"


def column(measure: Measure) -> str:
    """A measure as the head of a column: an arrow tells which way is better."""
    return measure.name + {"higher": " ↑", "lower": " ↓"}.get(measure.better, "")


def plural(count: int, noun: str) -> str:
    """A count and its noun: ``1 topic``, ``2 topics``."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def listed(names: Sequence[str]) -> str:
    """Names as a phrase: ``a, b and c``."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def gaps(table: Table) -> list[str]:
    """Where a mean rests on fewer articles than there are, a sentence a measure."""
    told = []
    for place, measure in enumerate(table.measures):
        cells = [(method, row[place]) for method, row in zip(table.methods, table.means, strict=True)]
        for words, counts in (
            ("not defined", [(method, mean.undefined, mean.articles) for method, mean in cells]),
            ("not scored", [(method, mean.unscored, mean.articles) for method, mean in cells]),
        ):
            missing = [f"{method} {count} of {articles}" for method, count, articles in counts if count]
            if missing:
                told.append(f"{measure.name} is {words} on these articles: {', '.join(missing)}.")
    known = [{row[place].topics for row in table.means if row[place].topics} for place in _places(table)]
    if any(len(own) > 1 for own in known):
        told.append(
            "Some methods have values for other topics than others, so their means are over different topics; "
            "comparisons are over the topics that both have."
        )
    return told


def verdict(table: Table, baseline: str) -> list[str]:
    """What the comparisons of a table show at this size, and what they could show at most."""
    tested = [paired for paired in table.paired if paired.corrected_permutation is not None]
    if not tested:
        return [
            f"No test: no method has two topics in common with {baseline}, so no difference can be told from chance."
        ]
    return [_found(tested, baseline), *_uncorrected(tested), *_by_t(tested), _reach(tested)]


def judge_line(judged: Judged, measures: Sequence[str]) -> str:
    """What the judge of some measures is worth, in one sentence or two."""
    names = listed([name for name in measures if name in judged.measures])
    opening = f"{names}: judged by {judged.judge}, "
    if judged.calibration is None or not judged.calibration.rows:
        return (
            f"{opening}which is not calibrated: how often it is right was not measured, so differences may be its own."
        )
    rows = "; ".join(
        f"{row.task} ({row.pairs:,} pairs): AUC {row.auc}, balanced accuracy {row.balanced_accuracy}"
        for row in judged.calibration.rows
    )
    return f"{opening}which was calibrated where the answers are known. {rows}. Always saying yes has 0.50 of both."


def unknown_judge(measures: Sequence[str]) -> str:
    """For judged measures whose judge is not on record."""
    return f"{listed(measures)}: no judge is on record, and so it is not calibrated."


def _places(table: Table) -> range:
    return range(len(table.measures))


def _found(tested: Sequence[Paired], baseline: str) -> str:
    significant = [paired for paired in tested if paired.significant]
    rest = len(tested) - len(significant)
    by = f"by the permutation test, corrected for {plural(len(tested), 'comparison')} (p < {LEVEL})"
    if not significant:
        return (
            f"No difference from {baseline} is significant {by}: at this size none is told from chance, "
            "which does not show that there is none."
        )
    sides: dict[str, list[str]] = {}
    for own in significant:
        difference = signed(own.comparison.difference, digits([own.comparison.difference]))
        shown = f"{own.measure.name} ({difference}, p {_is(own.corrected_permutation)})"
        sides.setdefault(f"{own.method} is {'better' if own.better else 'worse'} in", []).append(shown)
    told = "; ".join(f"{side} {listed(shown)}" for side, shown in sides.items())
    other = f" The other {plural(rest, 'difference')} cannot be told from chance at this size." if rest else ""
    verb = "is" if len(significant) == 1 else "are"
    share = f"{len(significant)} of {plural(len(tested), 'difference')}"
    return f"{share} from {baseline} {verb} significant {by}: {told}.{other}"


def _uncorrected(tested: Sequence[Paired]) -> list[str]:
    """How many would be called significant if there were but one comparison."""
    if len(tested) == 1:
        return []
    found = sum(
        paired.comparison.permutation is not None and paired.comparison.permutation < LEVEL for paired in tested
    )
    return [
        f"Without the correction, {found} of {len(tested)} p-values of the permutation test are below {LEVEL}; were no "
        f"method different, about {LEVEL * len(tested):.1f} would be expected at most."
    ]


def _by_t(tested: Sequence[Paired]) -> list[str]:
    """Where the t-test, which the papers report, says something else."""
    other = [
        f"{paired.method} in {paired.measure.name} (p {_is(paired.corrected_t)})"
        for paired in tested
        if paired.corrected_t is not None and (paired.corrected_t < LEVEL) != paired.significant
    ]
    return [f"The paired t-test, corrected likewise, decides otherwise on {listed(other)}."] if other else []


def _reach(tested: Sequence[Paired]) -> str:
    """The least p that was possible: with few topics nothing can be significant."""
    topics = max(paired.comparison.topics for paired in tested)
    floor = min(p for paired in tested if (p := smallest_p(paired.comparison.topics)) is not None)
    least = min(1.0, floor * len(tested))
    shown = f"2/2^{topics} = {floor:.3g}" if floor == 2 / 2**topics else f"{floor:.1g}"
    told = f"Over {plural(topics, 'topic')} a permutation test cannot give a p below {shown}"
    if len(tested) > 1:
        told += f", or {least:.3g} once corrected for {plural(len(tested), 'comparison')}"
    if least >= LEVEL:
        told += ": nothing in this table could have been significant, however large the differences"
    return f"{told}."


def _is(p: float | None) -> str:
    shown = p_value(p)
    return shown if shown.startswith("<") else f"= {shown}"
