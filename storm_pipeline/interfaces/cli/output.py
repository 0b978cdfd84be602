"""Output to standard output, which may be a closed pipe or on a full disk; and interactive questions."""

import dataclasses
import io
import json
import os
import sys
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from storm_pipeline.errors import StormError
from storm_pipeline.run.events import Event
from storm_pipeline.text.formatting import printable_lines

if TYPE_CHECKING:
    from storm_pipeline.interfaces.batch import TopicStatus
    from storm_pipeline.settings import Settings

_BROKEN_PIPE = 141  # exit code of shells for SIGPIPE
_PIPE_WIDTH = 200


def load_settings(given: Mapping[str, Any] | None = None, *, folder: Path | None = Path()) -> "Settings":
    """Return the settings of :func:`storm_pipeline.interfaces.configuration.layers.load_settings`, imported on use."""
    from storm_pipeline.interfaces.configuration import layers

    return layers.load_settings(given, folder=folder)


def choose_model(settings: "Settings", *, quiet: bool = False) -> "Settings":
    """Return the settings with the model chosen by the user on the terminal; unchanged without a question.

    Without a terminal there is no question, and the run reports the model. Raises typer.Abort: the user interrupted the
    question.
    """
    from storm_pipeline.settings import Settings
    from storm_pipeline.text.configuration.variables import provider_with_key

    provider = provider_with_key()
    if quiet or provider is None or "lm" in settings.model_fields_set or not is_interactive():
        return settings
    question = f"{provider.variables[0]} is set. Use {provider.model}? Otherwise all runs on this machine."
    lm = provider.model if typer.confirm(question, default=True, err=True) else "embedded"
    typer.echo(f"using {lm}; `storm init` keeps the choice, --lm overrides it", err=True)
    return Settings.build(settings.model_dump(exclude_unset=True) | {"lm": lm})


@dataclasses.dataclass(frozen=True)
class Output:
    """Output options of a writing command: its result with or without progress and summary, or its events."""

    quiet: bool
    json_events: bool

    @property
    def nothing_else(self) -> bool:
        """Whether progress and questions are disabled."""
        return self.quiet or self.json_events


def say(text: str, *, is_styled: bool = False) -> None:
    """Write a result to standard output; end the command quietly if the pipe is closed.

    Without control characters, unless it is styled: then its parts were made so. Raises StormError: it cannot be
    written, for example to a full disk.
    """
    try:
        typer.echo(text if is_styled else printable_lines(text))
    except BrokenPipeError:
        silence_stdout()
        raise typer.Exit(_BROKEN_PIPE) from None
    except OSError as error:
        silence_stdout()
        raise StormError(f"cannot write to standard output: {error.strerror}; send it elsewhere") from error


def tell(text: str, *, nl: bool = True) -> None:
    """Write to standard error without control characters; ignore a closed terminal."""
    with suppress(OSError):
        typer.echo(printable_lines(text), err=True, nl=nl)


def is_interactive() -> bool:
    """Return whether questions on standard error can be answered on standard input."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def show_table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Write a table of the terminal's width, or 200 columns in a pipe; cells are wrapped, not truncated."""
    say(table_text(columns, rows), is_styled=True)


def table_text(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return the text of :func:`show_table` without control characters."""
    from rich.console import Console
    from rich.table import Table

    table = Table(*map(printable_lines, columns), box=None, pad_edge=False, padding=(0, 2, 0, 0))
    table.columns[0].no_wrap = True
    for column in table.columns:
        column.overflow = "fold"
    for row in rows:
        table.add_row(*(printable_lines(cell).expandtabs(1) for cell in row))
    stdout, text = Console(), io.StringIO()  # not by capture, which ends with a write to standard output
    width = stdout.width if stdout.is_terminal else _PIPE_WIDTH
    console = Console(
        file=text, width=width, force_terminal=stdout.is_terminal, markup=False, highlight=False, emoji=False
    )
    console.print(table)
    return "\n".join(line.rstrip() for line in text.getvalue().splitlines())


def distinct_lines(lines: Iterable[str], most: int, hint: str = "") -> list[str]:
    """Return the first ``most`` distinct lines with their counts, and a line with the number of others."""
    distinct = [f"{line} ({times} times)" if times > 1 else line for line, times in Counter(lines).items()]
    more = len(distinct) - most
    return distinct[:most] + ([f"and {more} others{hint}"] if more > 0 else [])


def silence_stdout() -> None:
    """Redirect standard output to the null device, so that flushing it at exit does not fail."""
    with suppress(OSError):  # without a file descriptor
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, sys.stdout.fileno())
        os.close(null)


class EventLines:
    """A sink that writes JSON lines to standard output; after a write error, the work continues.

    It receives the events of a run, or of a batch with the topic's number as ``order``.
    """

    def __init__(self, work: str) -> None:
        self._work = work
        self._lost = False

    def emit(self, event: Event) -> None:
        """Write an event of the run."""
        self._write(type(event).__name__, vars(event))

    def begin(self, folder: Path, rows: "Sequence[TopicStatus]") -> None:
        """Write the batch's folder and number of topics."""
        self._write("BatchStarted", {"folder": str(folder), "topics": len(rows)})

    def event(self, number: int, event: Event) -> None:
        """Write an event of a topic's run."""
        self._write(type(event).__name__, {"order": number} | vars(event))

    def row(self, row: "TopicStatus") -> None:
        """Write the status of a topic."""
        fields = dataclasses.asdict(row)
        request, number = fields.pop("request"), fields.pop("number")
        self._write("TopicChanged", {"order": number, "topic": request["topic"]} | fields)

    def _write(self, kind: str, fields: dict[str, Any]) -> None:
        if self._lost:
            return
        try:
            line = json.dumps({"event": kind, "at": round(time.time(), 3)} | fields)
            sys.stdout.write(f"{line}\n")
            sys.stdout.flush()
        except OSError as error:
            self._lost = True
            silence_stdout()
            is_gone = isinstance(error, BrokenPipeError)
            why = f"no more events can be written to standard output ({error.strerror})"
            typer.echo(f"{'the reader of the events has gone' if is_gone else why}; the {self._work} goes on", err=True)
