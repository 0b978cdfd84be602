"""Documents read from files, kept on disk, so that a folder is read once and not at every run."""

from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from storm_pipeline.sources.documents.document import Document, Record, Unreadable
from storm_pipeline.sources.sqlite_cache import SqliteCache

if TYPE_CHECKING:
    from pydantic import TypeAdapter

_VERSION = 7  # incremented when files are read otherwise than before
FILE = "documents.sqlite"  # name of the file in the cache folder


class KeptDocuments:
    """Documents by file, as long as the file's size and time of change are the same."""

    def __init__(self, folder: Path) -> None:
        self._cache = SqliteCache(folder / FILE)

    def read(self, file: Path, read: Callable[[Path], Iterator[Document | Unreadable]]) -> list[Document | Unreadable]:
        """Return the documents of a file: the kept ones, else those that ``read`` yields, which are then kept."""
        try:
            stat = file.stat()
            key = f"{_VERSION} {file.resolve()} {stat.st_size} {stat.st_mtime_ns}"
        except (OSError, ValueError, RuntimeError):  # a broken link, or a loop of them
            return list(read(file))
        found: list[Document | Unreadable] | None = _decoded(list[Document | Unreadable], self._cache.get(key))
        if found is None:
            found = list(read(file))
            self._cache.put(key, _type(list[Document | Unreadable]).dump_python(found))
        return found

    def record(self, doi: str) -> Record | None:
        """Return Crossref's record of a DOI; None if it was not asked in the last 180 days."""
        found: Record | None = _decoded(Record, self._cache.get(f"{_VERSION} {doi}", max_age_days=180))
        return found

    def keep_record(self, doi: str, record: Record) -> None:
        """Keep Crossref's record of a DOI."""
        self._cache.put(f"{_VERSION} {doi}", _type(Record).dump_python(record))


def _decoded(kind: Any, value: Any) -> Any:
    try:
        return _type(kind).validate_python(value)
    except ValueError:
        return None


@cache
def _type(kind: Any) -> "TypeAdapter[Any]":
    from pydantic import TypeAdapter

    return TypeAdapter(kind)
