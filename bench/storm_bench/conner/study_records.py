"""The records of a study: their kinds, their file, and gamma, which is fitted to some of them."""

import hashlib
import json
from collections.abc import Iterable, Sequence
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from storm_bench.conner.knowledge_selection import Intrinsic, Quality, fit_quality
from storm_bench.conner.scoring import Record
from storm_bench.errors import ExperimentError
from storm_pipeline.api import cannot_write, write_atomically

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

    Raises ExperimentError: too little was measured.
    """
    known = _fit_to(records)
    if len(known) < 2:
        raise ExperimentError("too little was measured to fit gamma: measure on with `storm experiment conner run`")
    return fit_quality([own for own, _ in known], [gain for _, gain in known])


def fit_size(records: Sequence[Record]) -> int:
    """How many records gamma is fitted to. A study's records only grow, so this number names the fit."""
    return len(_fit_to(records))


def append_records(file: Path, records: Iterable[Record]) -> None:
    """Add records to a study, one JSON object a line. Raises ExperimentError: the file cannot be written."""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with file.open("a", encoding="utf-8") as lines:
            lines.writelines(json.dumps(one.to_json()) + "\n" for one in records)
    except OSError as error:
        raise ExperimentError(f"{cannot_write(file, error)}, or choose another --out") from error


def read_records(file: Path) -> tuple[Record, ...]:
    """The records of a study, in the order in which they were made; of a unit that stands twice the last.

    Records whose demonstrations were chosen by a gamma that was fitted to fewer records are left out. Raises
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


_NAME = "study.json"


class StudySetup(BaseModel):
    """How knowledge was acquired and scored; numbers of items, answers and choices, which may grow, are left out."""

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid")

    writer: str  # name of the model that writes knowledge and answers
    inference: str  # name of the model of eq. 1, 7 and 8
    evidence: str  # name of what finds evidence and retrieved knowledge
    matching: str  # name of the model of eq. 2
    discourse: str  # name of the model of eq. 4
    lm: str  # name of the model of eq. 3 and 5
    downstream: str  # name of the model of eq. 6
    words: int  # to which knowledge is cut
    passages: int  # that a sentence is checked against
    demonstrations: int  # n, of a few-shot prompt for knowledge
    candidates: int  # m, from which these are chosen
    answer_demonstrations: int  # of a prompt for answers
    random_knowledge: int  # u of eq. 6
    samples: int  # r, of knowledge selection
    top_p: float  # with which they are drawn
    texts: str  # fingerprint of the data and of the wording of the prompts


def fingerprint(texts: Iterable[str]) -> str:
    """Twelve hexadecimal digits that change with any text and with their order."""
    return hashlib.sha256(json.dumps(list(texts)).encode()).hexdigest()[:12]


def read_setup(records: Path) -> StudySetup:
    """The setup of the records of a file.

    Raises ExperimentError: it is absent, as beside records of earlier versions, or damaged.
    """
    file = records.with_name(_NAME)
    try:
        return StudySetup.model_validate_json(file.read_bytes())
    except (OSError, ValueError) as error:
        raise ExperimentError(
            f"{file} does not say how {records.name} was measured ({str(error).splitlines()[0]}): choose another --out "
            "and measure there"
        ) from error


def read_studies(files: Sequence[Path]) -> dict[str, tuple[Record, ...]]:
    """The records of several writers' studies, by writer, in order.

    Raises ExperimentError: a file cannot be read, a writer has two, or they differ in more than the writer.
    """
    setups = [read_setup(file) for file in files]
    names = [setup.writer for setup in setups]
    first, *others = (setup.model_dump(exclude={"writer"}) for setup in setups)
    apart = sorted({name for other in others for name in first if other[name] != first[name]})
    if apart or len(set(names)) < len(names):
        why = f"they differ in {', '.join(apart)}" if apart else f"two of them are by one writer ({', '.join(names)})"
        raise ExperimentError(f"these studies cannot stand side by side: {why}; measure with the same settings")
    return {name: read_records(file) for name, file in zip(names, files, strict=True)}


def require_setup(records: Path, setup: StudySetup) -> None:
    """Describe the records that are to come, or check that those which are there were measured with the same setup.

    Raises ExperimentError: they were measured with another setup or an unknown one, or the setup cannot be written.
    """
    file = records.with_name(_NAME)
    if records.exists():
        before, now = read_setup(records).model_dump(), setup.model_dump()
        if different := [f"{name} {before[name]!r} (now {now[name]!r})" for name in now if before[name] != now[name]]:
            raise ExperimentError(
                f"the records in {records.parent} were measured with {', '.join(different)}: measure with the same, or "
                "choose another --out"
            )
        return
    try:
        records.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(file, setup.model_dump_json(indent=1) + "\n")
    except OSError as error:
        raise ExperimentError(f"{cannot_write(file, error)}, or choose another --out") from error
