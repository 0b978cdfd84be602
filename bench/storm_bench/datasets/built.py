"""Data sets that were built here: a folder of topics as they are read, one a file."""

import hashlib
import re
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from storm_bench.datasets.dataset import DataSet, damaged, read_json, read_topics, write_json
from storm_bench.folders import folder_to_write, without_links
from storm_bench.types import Topic, TopicRead
from storm_pipeline import DatasetError

BUILD = ".build"
"""Folder of cached service responses inside a built data set; may be deleted after the build."""
TOPICS, _SUFFIX = "topics", ".json.gz"
"""Folder of the topics inside a built data set."""
_TOPIC = TypeAdapter(Topic)
_LONGEST_NAME = 150  # bytes
_UNSAFE = re.compile(r'[/\\:*?"<>|\x00-\x1f]')


def folder_to_build(folder: Path) -> Path:
    """Check that a data set may be built in a folder: it is new, or an earlier build created it.

    Raises DatasetError: it is or holds a link, or it holds a data set from elsewhere, which a build would overwrite.
    """
    folder = without_links(folder_to_write(folder))
    if folder.is_dir() and not (folder / BUILD).is_dir() and any(folder.iterdir()):
        raise DatasetError(f"{folder} holds a data set that was not built here; choose an empty folder")
    return folder


def write_topics(folder: Path, topics: Iterable[Topic]) -> None:
    """Write the topics of a built data set, a file each, and delete those of an earlier build.

    Raises DatasetError: they cannot be written.
    """
    files = {folder / TOPICS / f"{topic.id}{_SUFFIX}": topic for topic in topics}
    for old in set(folder.glob(f"{TOPICS}/*{_SUFFIX}")) - files.keys():
        old.unlink()
    for file, topic in files.items():
        write_json(file, asdict(topic))


def read_built(name: str, folder: Path) -> DataSet | None:
    """Read the topics of a data set that was built here, ordered by number or name; None if the folder has none.

    Raises DatasetError: as :func:`read_topics`.
    """
    files = {file.name.removesuffix(_SUFFIX): file for file in folder.glob(f"{TOPICS}/[!.]*{_SUFFIX}")}
    order = sorted(files, key=lambda own: (int(own) if own.isdecimal() else 0, own))
    read = (files[own] for own in order)
    return read_topics(name, folder, read, _topic) if files else None


def _topic(name: str) -> Iterator[TopicRead]:
    file = Path(name)
    value = read_json(file)
    try:
        yield _TOPIC.validate_python(value), ()
    except ValidationError as error:
        raise damaged(file, error) from error


def file_name(title: str) -> str:
    """Return a title as the name of a file: spaces and unsafe characters are underscores; no two titles share one."""
    name = _UNSAFE.sub("_", title.replace(" ", "_")).lstrip(".")
    if name == title.replace(" ", "_") and len(name.encode()) <= _LONGEST_NAME:
        return name
    # A changed or shortened title gets a hash.
    short = name.encode()[:_LONGEST_NAME].decode("utf-8", "ignore")
    return f"{short}-{hashlib.sha256(title.encode()).hexdigest()[:8]}"
