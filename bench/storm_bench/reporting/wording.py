"""Number formats and sentences of the report."""

import math
from collections.abc import Iterable, Mapping, Sequence
from operator import itemgetter

from storm_bench.metrics.base import Measure
from storm_bench.reporting.results_file import NO_JUDGE, JudgedMeasures
from storm_bench.reporting.tables import LEVEL, Paired, Table
from storm_bench.significance import MeanInterval, smallest_p

WITHOUT_JUDGE = (
    "no judge of citations is named, and the screen, which checks articles while they are written, does not grade "
    "them; name one with --judge lm:MODEL, or --judge-lm MODEL, which grades as well"
)
UNDEFINED, UNSCORED = "–", "·"
"""Symbols for undefined and for unscored values."""


def digits(values: Iterable[float]) -> int:
    """Decimal places for means and differences: 3 below 10, more if all values are below 0.01."""
    largest = max((abs(value) for value in values if math.isfinite(value)), default=0.0)
    if largest >= 10:
        return 0 if largest >= 1000 else 1
    return 3 if largest >= 0.01 or largest == 0 else min(8, 2 - math.floor(math.log10(largest)))


def digits_of_values(values: Sequence[float]) -> int:
    """Decimal places for a column of single values: 0 if all are whole numbers."""
    return 0 if all(value.is_integer() for value in map(float, values) if math.isfinite(value)) else digits(values)


def number(value: float, places: int) -> str:
    """A number with thousands separators."""
    return f"{value:,.{places}f}"


def signed(value: float, places: int) -> str:
    """A difference with its sign."""
    return f"{value:+,.{places}f}"


def bounds(found: MeanInterval, places: int) -> str:
    """An interval; empty if there is none."""
    if found.low is None or found.high is None:
        return ""
    return f"[{number(found.low, places)}, {number(found.high, places)}]"


def p_value(value: float | None) -> str:
    """A p-value; a dash without a test."""
    if value is None or math.isnan(value):
        return UNDEFINED
    return "< 0.001" if value < 0.001 else f"{value:.3f}"


def column(measure: Measure) -> str:
    """A measure as a column header, with an arrow in the better direction."""
    return measure.name + {"higher": " ↑", "lower": " ↓"}.get(measure.better, "")


def plural(count: int, noun: str) -> str:
    """A count and its noun: ``1 topic``, ``2 topics``."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def listed(names: Sequence[str]) -> str:
    """Names as a phrase: ``a, b and c``."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def unequal_lengths(topics: Mapping[str, Mapping[str, float]], of: int) -> list[str]:
    """A sentence on the topics where methods were asked for unequal numbers of words; none if there is no such topic.

    ``topics``: their words, by topic and method; ``of``: number of all topics.
    """
    told = []
    for topic, words in topics.items():
        (fewest, least), (_, most) = min(words.items(), key=itemgetter(1)), max(words.items(), key=itemgetter(1))
        told.append(f"{topic} ({fewest} for {number(least, 0)} words, others for up to {number(most, 0)})")
    if not told:
        return []
    return [
        f"On {len(told)} of {plural(of, 'topic')}, marked *, not all methods were asked for as many words, because "
        f"their passages hold too little or their settings differ: {listed(told)}."
    ]


def gaps(table: Table) -> list[str]:
    """One sentence for each measure whose means are over fewer articles than were written."""
    sentences = []
    for place, measure in enumerate(table.measures):
        if measure.name in table.unjudged:
            continue
        cells = [(method, row[place]) for method, row in zip(table.methods, table.means, strict=True)]
        for words, counts in (
            ("not defined", [(method, mean.undefined, mean.articles) for method, mean in cells]),
            ("not scored", [(method, mean.unscored, mean.articles) for method, mean in cells]),
        ):
            missing = [f"{method} {count} of {articles}" for method, count, articles in counts if count]
            if missing:
                sentences.append(f"{measure.name} is {words} for some articles: {', '.join(missing)}.")
    known = [{row[place].topics for row in table.means if row[place].topics} for place in range(len(table.measures))]
    if mixed := [measure.name for measure, own in zip(table.measures, known, strict=True) if len(own) > 1]:
        sentences.append(
            f"The methods' means of {listed(mixed)} are over different topics: do not rank them; comparisons are over "
            "shared topics."
        )
    return sentences


def verdict(table: Table, baseline: str) -> list[str]:
    """What a table's comparisons show, and what they could show with this number of topics."""
    tested = [paired for paired in table.paired if paired.corrected_permutation is not None]
    if not tested:
        return [f"No test: no method has two topics in common with {baseline}, so no difference can be tested."]
    return [
        _significant_differences(tested, baseline),
        smallest_possible_p([paired.comparison.topics for paired in tested], "topic", len(tested)),
    ]


def smallest_possible_p(counts: Sequence[int], noun: str, comparisons: int) -> str:
    """A sentence on the smallest p that a table's permutation tests can give: with few topics none is significant.

    ``counts``: topics of each permutation test, each >= 2, at least one; ``comparisons``: for how many the smallest of
    these p-values is corrected, >= 1; 1 where none is.
    """
    largest = max(counts)
    floor = min(p for count in counts if (p := smallest_p(count)) is not None)
    least = min(1.0, floor * comparisons)
    shown = f"2/2^{largest} = {floor:.3g}" if floor == 2 / 2**largest else f"{floor:.1g}"
    limit = f"With {plural(largest, noun)}, the permutation test cannot give a p below {shown}"
    if comparisons > 1:
        limit += f", or {least:.3g} after correction for {plural(comparisons, 'comparison')}"
    if least >= LEVEL:
        limit += ": no difference in this table could have been significant, however large"
    return f"{limit}."


def judge_line(judged: JudgedMeasures, measures: Sequence[str]) -> str:
    """The calibration of some measures' judge, in one or two sentences."""
    names = listed([name for name in measures if name in judged.measures])
    if judged.judge == NO_JUDGE:
        return f"{names}: {WITHOUT_JUDGE}."
    opening = f"{names}: judged by {judged.judge}, "
    if judged.calibration is None or not judged.calibration.rows:
        return f"{opening}which is not calibrated: its accuracy is unknown, so differences may be its errors."
    rows = "; ".join(
        f"{row.task} ({row.pairs:,} pairs): AUC {row.auc}, balanced accuracy {row.balanced_accuracy}"
        for row in judged.calibration.rows
    )
    return f"{opening}calibrated on pairs with known answers. {rows}. Always saying yes gives 0.50 for both."


def unknown_judge(measures: Sequence[str]) -> str:
    """A sentence for judged measures whose judge is not recorded."""
    return f"{listed(measures)}: the judge is not recorded, so its calibration is unknown."


def _significant_differences(tested: Sequence[Paired], baseline: str) -> str:
    significant = [paired for paired in tested if paired.significant]
    rest = len(tested) - len(significant)
    by = f"by the permutation test, corrected for {plural(len(tested), 'comparison')} (p < {LEVEL})"
    if not significant:
        return (
            f"No difference from {baseline} is significant {by}. With this number of topics, that does not show that "
            "there is none."
        )
    sides: dict[str, list[str]] = {}
    for own in significant:
        difference = signed(own.comparison.difference, digits([own.comparison.difference]))
        shown = f"{own.measure.name} ({difference}, p {_p_phrase(own.corrected_permutation)})"
        sides.setdefault(f"{own.method} is {'better' if own.better else 'worse'} in", []).append(shown)
    findings = "; ".join(f"{side} {listed(shown)}" for side, shown in sides.items())
    other = f" The other {plural(rest, 'difference')} {'is' if rest == 1 else 'are'} not significant." if rest else ""
    verb = "is" if len(significant) == 1 else "are"
    share = f"{len(significant)} of {plural(len(tested), 'difference')}"
    return f"{share} from {baseline} {verb} significant {by}: {findings}.{other}"


def _p_phrase(p: float | None) -> str:
    shown = p_value(p)
    return shown if shown.startswith("<") else f"= {shown}"
