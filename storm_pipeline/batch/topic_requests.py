"""What a batch is to write: topics, each with settings of its own, and the files that list them."""

import csv
import io
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, get_origin

from storm_pipeline.documents.decoding import decoded_lines
from storm_pipeline.errors import SettingsError
from storm_pipeline.settings import Settings

_OF_THE_WHOLE = frozenset({"out", "process_workers"})
_DELIMITERS = (",", ";", "\t")
_BETWEEN_VALUES = "|"  # can stand in no address, nor in the title of a wiki's page


@dataclass(frozen=True)
class TopicRequest:
    """A topic to write about, and what is set for it alone.

    Attributes:
        topic: what the article is about, as for :meth:`storm_pipeline.storm.Storm.write`.
        settings: fields of :class:`storm_pipeline.settings.Settings` that differ from the batch's; never changed.
        place: where it was read, such as ``topics.csv, line 3``; two requests that differ in it alone are equal.
    """

    topic: str
    settings: Mapping[str, Any] = field(default_factory=dict, hash=False)
    place: str = field(default="", compare=False)

    def plain(self) -> "TopicRequest":
        """The same request as JSON can hold it: whitespace of the topic single, names of settings as fields are named.

        Whether the values are allowed is not asked: that is looked at when the topic's turn comes.

        Raises:
            SettingsError: a setting is unknown, given twice, of the batch as a whole, or no plain value.
        """
        at = f"{self.place}: " if self.place else ""
        settings: dict[str, Any] = {}
        for name, value in self.settings.items():
            own = _field(name, at)
            if own in settings:
                raise SettingsError(f"{at}the setting {own!r} is given twice: leave one of them")
            if value is not None:
                settings[own] = _values(own, value)
        plain = {"topic": " ".join(self.topic.split()), "settings": settings}
        try:
            text = json.dumps(plain, ensure_ascii=False, allow_nan=False, default=str)
            text.encode("utf-8")
        except (ValueError, RecursionError) as error:
            raise SettingsError(f"{at}the topic or a setting of it is no text that can be saved: {error}") from error
        return TopicRequest(**json.loads(text), place=self.place)


def read_topics(path: Path | str) -> tuple[TopicRequest, ...]:
    """The requests of a file, in its order, those that repeat others included.

    A ``.txt`` has a topic a line; blank lines and lines that begin with ``#`` are passed over. A ``.csv`` has a line
    of names, of which ``topic`` is one and the others are settings; an empty cell sets nothing, and several values of
    one setting are separated by ``|``. A ``.jsonl`` has an object a line, with ``topic`` and settings. Any usual
    character set is read; separators of a ``.csv`` may be commas, semicolons or tabs.

    Raises:
        SettingsError: the file cannot be read, names no topic, or a line of it (which is named) is no request.
    """
    path = Path(path)
    reader = _READERS.get(path.suffix.lower())
    if reader is None:
        raise SettingsError(f"{path} is no list of topics: its name must end in {', '.join(_READERS)}")
    try:
        data = path.read_bytes()
    except OSError as error:
        raise SettingsError(f"cannot read {path}: {error.strerror}; name a file with a topic a line") from error
    text = "\n".join(decoded_lines(data)).replace("\r", "\n")
    requests = tuple(request.plain() for request in reader(path.name, text))
    if not requests:
        raise SettingsError(f"{path} names no topic: write at least one")
    return requests


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
            raise SettingsError(f'{place} is no JSON ({error}): write {{"topic": "…"}} on a line of its own') from error
        if not isinstance(record, dict):
            raise SettingsError(f'{place} is no object: write {{"topic": "…"}}, with settings beside the topic if any')
        topic = record.pop("topic", None)
        if not isinstance(topic, str) or not topic.strip():
            raise SettingsError(f'{place} has no topic: write {{"topic": "…"}}, the topic as text')
        yield TopicRequest(topic, record, place)


def _from_table(name: str, text: str) -> Iterator[TopicRequest]:
    rows, header = _opened_table(name, text)
    for line, cells in rows:
        place = f"{name}, line {line}"
        if not any(map(str.strip, cells)):
            continue
        if any(map(str.strip, cells[len(header) :])):
            raise SettingsError(
                f"{place} has {len(cells)} cells under {len(header)} names: put quotes around a cell that holds "
                "the separator"
            )
        named = [(column, cell) for column, cell in zip(header, cells, strict=False) if cell.strip()]
        topic = next((cell for column, cell in named if column == "topic"), None)
        if topic is None:
            raise SettingsError(f"{place} has no topic: fill the cell, or take the line out")
        yield TopicRequest(topic, {column: cell.strip() for column, cell in named if column != "topic"}, place)


def _opened_table(name: str, text: str) -> tuple[Iterator[tuple[int, list[str]]], list[str]]:
    """The rows below the names of the columns, each with its line, and those names."""
    for delimiter in _DELIMITERS:
        rows = _rows(name, text, delimiter)
        first = next(((line, cells) for line, cells in rows if any(map(str.strip, cells))), None)
        header = [_spelt(cell) for cell in first[1]] if first else []
        while header and not header[-1]:
            header.pop()
        if first and "topic" in header:
            at = f"{name}, line {first[0]}: "
            for column in header:
                if header.count(column) > 1 or not column:
                    raise SettingsError(f"{at}two columns are named {column!r}, or none is: name each once")
                if column != "topic":
                    _field(column, at)
            return rows, header
    raise SettingsError(f"{name} has no column 'topic': its first line must name the columns, such as topic,turns")


def _rows(name: str, text: str, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """The rows of a table, each with the line on which it begins."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    line = 1
    try:
        for cells in reader:
            yield line, cells
            line = reader.line_num + 1
    except csv.Error as error:
        raise SettingsError(f"{name}, line {line} is no row of a table ({error}): check its quotes") from error


def _field(name: str, at: str) -> str:
    """The field of the settings that a name in a file means."""
    own = _spelt(name)
    if own in _OF_THE_WHOLE:
        raise SettingsError(f"{at}{own!r} belongs to the batch as a whole: give it to the command, not to a topic")
    if own not in Settings.model_fields:
        raise SettingsError(f"{at}there is no setting {name!r}; see `storm batch --help` for those that exist")
    return own


def _spelt(name: str) -> str:
    return name.strip().lower().replace("-", "_")


def _values(name: str, value: Any) -> Any:
    """Text for a setting that takes several values becomes these."""
    if isinstance(value, str) and get_origin(Settings.model_fields[name].annotation) is tuple:
        return [one.strip() for one in value.split(_BETWEEN_VALUES) if one.strip()]
    return value


_READERS: dict[str, Callable[[str, str], Iterator[TopicRequest]]] = {
    ".txt": _from_lines,
    ".csv": _from_table,
    ".jsonl": _from_json_lines,
}
