"""The tables of a study as Markdown: means, correlations, the two uses, and the paper's claims with intervals."""

from collections.abc import Iterable, Mapping, Sequence

from storm_bench.conner.correlation import Correlation, somers_d
from storm_bench.conner.knowledge_selection import Quality, choose_knowledge
from storm_bench.conner.paper_claims import claims, signed_interval
from storm_bench.conner.perspectives import DiscourseModel
from storm_bench.conner.scoring import EXTRINSIC, INTRINSIC, Record
from storm_bench.conner.study_records import KINDS, SAMPLES, SELECTED, StudySetup, fitted, measured
from storm_bench.datasets.conner import KnowledgeItem
from storm_bench.reporting.blocks import Grid
from storm_bench.reporting.markdown import grid
from storm_bench.reporting.tables import LEVEL
from storm_bench.reporting.wording import listed, p_value, smallest_possible_p
from storm_bench.significance import SMALL, compare, interval
from storm_pipeline.api import split_sentences

NONE = "–"
WRITTEN = ("zero-shot", "few-shot")
"""Kinds of knowledge that a model writes."""
_SMALL_MEAN = 0.05  # means below it are given with three digits
_MEANS = (
    "fact_consistent", "fact_non_verified", "fact_inconsistent", "fact_mean", "fact_max", "relevance",
    "coherence_sentence", "coherence_paragraph", "informativeness", "helpfulness", "gain", "validity", "f1", "words",
)  # fmt: skip
_GROUPS: Mapping[str, tuple[str, ...]] = {
    "retrieved": ("retrieved",),
    "zero-shot": ("zero-shot",),
    "generated": WRITTEN,
}


def to_markdown(records: Sequence[Record], pageviews: Mapping[str, int], setup: StudySetup) -> str:
    """All tables. Raises ExperimentError: too little was measured."""
    quality = fitted(records)
    main = [one for one in measured(records) if one.kind in KINDS]
    parts = [
        "## Setup",
        grid(Grid.of(("setting", "value"), [(name, str(value)) for name, value in setup], names=2)),
        "## Means (Tables 2 and 3)",
        f"In brackets the 95 % interval over items: Student's t up to {SMALL} items, else BCa bootstrap.",
        *(f"### {name}\n\n{_means([one for one in main if one.dataset == name])}" for name in _datasets(main)),
        "## Somers' D of the extrinsic measures given the intrinsic ones (Tables 5, 6 and 15)",
        "† p < 0.05, not corrected; in brackets the 95 % bootstrap interval over items. n counts pieces of knowledge; "
        "under `generated` two belong to one item, which the interval allows for and p does not. p is "
        "asymptotic, so † and interval can disagree.",
        *(f"### {name}\n\n{_correlations([one for one in main if one.dataset == name])}" for name in _datasets(main)),
        "## The paper's claims",
        claims(main, pageviews, setup),
        "## Choosing demonstrations (Table 7)",
        _demonstrations(records),
        "## Choosing knowledge (Table 8)",
        _gamma(quality),
        _knowledge(records, quality),
    ]
    return "\n\n".join(parts)


def _means(records: Sequence[Record]) -> str:
    rows = [_kind_means(kind, [one for one in records if one.kind == kind]) for kind in KINDS]
    return grid(Grid.of(("knowledge", "items", *_MEANS), rows))


def _kind_means(kind: str, records: Sequence[Record]) -> tuple[str, ...]:
    values = [[value for one in records if (value := one.scores.get(name)) is not None] for name in _MEANS]
    return (kind, str(len(records)), *(_mean(some, len(records)) for some in values))


def by_writer(studies: Mapping[str, Sequence[Record]]) -> str:
    """Table 16: means of generated knowledge by the model that wrote it, a table a data set.

    ``studies``: writer → its study's records, in the order of the rows, such as by size.
    """
    main = {writer: [one for one in measured(own) if one.kind in WRITTEN] for writer, own in studies.items()}
    parts = []
    for name in _datasets(one for own in main.values() for one in own):
        rows = [
            (writer, *_kind_means(kind, [one for one in own if (one.dataset, one.kind) == (name, kind)]))
            for kind in WRITTEN
            for writer, own in main.items()
        ]
        parts.append(f"## {name}\n\n{grid(Grid.of(('writer', 'knowledge', 'items', *_MEANS), rows, names=2))}")
    return "\n\n".join(parts)


def _mean(values: Sequence[float], items: int) -> str:
    if not values:
        return NONE
    found = interval(values)
    digits = 3 if 0 < abs(found.mean) < _SMALL_MEAN else 2
    known = found.low is not None and found.high is not None
    ends = f" [{found.low:.{digits}f}, {found.high:.{digits}f}]" if known else ""
    return f"{found.mean:.{digits}f}{ends}" + (f" (n = {len(values)})" if len(values) != items else "")


def _correlations(records: Sequence[Record]) -> str:
    rows = []
    for group, kinds in _GROUPS.items():
        own = [one for one in records if one.kind in kinds]
        for extrinsic in EXTRINSIC:
            cells = [_correlation(own, intrinsic, extrinsic) for intrinsic in INTRINSIC]
            known = sum(one.scores.get(extrinsic) is not None for one in own)
            rows.append((group, extrinsic, str(known), *cells))
    return grid(Grid.of(("knowledge", "extrinsic", "n", *INTRINSIC), rows, names=2))


def _correlation(records: Iterable[Record], intrinsic: str, extrinsic: str) -> str:
    known = [
        (x, y, one.item)
        for one in records
        if (x := one.scores.get(intrinsic)) is not None and (y := one.scores.get(extrinsic)) is not None
    ]
    found = somers_d([x for x, _, _ in known], [y for _, y, _ in known], [item for _, _, item in known])
    return str(found) if found else NONE


def _demonstrations(records: Sequence[Record]) -> str:
    """Chosen against random demonstrations on the same items."""
    chosen = [one for one in records if one.kind == SELECTED]
    random = [one for one in measured(records) if one.kind == "few-shot" and one.dataset == "nq"]
    return _against(("random demonstrations", random), ("chosen by Q", chosen), (*INTRINSIC, "helpfulness"))


def _knowledge(records: Sequence[Record], quality: Quality) -> str:
    """The candidate of highest Q against the first one and against the best in hindsight, item by item."""
    items: dict[str, list[Record]] = {}
    for one in records:
        if one.kind in SAMPLES and one.intrinsic() is not None:
            items.setdefault(one.item, []).append(one)
    whole = [own for own in items.values() if len(own) == len(SAMPLES)]

    def score(one: Record) -> float:
        own = one.intrinsic()
        return quality.of(own) if own else float("-inf")

    def gain(one: Record) -> float:
        own = one.scores.get("gain")
        return float("-inf") if own is None else own

    first = [next(one for one in own if one.kind == SAMPLES[0]) for own in whole]
    chosen = [choose_knowledge(own, score) for own in whole]
    best = [choose_knowledge(own, gain) for own in whole]
    measures = ("helpfulness", "gain", "validity", "f1")
    found = _against(("first sample", first), ("chosen by Q", chosen), measures)
    return f"{found}\n\n{_against(('first sample', first), ('most helpful in hindsight', best), measures)}"


def _against(one: tuple[str, Sequence[Record]], other: tuple[str, Sequence[Record]], measures: Sequence[str]) -> str:
    """Means of two ways over the items that both have, the paired difference, and why interval and p can disagree."""
    rows: list[tuple[str, ...]] = []
    counts: list[int] = []
    split: list[str] = []
    for name in measures:
        a, b = (_by_item(records, name) for _, records in (one, other))
        shared = sorted(a.keys() & b.keys())
        if not shared:
            continue
        tested = compare(b, a)
        differences = interval([b[item] - a[item] for item in shared])
        before, after = (_mean([own[item] for item in shared], len(shared)) for own in (a, b))
        if tested.permutation is not None and differences.low is not None and differences.high is not None:
            counts.append(len(shared))
            if (tested.permutation < LEVEL) != (differences.low > 0 or differences.high < 0):
                split.append(name)
        change = signed_interval(differences.mean, differences.low, differences.high)
        rows.append((name, str(len(shared)), before, after, change, p_value(tested.permutation)))
    if not rows:
        return f"Not measured: {one[0]} beside {other[0]}."
    table = grid(Grid.of(("measure", "items", one[0], other[0], "difference", "p"), rows))
    return f"{table}\n\n{_explained(counts, split)}" if counts else table


def _explained(counts: Sequence[int], split: Sequence[str]) -> str:
    """Where interval and p disagree, and the smallest p that is possible."""
    other = f"Interval and p disagree on {listed(split)}: they rest on different assumptions. " if split else ""
    return f"p is not corrected. {other}{smallest_possible_p(counts, 'item', 1)}"


def _by_item(records: Iterable[Record], name: str) -> dict[str, float]:
    return {one.item: value for one in records if (value := one.scores.get(name)) is not None}


def _gamma(quality: Quality) -> str:
    names = ("factuality", "relevance", "coherence", "informativeness")
    told = ", ".join(f"{name} {getattr(quality, name):+.3f}" for name in names)
    return f"Gamma, fitted to the gain in helpfulness of the items of Table 2, which none of these belongs to: {told}."


def _datasets(records: Iterable[Record]) -> list[str]:
    return list(dict.fromkeys(one.dataset for one in records))


def beside_published(
    items: Sequence[KnowledgeItem],
    coherence: Sequence[float | None],
    perplexity: Sequence[float | None],
    discourse: DiscourseModel,
    records: Sequence[Record],
) -> str:
    """Two sentences of Markdown: Somers' D of our scores given the published ones.

    Args:
        items: all rows of Natural Questions; their whole references are scored for coherence.
        coherence: published scores of Coherence-Momentum, one a row.
        perplexity: published perplexities, one a row; their inverses are compared with eq. 3.
        records: of a study; only references that were scored whole are compared.
    """
    own = discourse.coherences([split_sentences(item.reference) for item in items])
    pairs = [(known, score) for known, score in zip(coherence, own, strict=True) if known is not None]
    found = somers_d([x for x, _ in pairs], [y for _, y in pairs])
    whole = {one.item: one for one in records if one.kind == "reference"}
    sentence = [
        (1 / known, value)
        for item, known in zip(items, perplexity, strict=True)
        if known and (one := whole.get(item.id)) and one.knowledge == item.reference
        if (value := one.scores.get("coherence_sentence")) is not None
    ]
    other = somers_d([x for x, _ in sentence], [y for _, y in sentence]) if sentence else None
    return (
        "## The stand-ins beside the paper's own scores\n\n"
        f"Somers' D of `{discourse.name}` given Coherence-Momentum's published scores of the reference knowledge of "
        f"Natural Questions: {_told(found)}. Of eq. 3 given the inverse of GPT-neo's published perplexity: "
        f"{_told(other)}."
    )


def _told(found: Correlation | None) -> str:
    return f"{found} (n = {found.items})" if found else "not enough items"
