"""What files were read as, kept on disk, so that a folder is read once and not at every run."""

from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from storm_pipeline.documents.document import Document, Unreadable
from storm_pipeline.documents.record import Record
from storm_pipeline.sqlite_cache import SqliteCache
from storm_pipeline.types import Work

_VERSION = 7  # incremented when files are read otherwise than before
FILE = "documents.sqlite"
"""Name of the file in the cache folder."""


class KeptDocuments:
    """Documents by file, as long as the file's size and time of change are the same."""

    def __init__(self, folder: Path) -> None:
        self._cache = SqliteCache(folder / FILE)

    def read(self, file: Path, read: Callable[[Path], Iterator[Document | Unreadable]]) -> list[Document | Unreadable]:
        """What a file holds: as kept, else as ``read`` reads it, which is then kept."""
        try:
            stat = file.stat()
            key = f"{_VERSION} {file.resolve()} {stat.st_size} {stat.st_mtime_ns}"
        except (OSError, ValueError, RuntimeError):  # a broken link, or a loop of them
            return list(read(file))
        found = _decoded(self._cache.get(key))
        if found is None:
            found = list(read(file))
            labels = ({"labels": list(one.labels.items())} if isinstance(one, Document) else {} for one in found)
            self._cache.put(key, [asdict(one) | own for one, own in zip(found, labels, strict=True)])
        return found

    def record(self, doi: str) -> Record | None:
        """What Crossref said of a DOI; None if it was not asked, or not lately."""
        value = self._cache.get(f"{_VERSION} {doi}", max_age_days=180)
        try:
            return _record(value) if value else None
        except (TypeError, KeyError):
            return None

    def keep_record(self, doi: str, record: Record) -> None:
        """Keep what Crossref said of a DOI."""
        self._cache.put(f"{_VERSION} {doi}", asdict(record))


def _decoded(value: Any) -> list[Document | Unreadable] | None:
    try:
        return [_item(one) for one in value] if isinstance(value, list) else None
    except (TypeError, KeyError, ValueError):
        return None


def _item(value: dict[str, Any]) -> Document | Unreadable:
    if "reason" in value:
        return Unreadable(**value)
    pages = tuple((number, str(text)) for number, text in value["pages"])
    own = {"pages": pages, "record": _record(value["record"]), "labels": dict(value["labels"])}
    return Document(**(value | own))


def _record(value: dict[str, Any]) -> Record:
    return Record(**(value | {"work": Work(**value["work"])}))
