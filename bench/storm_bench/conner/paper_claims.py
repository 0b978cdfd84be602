"""The paper's claims on acquired knowledge, each as a number with an interval and what follows from it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from storm_bench.conner.correlation import somers_d
from storm_bench.conner.scoring import Record
from storm_bench.conner.study_records import StudySetup
from storm_bench.reporting.blocks import Grid
from storm_bench.reporting.markdown import grid
from storm_bench.reporting.tables import LEVEL
from storm_bench.reporting.wording import p_value, plural, smallest_possible_p
from storm_bench.significance import compare, holm, interval, smallest_p

_BETTER_GENERATED = ("relevance", "coherence_sentence", "coherence_paragraph", "helpfulness", "gain", "validity")
_WORSE_GENERATED = ("fact_consistent", "informativeness")
_LONGER = "zero-shot factuality falls with the number of sentences (Figure 2b)"
_VALID = "factuality of zero-shot knowledge goes with validity (Tables 5, 6)"
_OWN_POOL = "cannot fail: retrieved knowledge is checked against the pool that holds it"
_MINIMUM = "cannot fail: the score of the worst of more sentences can only be lower"
_SURPRISE = "cannot fail: the writer rates its own text, which it chose as the most probable"
_OWN_TEXT = "stand-in: the writer rates how probable its own sentences are"
_COSINE = "stand-in: a cosine rewards the query's words, which a writer repeats"
_ORDER = "stand-in: sentence order was learnt from leads that are retrieved here"
_GAIN = "counted twice: helpfulness without its bound at 0"
_JUDGE = "counted twice: one judge rates the knowledge and the answer that repeats it"


def not_counted(setup: StudySetup) -> dict[str, str]:
    """Why the claims on a measure, or of an exact wording, are no evidence in a study; measure or wording → reason.

    A reason rests on how a study is made, never on its numbers: rows that do not hold are left out like those that do.
    """
    found = {"fact_consistent": _OWN_POOL, _LONGER: _MINIMUM, "gain": _GAIN, _VALID: _JUDGE}
    if setup.writer == setup.lm:
        found |= {"informativeness": _SURPRISE, "coherence_sentence": _OWN_TEXT}
    if setup.matching.startswith("stand-in:"):
        found["relevance"] = _COSINE
    if setup.discourse.startswith("stand-in:"):
        found["coherence_paragraph"] = _ORDER
    return found


@dataclass(frozen=True)
class PaperClaim:
    """What the paper says and what was found."""

    says: str  # the claim, with its place
    dataset: str  # on which it was checked
    items: int  # how many pairs or items
    value: float  # the difference, or Somers' D
    # lower end of its 95 % interval: of a difference as in :class:`MeanInterval` (Student's t for few items, else
    # bootstrap), of Somers' D by the percentile bootstrap
    low: float
    high: float  # upper end
    sign: int  # 1 where the claim is that the value is above 0, -1 where below
    # of the permutation test of a difference, or of the asymptotic test of Somers' D; None where there is no test
    p: float | None
    is_difference: bool  # whether it is a paired difference, else an association

    @property
    def excludes_0(self) -> bool:
        """Whether the interval leaves out 0."""
        return self.low > 0 or self.high < 0

    def verdict(self, corrected: float | None) -> str:
        """``yes`` or ``no`` where the interval leaves out 0 and the corrected p is below 0.05, else ``open``."""
        if not (self.excludes_0 and _significant(corrected)):
            return "open"
        return "yes" if (self.value > 0) == (self.sign > 0) else "no"


def claims(records: Sequence[Record], pageviews: Mapping[str, int], setup: StudySetup) -> str:
    """A table of the claims that count and one of those that do not, with reasons; a row a claim and data set.

    P-values are corrected by Holm's method over both. Above them stands how many of those that count hold, and below
    them why an interval and a verdict can differ.
    """
    found = [*_differences(records), *_associations(records, pageviews)]
    corrected = holm([one.p for one in found])
    reasons = not_counted(setup)
    rows: dict[bool, list[tuple[str, ...]]] = {True: [], False: []}
    for one, p in zip(found, corrected, strict=True):
        reason = reasons.get(one.says.partition(": generated")[0])
        shown = signed_interval(one.value, one.low, one.high)
        cells = (one.says, one.dataset, str(one.items), shown, p_value(p), one.verdict(p))
        rows[reason is None].append(cells if reason is None else (*cells, reason))
    verdicts = [row[-1] for row in rows[True]]
    told = [
        f"Of {plural(len(verdicts), 'row')} that could have failed, {verdicts.count('yes')} hold, "
        f"{verdicts.count('no')} do not, {verdicts.count('open')} are open.",
        _table(rows[True]),
        "Rows that do not count: the study's making favours one outcome, or another row measures the same.",
        _table(rows[False], "why it does not count"),
        _explained(found, corrected),
    ]
    return "\n\n".join(told if rows[False] else (*told[:2], told[4]))


def _table(rows: Sequence[tuple[str, ...]], *more: str) -> str:
    columns = ("claim", "data", "n", "difference or D [95 % interval]", "p (Holm)", "holds here", *more)
    return grid(Grid.of(columns, rows, names=2))


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
        yield from _association(_LONGER, dataset, _pairs(own, "sentences", "fact_consistent"), -1)
        helps = "relevance of retrieved knowledge goes with helpfulness (Tables 5, 6)"
        yield from _association(helps, dataset, _pairs(got, "relevance", "helpfulness"), 1)
        yield from _association(_VALID, dataset, _pairs(own, "fact_consistent", "validity"), 1)
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
