"""Compiled sets: optimised programs as a folder of JSON files, described by ``set.json``.

Only instructions, descriptions of fields and examples are read from the files: no model, no address, no key.
"""

import hashlib
import json
from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from storm_pipeline.errors import ProgramError
from storm_pipeline.models.programs import Program, Programs
from storm_pipeline.text.files import cannot_write, read_json, write_atomically

FORMAT = 1  # version of the folder's format
_SET = "set.json"
_MOST = 20_000_000  # maximum bytes of a file of a set


@dataclass(frozen=True)
class Provenance:
    """Provenance of a compiled program."""

    sha256: str  # checksum of its file
    model: str  # the target model
    optimizer: str  # name of the optimiser
    metric: str  # name of the metric
    before: float  # mean of the metric on the held-out topics before compiling, in [0, 1]
    after: float  # the mean after compiling
    interval: tuple[float, float]  # 95 % interval of the mean of the paired differences
    topics: tuple[str, ...]  # topics of training and validation
    held_back: tuple[str, ...]  # topics on which ``before`` and ``after`` were measured
    seed: int  # of the optimiser
    calls: int  # number of calls for compiling
    dollars: float | None = None  # cost of the calls; None if unknown
    command: str = ""  # command that made it


@dataclass(frozen=True)
class CompiledSet:
    """A folder of compiled programs."""

    folder: Path  # its path
    versions: Mapping[str, str]  # of this package and DSPy at the time of writing
    programs: Mapping[str, Provenance] = field(default_factory=dict)  # name of a program → its provenance
    format: int = FORMAT  # of the folder

    def apply(self, programs: Programs) -> Programs:
        """Replace programs by those of the set. Raises ProgramError: a file is missing, changed, or wrong."""
        known = programs.named()
        loaded: dict[str, Program] = {}
        for name, compiled in self.programs.items():
            if name not in known:
                raise ProgramError(f"{self.folder} has a program {name!r}, which this version has not: compile it anew")
            file = self.folder / f"{name}.json"
            data = _read(file)
            if hashlib.sha256(data).hexdigest() != compiled.sha256:
                raise ProgramError(f"{file} was changed since it was compiled: restore it, or compile {name} anew")
            program = deepcopy(known[name])
            program.load_state(_object(file, data))
            loaded[name] = program
        return programs.replace(**loaded)


def read_set(folder: Path) -> CompiledSet:
    """Read ``set.json`` of a folder. Raises ProgramError: it is missing, damaged, or of a newer version."""
    file = folder / _SET
    content = _object(file, _read(file))
    if content.get("format") != FORMAT:
        raise ProgramError(f"{file} has the format {content.get('format')!r}, this version reads {FORMAT}")
    try:
        return TypeAdapter(CompiledSet).validate_python({**content, "folder": folder})
    except ValidationError as error:
        first = error.errors()[0]
        raise ProgramError(f"{file} is damaged: {'.'.join(map(str, first['loc']))}: {first['msg']}") from error


def programs_of(folder: Path | None) -> Programs:
    """Return the package's programs, some replaced by those of a compiled set. Raises ProgramError."""
    return read_set(folder).apply(Programs()) if folder else Programs()


def add_to_set(folder: Path, name: str, program: Program, compiled: Provenance, versions: Mapping[str, str]) -> None:
    """Write a program into a new or existing set. Raises ProgramError: it cannot be read or written."""
    before = read_set(folder).programs if (folder / _SET).exists() else {}
    states = {path: predictor.dump_state() for path, predictor in program.named_predictors()}
    state = {path: {"signature": p["signature"], "demos": p["demos"]} for path, p in states.items()}
    data = (json.dumps(state, ensure_ascii=False, indent=1) + "\n").encode()
    record = {**vars(compiled), "sha256": hashlib.sha256(data).hexdigest()}
    listed = {**{other_name: vars(earlier) for other_name, earlier in before.items()}, name: record}
    content = {"format": FORMAT, "versions": dict(versions), "programs": listed}
    try:
        folder.mkdir(parents=True, exist_ok=True)
        write_atomically(folder / f"{name}.json", data)
        write_atomically(folder / _SET, json.dumps(content, ensure_ascii=False, indent=1) + "\n")
    except OSError as error:
        raise ProgramError(cannot_write(folder, error)) from error


def _read(file: Path) -> bytes:
    try:
        return read_json(file, _MOST)
    except FileNotFoundError as error:
        raise ProgramError(f"{file} is missing: name the folder of a set (`storm compile` makes one)") from error
    except OSError as error:
        raise ProgramError(f"cannot read {file}: {error.strerror or error}") from error


def _object(file: Path, data: bytes) -> dict[str, Any]:
    try:
        content = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise ProgramError(f"{file} is damaged: it is not JSON") from error
    if not isinstance(content, dict):
        raise ProgramError(f"{file} is damaged: it is not a JSON object")
    return content
