"""How articles came about: how often they were edited, and how their references grew (STORM, Figures 4 and 5)."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, ValidationError

from storm_pipeline.errors import DatasetError
from storm_pipeline.evaluation.datasets.dataset import write_text

FILE = "histories.jsonl"
"""A line an article in the folder of a data set that was built with histories; the original has no such file."""


@dataclass(frozen=True)
class EditHistory:
    """The edits of one article up to the revision that the data set holds.

    Attributes:
        edits: how many, >= 1.
        references: number of an edit, from 1, and references in the article after it; in order, some edits only.
    """

    edits: int
    references: tuple[tuple[int, int], ...] = ()


class _Line(BaseModel):
    id: str
    edits: int
    references: list[tuple[int, int]] = []


def write_histories(folder: Path, histories: Mapping[str, EditHistory]) -> None:
    """Keep the histories of topics, by their ids, with a data set.

    Raises:
        DatasetError: they cannot be written.
    """
    lines = (
        json.dumps({"id": name, "edits": history.edits, "references": history.references}, ensure_ascii=False)
        for name, history in histories.items()
    )
    write_text(folder / FILE, "".join(f"{line}\n" for line in lines))


def read_histories(folder: Path) -> dict[str, EditHistory]:
    """The histories kept with a data set, by topic; empty where it was built without.

    Raises:
        DatasetError: the file is damaged.
    """
    file = Path(folder).expanduser() / FILE
    if not file.is_file():
        return {}
    found = {}
    for number, line in enumerate(file.read_text(encoding="utf-8", errors="replace").splitlines(), 1):
        try:
            read = _Line.model_validate_json(line)
        except ValidationError as error:
            raise DatasetError(f"{file} is damaged in line {number}; delete it or build the data set anew") from error
        found[read.id] = EditHistory(read.edits, tuple(read.references))
    return found
