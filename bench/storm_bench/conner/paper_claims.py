"""The paper's claims on acquired knowledge, each as a number with an interval and what follows from it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from storm_bench.conner.correlation import somers_d
from storm_bench.conner.scoring import Record
from storm_bench.reporting.blocks import Cell, Grid
from storm_bench.reporting.markdown import grid
from storm_bench.reporting.tables import LEVEL
from storm_bench.reporting.wording import p_value, plural, smallest_possible_p
from storm_bench.significance import compare, holm, interval, smallest_p

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
        low: lower end of its 95 % interval: of a difference as in :class:`MeanInterval` (Student's t for few items,
            else bootstrap), of Somers' D by the percentile bootstrap.
        high: upper end.
        sign: 1 where the claim is that the value is above 0, -1 where below.
        p: of the permutation test of a difference, or of the asymptotic test of Somers' D; None where there is no test.
        is_difference: whether it is a paired difference, else an association.
    """

    says: str
    dataset: str
    items: int
    value: float
    low: float
    high: float
    sign: int
    p: float | None
    is_difference: bool

    @property
    def excludes_0(self) -> bool:
        """Whether the interval leaves out 0."""
        return self.low > 0 or self.high < 0

    def verdict(self, corrected: float | None) -> str:
        """``yes`` or ``no`` where the interval leaves out 0 and the corrected p is below 0.05, else ``open``."""
        if not (self.excludes_0 and _significant(corrected)):
            return "open"
        return "yes" if (self.value > 0) == (self.sign > 0) else "no"


def claims(records: Sequence[Record], pageviews: Mapping[str, int]) -> str:
    """A table, a row a claim and data set, and below it why an interval and a verdict can differ.

    P-values are corrected by Holm's method over the whole table.

    Args:
        records: of the four kinds of knowledge, for the same items.
        pageviews: item → views of its topic's page.
    """
    found = [*_differences(records), *_associations(records, pageviews)]
    corrected = holm([one.p for one in found])
    rows = [
        (
            one.says,
            one.dataset,
            str(one.items),
            signed_interval(one.value, one.low, one.high),
            p_value(p),
            one.verdict(p),
        )
        for one, p in zip(found, corrected, strict=True)
    ]
    columns = ("claim", "data", "n", "difference or D [95 % interval]", "p (Holm)", "holds here")
    table = grid(Grid(columns, tuple(tuple(Cell(text) for text in row) for row in rows), 2))
    return f"{table}\n\n{_explained(found, corrected)}"


def _explained(found: Sequence[PaperClaim], corrected: Sequence[float | None]) -> str:
    """What `open` means, where interval and p disagree, and the smallest p that is possible."""
    split = sum(one.excludes_0 != _significant(p) for one, p in zip(found, corrected, strict=True))
    text = (
        "`open` means that the interval contains 0 or that the corrected p is 0.05 or more; in "
        f"{split} of {plural(len(found), 'row')} only one of the two holds: intervals are not corrected for the number "
        "of rows and rest on other assumptions than the tests."
    )
    counts = [one.items for one in found if one.is_difference]
    if not counts:
        return text
    floor = min(p for count in counts if (p := smallest_p(count)) is not None)
    before = sum(one.p is not None and one.p < floor for one in found)  # Holm's method corrects these first
    tests = sum(one.p is not None for one in found)
    return f"{text} {smallest_possible_p(counts, 'item', tests - before)}"


def _significant(corrected: float | None) -> bool:
    return corrected is not None and corrected < LEVEL


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
    low, high = own.low or 0.0, own.high or 0.0
    yield PaperClaim(says, dataset, len(shared), own.mean, low, high, sign, tested.permutation, is_difference=True)


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
        yield PaperClaim(says, dataset, found.items, found.d, found.low, found.high, sign, found.p, is_difference=False)


def _pairs(records: Sequence[Record], x: str, y: str) -> list[tuple[float, float]]:
    return [(a, b) for one in records if (a := one.scores.get(x)) is not None and (b := one.scores.get(y)) is not None]


def signed_interval(value: float, low: float | None, high: float | None) -> str:
    """A signed number with its interval, where there is one."""
    return f"{value:+.3f}" + (f" [{low:+.3f}, {high:+.3f}]" if low is not None and high is not None else "")
