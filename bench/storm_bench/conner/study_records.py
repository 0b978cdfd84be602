"""The records of a study: their kinds, their file, and gamma, which is fitted to some of them."""

import json
from collections.abc import Iterable, Sequence
from pathlib import Path

from storm_bench.conner.knowledge_selection import Intrinsic, Quality, fit_quality
from storm_bench.conner.scoring import Record
from storm_bench.errors import ExperimentError
from storm_pipeline.api import cannot_write

KINDS = ("reference", "retrieved", "zero-shot", "few-shot")
SELECTED = "few-shot, chosen"
SAMPLES = tuple(f"sample {place}" for place in range(1, 6))
"""r = 5 samples at p = 0.9, zero-shot."""
CHOICES = 300
"""Row from which the items of knowledge selection are taken: on them nothing is fitted."""


def measured(records: Sequence[Record]) -> list[Record]:
    """Those of the items that the tables are about: no examples of demonstrations, no items of knowledge selection."""
    return [one for one in records if int(one.item.rpartition("-")[2]) < CHOICES]


def fitted(records: Sequence[Record]) -> Quality:
    """Gamma of eq. 9, fitted to the gain in helpfulness of all kinds of the first data set's measured items.

    Raises:
        ExperimentError: too little was measured.
    """
    known = _fit_to(records)
    if len(known) < 2:
        raise ExperimentError("too little was measured to fit gamma: measure on with `storm experiment conner run`")
    return fit_quality([own for own, _ in known], [gain for _, gain in known])


def fit_size(records: Sequence[Record]) -> int:
    """How many records gamma is fitted to. A study's records only grow, so this number names the fit."""
    return len(_fit_to(records))


def append_records(file: Path, records: Iterable[Record]) -> None:
    """Add records to a study, one JSON object a line.

    Raises:
        ExperimentError: the file cannot be written.
    """
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with file.open("a", encoding="utf-8") as lines:
            lines.writelines(json.dumps(one.to_json()) + "\n" for one in records)
    except OSError as error:
        raise ExperimentError(f"{cannot_write(file, error)}, or choose another --out") from error


def read_records(file: Path) -> tuple[Record, ...]:
    """The records of a study, in the order in which they were made; of a unit that stands twice the last.

    Records whose demonstrations were chosen by a gamma that was fitted to fewer records are left out.

    Raises:
        ExperimentError: the file is absent or damaged.
    """
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
        found = [Record.from_json(json.loads(line)) for line in lines if line.strip()]
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise ExperimentError(f"{file} cannot be read ({error}): measure with `storm experiment conner run`") from error
    latest = tuple({(one.kind, one.item): one for one in found}.values())
    size = fit_size(latest)
    return tuple(one for one in latest if one.kind != SELECTED or one.fit == size)


def _fit_to(records: Sequence[Record]) -> list[tuple[Intrinsic, float]]:
    """Scores and gain of the records that gamma is fitted to."""
    return [
        (own, gain)
        for one in measured(records)
        if one.kind in KINDS and one.dataset == "nq"
        if (own := one.intrinsic()) is not None and (gain := one.scores.get("gain")) is not None
    ]
