"""What all records of a study have in common, kept beside them, so that no folder holds records of two setups."""

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from storm_bench.errors import ExperimentError
from storm_pipeline.api import cannot_write, write_atomically

_NAME = "study.json"


class StudySetup(BaseModel):
    """How knowledge was acquired and scored; the numbers of items, answers and choices, which may grow, are left out.

    Attributes:
        writer: name of the model that writes knowledge and answers.
        inference: name of the model of eq. 1, 7 and 8.
        evidence: name of what finds evidence and retrieved knowledge.
        matching: name of the model of eq. 2.
        discourse: name of the model of eq. 4.
        lm: name of the model of eq. 3 and 5.
        downstream: name of the model of eq. 6.
        words: to which knowledge is cut.
        passages: that a sentence is checked against.
        demonstrations: n, of a few-shot prompt for knowledge.
        candidates: m, from which these are chosen.
        answer_demonstrations: of a prompt for answers.
        random_knowledge: u of eq. 6.
        samples: r, of knowledge selection.
        top_p: with which they are drawn.
        texts: fingerprint of the data and of the wording of the prompts.
    """

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid")

    writer: str
    inference: str
    evidence: str
    matching: str
    discourse: str
    lm: str
    downstream: str
    words: int
    passages: int
    demonstrations: int
    candidates: int
    answer_demonstrations: int
    random_knowledge: int
    samples: int
    top_p: float
    texts: str


def fingerprint(texts: Iterable[str]) -> str:
    """Twelve hexadecimal digits that change with any text and with their order."""
    return hashlib.sha256(json.dumps(list(texts)).encode()).hexdigest()[:12]


def read_setup(records: Path) -> StudySetup:
    """The setup of the records of a file.

    Raises:
        ExperimentError: it is absent, as beside records of earlier versions, or damaged.
    """
    file = records.with_name(_NAME)
    try:
        return StudySetup.model_validate_json(file.read_bytes())
    except (OSError, ValueError) as error:
        raise ExperimentError(
            f"{file} does not say how {records.name} was measured ({str(error).splitlines()[0]}): choose another --out "
            "and measure there"
        ) from error


def require_setup(records: Path, setup: StudySetup) -> None:
    """Describe the records that are to come, or check that those which are there were measured with the same setup.

    Raises:
        ExperimentError: they were measured with another setup or an unknown one, or the setup cannot be written.
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
