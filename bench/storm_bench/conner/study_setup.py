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
