"""The data set type, and reading and writing of data set files."""

import errno
import gzip
import hashlib
import io
import json
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from storm_bench.errors import first_problem
from storm_bench.types import HumanSection, Topic, TopicRead
from storm_pipeline import DatasetError
from storm_pipeline.api import NotReadError, is_back_matter, read_bounded, reading, size_of, write_atomically

M = TypeVar("M", bound=BaseModel)
T = TypeVar("T")
_LARGEST = 2**26  # bytes of a file, decompressed
_MOST_VALUES = 2_000_000  # of JSON in it: each takes more memory than it has characters
_MOST_COMPARED = 1000  # headings or statements of a human article; Wiki Live's longest has 459 statements


@dataclass(frozen=True)
class Published:
    """Where the authors of a data set publish it."""

    repository: str  # owner and name on GitHub
    revision: str  # a commit or branch that has the data
    folders: tuple[str, ...]  # of the repository, that hold the data


PUBLISHED = {
    "freshwiki": Published("stanford-oval/storm", "NAACL-2024-code-backup", ("FreshWiki/json", "FreshWiki/txt")),
    "wikigenbench": Published("zhzihao/WikiGenBench", "fe44519c68a79b6e902648c63abdf3a185b27a2a", ("data",)),
    "wiki_live": Published("WangShao2000/Wiki_Live_Challenge", "main", ("data",)),
}
"""Name of each data set that can be fetched → where it is."""


@dataclass(frozen=True)
class DataSet:
    """The topics of a data set."""

    name: str  # short and stable: ``freshwiki`` or ``wikigenbench``
    topics: tuple[Topic, ...]  # in the order of their ids
    problems: tuple[str, ...] = ()  # what was skipped or repaired and why, one sentence each, naming the file

    def only(self, ids: Iterable[str]) -> "DataSet":
        """Return the data set restricted to some topics, in the given order. Raises DatasetError: an id is unknown."""
        known = {topic.id: topic for topic in self.topics}
        wanted = list(ids)
        if missing := [name for name in wanted if name not in known]:
            raise DatasetError(f"{self.name} has no topic {missing[0]!r}; it has {', '.join(sorted(known)[:5])} …")
        return DataSet(self.name, tuple(known[name] for name in wanted), self.problems)


def read_topics(
    name: str,
    folder: Path,
    files: Iterable[Path],
    read: Callable[[str], Iterator[TopicRead]],
    *,
    keep: Callable[[Topic], bool] = lambda _: True,
    empty: str = "it is empty",
) -> DataSet:
    """Return the topics of a data set's files, in their order.

    A damaged file is skipped. ``read``: yields a file's topic; ``keep``: whether a topic is wanted; ``empty``: why
    there is no topic, where no file is damaged. Raises DatasetError: nothing can be read.
    """
    topics: list[Topic] = []
    problems: list[str] = []
    sizes = Counter[str]()  # a topic's files have its name in common
    for path in folder.rglob("*"):
        sizes[path.name.partition(".")[0]] += size_of(path) * (3 if path.suffix == ".gz" else 1)  # about, unpacked
    for file in files:
        try:
            [(topic, repairs)] = read_isolated(file, read, size=sizes[file.name.partition(".")[0]])
            _require_comparable(file, topic)
        except DatasetError as error:
            problems.append(f"skipped: {error}")
            continue
        topics += [topic] if keep(topic) else []
        problems += repairs
    if not topics:
        raise DatasetError(f"{folder} holds no readable article: {problems[0] if problems else empty}")
    return DataSet(name, tuple(topics), tuple(problems))


def read_isolated(
    what: Path | str, read: Callable[..., Iterator[T]], *more: object, size: int | None = None
) -> list[T]:
    """Return what a module's function yields, in a process of its own, within limits of time and memory.

    ``what``: a path, the function's first argument, or a name; ``more``: its further ones, as JSON; ``size``: bytes
    that are read, by default of the file, or the folder's. Raises DatasetError: as the function, or beyond a limit.
    """
    path = [str(what.absolute())] if isinstance(what, Path) else []
    files = (what, *what.glob("*")) if size is None and isinstance(what, Path) else ()
    try:
        return reading.read(read, *path, *more, size=size or sum(map(size_of, files)))
    except NotReadError as error:
        raise DatasetError(f"{what} cannot be read: it {error}; download or rebuild it") from error


def _require_comparable(file: Path, topic: Topic) -> None:
    """Refuse a human article of which metrics, which compare each with each, would compare too much."""
    human = topic.human
    headings = max(len(human.headings()), human.published_text.count("\n#"))
    for what, number in (("headings", headings), ("statements", len(human.statements))):
        if number > _MOST_COMPARED:
            raise DatasetError(f"{file} has more than {_MOST_COMPARED:,} {what}; download or rebuild it")


def folder_of(folder: Path, name: str, *layouts: str) -> Path:
    """Return the subfolder that holds a data set's articles: the first of several layouts that is there.

    Raises DatasetError: the folder has none of them.
    """
    for layout in layouts:
        if (folder / layout).is_dir():
            return folder / layout
    raise DatasetError(not_such(folder, name, f"it has no folder {layouts[0]}/"))


def not_such(folder: Path, name: str, why: str) -> str:
    """Return the message for a folder without the named data set, with the ways to get it."""
    published = PUBLISHED[name]
    return (
        f"{folder} is not such a data set: {why}. Check the path, or get the published one with `storm experiment data "
        f"fetch {name}` (https://github.com/{published.repository})"
    )


def read_text(file: Path) -> str:
    """Read a text file. Raises DatasetError: it cannot be read or is not UTF-8."""
    try:
        return file_bytes(file).decode("utf-8")
    except (OSError, ValueError) as error:
        raise DatasetError(f"{file} cannot be read ({error}); download or rebuild it") from error


def file_bytes(file: Path) -> bytes:
    """Read a file of at most 64 MiB; ``NAME.gz`` is decompressed, to at most the same size.

    Raises OSError: it cannot be read, is not a file, or larger; EOFError, zlib.error: it cannot be decompressed.
    """
    data = read_bounded(file, _LARGEST)
    if file.suffix == ".gz":
        with gzip.GzipFile(fileobj=io.BytesIO(data)) as packed:
            data = packed.read(_LARGEST + 1)
    if len(data) > _LARGEST:
        raise OSError(errno.EFBIG, f"it holds more than {_LARGEST:,} bytes", str(file))
    return data


def read_model(file: Path, model: type[M]) -> M:
    """Read a JSON file into a pydantic model.

    Raises DatasetError: it is absent or damaged; the message names file and location.
    """
    return as_model(file, model, read_json(file))


def as_model(file: Path, model: type[M], value: object) -> M:
    """Return a value that was read from a file as a pydantic model; errors as :func:`read_model`."""
    try:
        return model.model_validate(value)
    except ValidationError as error:
        raise damaged(file, error) from error


def damaged(file: Path, error: ValidationError) -> DatasetError:
    """Return the error that names a damaged file, and the place in it."""
    where, why = first_problem(error, "the top level")
    return DatasetError(f"{file} is damaged at {where}: {why.lower()}; download or rebuild it")


def read_json(file: Path) -> Any:
    """Read a JSON file, optionally gzip-compressed (``NAME.json.gz``).

    Raises DatasetError: it cannot be read or is not JSON.
    """
    try:
        return json.loads(_few_values(file, file_bytes(file)))
    except (gzip.BadGzipFile, zlib.error, EOFError) as error:
        raise DatasetError(f"{file} is damaged: it cannot be decompressed; download it again") from error
    except OSError as error:
        raise DatasetError(f"{file} cannot be read ({error.strerror}); download or rebuild it") from error
    except (ValueError, RecursionError) as error:
        raise DatasetError(f"{file} is damaged: it is not JSON; download or rebuild it") from error


def _few_values(file: Path, data: bytes) -> bytes:
    """Return the JSON of a file. Raises OSError: reading it would take too much memory."""
    if sum(map(data.count, (b"[", b"{", b","))) > _MOST_VALUES:
        raise OSError(errno.EFBIG, f"it holds more than {_MOST_VALUES:,} values", str(file))
    return data


def write_json(file: Path, value: Any) -> None:
    """Write a value as JSON, atomically; gzip-compressed if the file is ``NAME.json.gz``.

    Raises DatasetError: it cannot be written.
    """
    data = (json.dumps(value, ensure_ascii=False, indent=1) + "\n").encode("utf-8", "replace")
    data = gzip.compress(data, mtime=0) if file.suffix == ".gz" else data  # equal values make equal files
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(file, data)
    except OSError as error:
        raise DatasetError(f"cannot write {file}: {error.strerror}; choose another folder") from error


def without_back_matter(sections: Sequence[HumanSection]) -> tuple[tuple[HumanSection, ...], tuple[HumanSection, ...]]:
    """Split sections into the body and the first-level back matter.

    Back-matter subsections of body sections are dropped.
    """
    body = tuple(_pruned(section, 1) for section in sections if not is_back_matter(section.heading))
    return body, tuple(section for section in sections if is_back_matter(section.heading))


def _pruned(section: HumanSection, level: int) -> HumanSection:
    kept = (part for part in section.subsections if not is_back_matter(part.heading, level + 1))
    return replace(section, subsections=tuple(_pruned(part, level + 1) for part in kept))


def shuffled(items: Iterable[T], seed: object, name: Callable[[T], object]) -> list[T]:
    """Shuffle items by a seed and their unique names, independently of their input order.

    Adding items does not change the relative order of the others, so a larger sample contains the smaller one.
    """
    return sorted(items, key=lambda item: hashlib.sha256(f"{seed}\n{name(item)}".encode("utf-8", "replace")).digest())
