"""Edit histories of articles: number of edits and growth of references (STORM, Figures 4 and 5)."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, ValidationError

from storm_bench.datasets.dataset import write_text
from storm_pipeline import DatasetError

FILE = "histories.jsonl"
"""File in a data set built with histories, one line per article; the original has no such file."""


@dataclass(frozen=True)
class EditHistory:
    """The edits of one article up to the data set's revision."""

    edits: int  # number of edits, >= 1
    # (edit number from 1, references after that edit) for a sample of edits, in order
    references: tuple[tuple[int, int], ...] = ()


class _Line(BaseModel):
    id: str
    edits: int
    references: list[tuple[int, int]] = []


def write_histories(folder: Path, histories: Mapping[str, EditHistory]) -> None:
    """Write topics' histories, keyed by topic id, into a data set. Raises DatasetError: they cannot be written."""
    lines = (
        json.dumps({"id": name, "edits": history.edits, "references": history.references}, ensure_ascii=False)
        for name, history in histories.items()
    )
    write_text(folder / FILE, "".join(f"{line}\n" for line in lines))


def read_histories(folder: Path) -> dict[str, EditHistory]:
    """Read a data set's histories by topic id; empty if it has none. Raises DatasetError: the file is damaged."""
    file = Path(folder).expanduser() / FILE
    if not file.is_file():
        return {}
    found = {}
    for number, line in enumerate(file.read_text(encoding="utf-8", errors="replace").splitlines(), 1):
        try:
            read = _Line.model_validate_json(line)
        except ValidationError as error:
            raise DatasetError(f"{file} is damaged in line {number}; delete it or rebuild the data set") from error
        found[read.id] = EditHistory(read.edits, tuple(read.references))
    return found
