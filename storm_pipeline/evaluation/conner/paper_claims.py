"""The paper's claims on acquired knowledge, each as a number with an interval and what follows from it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from storm_pipeline.evaluation.conner.correlation import somers_d
from storm_pipeline.evaluation.conner.scoring import Record
from storm_pipeline.evaluation.reporting.blocks import Cell, Grid
from storm_pipeline.evaluation.reporting.markdown import grid
from storm_pipeline.evaluation.reporting.tables import LEVEL
from storm_pipeline.evaluation.significance import compare, holm, interval

_BETTER_GENERATED = ("relevance", "coherence_sentence", "coherence_paragraph", "helpfulness", "gain", "validity")
_WORSE_GENERATED = ("fact_consistent", "informativeness")


@dataclass(frozen=True)
class PaperClaim:
    """What the paper says and what was found.

    Attributes:
        says: the claim, with its place.
        dataset: on which it was checked.
        items: how many pairs or items.
        value: the difference, or Somers' D.
        low: lower end of its 95 % bootstrap interval.
        high: upper end.
        sign: 1 where the claim is that the value is above 0, -1 where below.
        p: of the permutation test of a difference, or of Somers' D; None where there is no test.
    """

    says: str
    dataset: str
    items: int
    value: float
    low: float
    high: float
    sign: int
    p: float | None

    def verdict(self, corrected: float | None) -> str:
        """``yes`` or ``no`` where the interval leaves out 0 and the corrected p is below 0.05, else ``open``."""
        if corrected is None or corrected >= LEVEL or self.low <= 0 <= self.high:
            return "open"
        return "yes" if (self.value > 0) == (self.sign > 0) else "no"


def claims(records: Sequence[Record], pageviews: Mapping[str, int]) -> str:
    """A table, a row a claim and data set; p-values are corrected by Holm's method over the whole table.

    Args:
        records: of the four kinds of knowledge, for the same items.
        pageviews: item → views of its topic's page.
    """
    found = [*_differences(records), *_associations(records, pageviews)]
    rows = [
        (one.says, one.dataset, str(one.items), signed_interval(one.value, one.low, one.high), _p(p), one.verdict(p))
        for one, p in zip(found, holm([one.p for one in found]), strict=True)
    ]
    columns = ("claim", "data", "n", "difference or D [95 % interval]", "p (Holm)", "holds here")
    return grid(Grid(columns, tuple(tuple(Cell(text) for text in row) for row in rows), 2))


def _differences(records: Sequence[Record]) -> Iterator[PaperClaim]:
    for dataset in dict.fromkeys(one.dataset for one in records):
        for name in _BETTER_GENERATED:
            yield from _difference(f"{name}: generated above retrieved (4.3)", records, dataset, name, 1)
        for name in _WORSE_GENERATED:
            yield from _difference(f"{name}: generated below retrieved (4.3)", records, dataset, name, -1)
        says = "factuality: few-shot below zero-shot (4.3)"
        yield from _difference(says, records, dataset, "fact_consistent", -1, kinds=("few-shot", "zero-shot"))


def _difference(
    says: str,
    records: Sequence[Record],
    dataset: str,
    name: str,
    sign: int,
    *,
    kinds: tuple[str, str] = ("zero-shot", "retrieved"),
) -> Iterator[PaperClaim]:
    """The paired difference between two kinds of knowledge."""
    first, second = (
        {
            one.item: value
            for one in records
            if one.dataset == dataset and one.kind == kind and (value := one.scores.get(name)) is not None
        }
        for kind in kinds
    )
    shared = sorted(first.keys() & second.keys())
    if len(shared) < 2:
        return
    tested = compare(first, second)
    own = interval([first[item] - second[item] for item in shared])
    yield PaperClaim(says, dataset, len(shared), own.mean, own.low or 0.0, own.high or 0.0, sign, tested.permutation)


def _associations(records: Sequence[Record], pageviews: Mapping[str, int]) -> Iterator[PaperClaim]:
    generated = [one for one in records if one.kind == "zero-shot"]  # one piece an item: independent
    for dataset in dict.fromkeys(one.dataset for one in records):
        own = [one for one in generated if one.dataset == dataset]
        got = [one for one in records if one.dataset == dataset and one.kind == "retrieved"]
        longer = "zero-shot factuality falls with the number of sentences (Figure 2b)"
        yield from _association(longer, dataset, _pairs(own, "sentences", "fact_consistent"), -1)
        helps = "relevance of retrieved knowledge goes with helpfulness (Tables 5, 6)"
        yield from _association(helps, dataset, _pairs(got, "relevance", "helpfulness"), 1)
        valid = "factuality of zero-shot knowledge goes with validity (Tables 5, 6)"
        yield from _association(valid, dataset, _pairs(own, "fact_consistent", "validity"), 1)
    known = [
        (float(pageviews[one.item]), value)
        for one in generated
        if one.item in pageviews and (value := one.scores.get("fact_consistent")) is not None
    ]
    yield from _association("zero-shot factuality rises with page views (Figure 2a)", "wow", known, 1)


def _association(says: str, dataset: str, pairs: Sequence[tuple[float, float]], sign: int) -> Iterator[PaperClaim]:
    found = somers_d([x for x, _ in pairs], [y for _, y in pairs]) if pairs else None
    if found:
        yield PaperClaim(says, dataset, found.items, found.d, found.low, found.high, sign, found.p)


def _pairs(records: Sequence[Record], x: str, y: str) -> list[tuple[float, float]]:
    return [(a, b) for one in records if (a := one.scores.get(x)) is not None and (b := one.scores.get(y)) is not None]


def signed_interval(value: float, low: float | None, high: float | None) -> str:
    """A signed number with its interval, where there is one."""
    return f"{value:+.3f}" + (f" [{low:+.3f}, {high:+.3f}]" if low is not None and high is not None else "")


def _p(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"
