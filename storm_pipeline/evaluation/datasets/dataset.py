"""A data set as the experiments use it, and how its files are read and written."""

import gzip
import json
import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from storm_pipeline.errors import DatasetError
from storm_pipeline.evaluation.types import Topic
from storm_pipeline.files import write_atomically

M = TypeVar("M", bound=BaseModel)

BUILD = ".build"
"""Folder beside a built data set with what the services answered; may be deleted when the build is done."""


@dataclass(frozen=True)
class DataSet:
    """Topics with what people wrote about them.

    Attributes:
        name: short and stable: ``freshwiki`` or ``wikigenbench``.
        topics: in the order of their ids.
        problems: what was skipped or mended, and why: one sentence each, naming the file.
    """

    name: str
    topics: tuple[Topic, ...]
    problems: tuple[str, ...] = ()

    def only(self, ids: Iterable[str]) -> "DataSet":
        """The data set with some of its topics, in the order asked for.

        Raises:
            DatasetError: it has no topic of an id.
        """
        known = {topic.id: topic for topic in self.topics}
        wanted = list(ids)
        if missing := [name for name in wanted if name not in known]:
            raise DatasetError(f"{self.name} has no topic {missing[0]!r}; it has {', '.join(sorted(known)[:5])} …")
        return DataSet(self.name, tuple(known[name] for name in wanted), self.problems)


def folder_of(folder: Path, *parts: str) -> Path:
    """A folder's folders, checked to be there.

    Raises:
        DatasetError: one of them is not.
    """
    folder = Path(folder).expanduser()
    for part in parts:
        if not (folder / part).is_dir():
            raise DatasetError(f"{folder} is no such data set: it has no folder {part}/; check the path or build one")
    return folder


def folder_to_build(folder: Path, *parts: str) -> Path:
    """A folder that a data set may be built in: one without such folders, or one that an earlier build made.

    Raises:
        DatasetError: it holds a data set from elsewhere, which a build would mix up or overwrite.
    """
    folder = Path(folder).expanduser()
    if not (folder / BUILD).is_dir() and any(any((folder / part).glob("*")) for part in parts):
        raise DatasetError(f"{folder} holds a data set that was not built here; choose an empty folder")
    return folder


def remove_others(folder: Path, kept: Iterable[str]) -> None:
    """Remove from a folder of a built data set the files of an earlier plan: those whose names are not kept."""
    names = set(kept)
    for file in list(folder.glob("*.*")):
        if file.stem not in names:
            file.unlink()


def read_model(file: Path, model: type[M]) -> M:
    """A JSON file as a model.

    Raises:
        DatasetError: it is absent or damaged; names file and place.
    """
    try:
        return model.model_validate(read_json(file))
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"])) or "its top"
        raise DatasetError(f"{file} is damaged at {where}: {first['msg'].lower()}; fetch or build it anew") from error


def read_json(file: Path) -> Any:
    """The value in a JSON file, which may be compressed: ``NAME.json.gz``.

    Raises:
        DatasetError: it cannot be read or is no JSON.
    """
    try:
        data = file.read_bytes()
        return json.loads(gzip.decompress(data) if file.suffix == ".gz" else data)
    except (gzip.BadGzipFile, zlib.error, EOFError) as error:
        raise DatasetError(f"{file} is damaged: it cannot be decompressed; fetch it anew") from error
    except OSError as error:
        raise DatasetError(f"{file} cannot be read ({error.strerror}); fetch or build it anew") from error
    except (ValueError, RecursionError) as error:
        raise DatasetError(f"{file} is damaged: it is no JSON; fetch or build it anew") from error


def write_json(file: Path, value: Any) -> None:
    """Write a value as JSON in place of the file, which is the old or the new one, whole, at any moment.

    Raises:
        DatasetError: it cannot be written.
    """
    write_text(file, json.dumps(value, ensure_ascii=False, indent=1) + "\n")


def write_text(file: Path, text: str) -> None:
    """Write a text in place of the file, as :func:`write_json` does."""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(file, text.encode("utf-8", "replace").decode("utf-8"))
    except OSError as error:
        raise DatasetError(f"cannot write {file}: {error.strerror}; choose another folder") from error
