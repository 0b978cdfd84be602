"""The topics of a batch with their settings, and files that list them."""

import csv
import io
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, Literal, Protocol, get_origin

from storm_pipeline.errors import SettingsError
from storm_pipeline.method.session import require_keys
from storm_pipeline.run.events import Event
from storm_pipeline.settings import CONTENT, Settings, no_such_setting
from storm_pipeline.sources.documents.decoding import decode_lines
from storm_pipeline.text.configuration.addresses import without_secrets
from storm_pipeline.text.files import read_bounded

_BATCH_ONLY = frozenset({"out", "process_workers", "tokens_per_minute"})
_DELIMITERS = (",", ";", "\t")
_MAX_BYTES, _MOST_TOPICS = 1_000_000, 10_000  # maximum topics: the state of a larger batch could not be read
_VALUE_SEPARATOR = "|"  # does not occur in URLs or titles of wiki pages
State = Literal["written", "running", "failed", "stopped", "waiting"]


@dataclass(frozen=True)
class TopicRequest:
    """A topic to write about, with its settings."""

    topic: str  # topic of the article, as for :meth:`storm_pipeline.storm.Storm.write`
    # fields of :class:`storm_pipeline.settings.Settings` that differ from the batch's
    settings: Mapping[str, Any] = field(default_factory=dict, hash=False)
    # its origin, such as ``topics.csv, line 3``; ignored in comparisons
    place: str = field(default="", compare=False)

    def plain(self) -> "TopicRequest":
        """Return the normalised request as JSON values: single spaces in the topic, settings by field name.

        Values of settings are validated when the topic is written.

        Raises SettingsError: a setting is unknown, given twice, only valid for the batch, or not a JSON value.
        """
        at = f"{self.place}: " if self.place else ""
        settings: dict[str, Any] = {}
        for name, value in self.settings.items():
            field_name = _field(name, at)
            if field_name in settings:
                raise SettingsError(f"{at}the setting {field_name!r} is given twice: remove one of them")
            if value is not None:
                settings[field_name] = _plain_value(field_name, value, at)
        plain = {"topic": " ".join(self.topic.split()), "settings": settings}
        try:
            text = json.dumps(plain, ensure_ascii=False, allow_nan=False, default=str)
            text.encode("utf-8")
        except (ValueError, RecursionError) as error:
            raise SettingsError(f"{at}the topic or one of its settings cannot be saved: {error}") from error
        return TopicRequest(**json.loads(text), place=self.place)


def _plain_value(name: str, value: Any, at: str) -> Any:
    """Split the text of a setting with several values; others must hold no secret."""
    if not isinstance(value, str):
        return value
    if get_origin(Settings.model_fields[name].annotation) is tuple:
        return [part.strip() for part in value.split(_VALUE_SEPARATOR) if part.strip()]
    try:
        return without_secrets(value)
    except ValueError as error:
        raise SettingsError(f"{at}{name}: {error}") from error


def read_topics(path: Path | str, allow: Iterable[str] = ()) -> tuple[TopicRequest, ...]:
    """Return the requests of a file in order, duplicates included.

    A ``.txt`` has one topic per line; blank lines and lines that begin with ``#`` are skipped. A ``.csv`` has a header
    with a column ``topic``, and other columns named as settings; an empty cell sets nothing, and several values of one
    setting are separated by ``|``. A ``.jsonl`` has one object per line, with ``topic`` and settings. The encoding is
    detected; the delimiter of a ``.csv`` may be a comma, semicolon or tab.

    ``path``: the file. ``allow``: settings, such as ``lm``, that the file may set in addition to
    :data:`storm_pipeline.settings.CONTENT`, since lists of topics may come from others.

    Raises SettingsError: the file cannot be read, has no topic, or an invalid line or setting; the message names the
    line.
    """
    path = Path(path)
    reader = _READERS.get(path.suffix.lower())
    if reader is None:
        raise SettingsError(f"{path} is not a list of topics: its name must end in {', '.join(_READERS)}")
    try:
        data = read_bounded(path, _MAX_BYTES)
    except OSError as error:
        raise SettingsError(
            f"cannot read {path}: {error.strerror}; give a file with a topic a line, or split it"
        ) from error
    text = "\n".join(decode_lines(data)).replace("\r", "\n")
    requests = tuple(request.plain() for request in islice(reader(path.name, text), _MOST_TOPICS + 1))
    if not requests:
        raise SettingsError(f"{path} has no topic: write at least one")
    if len(requests) > _MOST_TOPICS:
        raise SettingsError(f"{path} has more than {_MOST_TOPICS:,} topics: split the list")
    allowed = CONTENT | {_field(name, "allow: ") for name in allow}
    for request in requests:
        if others := sorted(request.settings.keys() - allowed):
            raise SettingsError(
                f"{request.place} sets {', '.join(others)}, which decides who is asked, who gets a key or what is "
                "spent: give it to the command, for all topics"
            )
    return requests


def require_some_keys(settings: Mapping[str, Any], requests: Sequence[TopicRequest]) -> None:
    """Check that the keys of at least one topic are set; topics without theirs fail later.

    ``settings``: of the batch. Raises SettingsError: no topic can begin; the message is the first one's.
    """
    problems: list[str] = []
    for request in requests:
        try:
            require_keys(Settings.build({**settings, **request.settings}))
        except SettingsError as error:
            problems.append(f"{request.place}: {error}" if request.place and request.settings else str(error))
        else:
            return
    raise SettingsError(problems[0])


def _from_lines(name: str, text: str) -> Iterator[TopicRequest]:
    for number, line in enumerate(text.split("\n"), 1):
        topic = line.strip()
        if topic and not topic.startswith("#"):
            yield TopicRequest(topic, place=f"{name}, line {number}")


def _from_json_lines(name: str, text: str) -> Iterator[TopicRequest]:
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        place = f"{name}, line {number}"
        try:
            record = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise SettingsError(f'{place} is not JSON ({error}): write {{"topic": "…"}} on one line') from error
        if not isinstance(record, dict):
            raise SettingsError(f'{place} is not an object: write {{"topic": "…"}}, optionally with settings')
        topic = record.pop("topic", None)
        if not isinstance(topic, str) or not topic.strip():
            raise SettingsError(f'{place} has no topic: write {{"topic": "…"}}, the topic as text')
        yield TopicRequest(topic, record, place)


def _from_table(name: str, text: str) -> Iterator[TopicRequest]:
    rows, header = _open_table(name, text)
    for place, cells in rows:
        if any(cells[len(header) :]):
            raise SettingsError(
                f"{place} has {len(cells)} cells for {len(header)} columns: put quotes around a cell that contains "
                "the delimiter"
            )
        named = {column: cell for column, cell in zip(header, cells, strict=False) if cell}
        if "topic" not in named:
            raise SettingsError(f"{place} has no topic: fill the cell, or remove the line")
        yield TopicRequest(named.pop("topic"), named, place)


def _open_table(name: str, text: str) -> tuple[Iterator[tuple[str, list[str]]], list[str]]:
    """Return the rows below the header with their origins, and the names in the header."""
    for delimiter in _DELIMITERS:
        rows = _rows(name, text, delimiter)
        place, first = next(rows, (name, []))
        header = [_normalise(cell) for cell in first]
        while header and not header[-1]:
            header.pop()
        if "topic" in header:
            for column in header:
                if header.count(column) > 1 or not column:
                    raise SettingsError(
                        f"{place}: the column name {column!r} is empty or not unique: name each column once"
                    )
                if column != "topic":
                    _field(column, f"{place}: ")
            return rows, header
    raise SettingsError(f"{name} has no column 'topic': its first line must name the columns, such as topic,turns")


def _rows(name: str, text: str, delimiter: str) -> Iterator[tuple[str, list[str]]]:
    """Yield the non-empty rows of a table with stripped cells, each with the number of its first line."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    line = 1
    try:
        for cells in reader:
            if any(map(str.strip, cells)):
                yield f"{name}, line {line}", [cell.strip() for cell in cells]
            line = reader.line_num + 1
    except csv.Error as error:
        raise SettingsError(f"{name}, line {line} is not a valid row ({error}): check its quotes") from error


def _field(name: str, at: str) -> str:
    field_name = _normalise(name)
    if field_name in _BATCH_ONLY:
        raise SettingsError(f"{at}{field_name!r} applies to the whole batch: give it to the command, not to a topic")
    if field_name not in Settings.model_fields:
        raise SettingsError(f"{at}{no_such_setting(field_name)}")
    return field_name


def _normalise(name: str) -> str:
    return name.strip().lower().replace("-", "_")


_READERS: dict[str, Callable[[str, str], Iterator[TopicRequest]]] = {
    ".txt": _from_lines,
    ".csv": _from_table,
    ".jsonl": _from_json_lines,
}


@dataclass(frozen=True)
class TopicStatus:
    """The status of one topic of a batch, with its usage over all sessions."""

    number: int  # position in the batch, from 1
    request: TopicRequest  # topic and settings
    state: State = "waiting"  # ``running`` also if its process was killed; ``stopped`` if the user stopped it
    folder: str = ""  # name of its run's folder inside the batch's folder; empty before it starts
    error: str = ""  # the reason of a failure, in one sentence; of a written article, why it is not copied
    copied: str = ""  # address to which the article was copied, if any
    calls: int = 0  # replies received
    tokens_in: int = 0  # prompt tokens
    tokens_out: int = 0  # completion tokens
    cost: float | None = 0.0  # US dollars; None if a price is unknown
    cost_before: float = 0.0  # those of its runs whose folders were deleted
    seconds: float = 0.0  # wall time
    sections: int = 0  # first-level sections of the article
    words: int = 0  # words of the article, including the lead
    references: int = 0  # sources that the article cites


@dataclass(frozen=True)
class BatchReport:
    """The result of a finished or stopped batch."""

    folder: Path  # the batch's folder, for :func:`storm_pipeline.interfaces.batch.resume_batch`
    rows: tuple[TopicStatus, ...]  # one per topic, in order
    stopped: bool  # whether the user stopped it
    repeated: int  # number of duplicate requests dropped
    seconds: float  # wall time of this session
    # why topics are waiting: an endpoint refused its key, or the batch's dollars are spent
    refused: tuple[str, ...] = ()

    @property
    def all_written(self) -> bool:
        """Whether every topic has its article."""
        return all(row.state == "written" for row in self.rows)

    @property
    def uncopied(self) -> tuple[str, ...]:
        """Errors of the articles that could not be copied."""
        return tuple(row.error for row in self.rows if row.state == "written" and row.error)


class BatchSink(Protocol):
    """Receiver of a batch's events, one call at a time from any thread; must return quickly and not raise."""

    def begin(self, folder: Path, rows: Sequence[TopicStatus]) -> None:
        """Receive the start or resumption of the batch, with the status of its topics."""

    def event(self, number: int, event: Event) -> None:
        """Receive an event of the run of topic ``number``."""

    def row(self, row: TopicStatus) -> None:
        """Receive the new status of a topic."""
