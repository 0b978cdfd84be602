"""Writing to standard output: results only, and no complaint when nobody reads them any more."""

import dataclasses
import json
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from storm_pipeline.run.events import Event, JsonLinesSink

if TYPE_CHECKING:
    from storm_pipeline.batch import TopicStatus

_BROKEN_PIPE = 141  # what a shell reports of a program that SIGPIPE ended
_WIDTH_OF_A_PIPE = 200


def say(text: str) -> None:
    """Write a result to standard output; the command ends quietly where its reader has gone."""
    try:
        typer.echo(text)
    except BrokenPipeError:
        silence_stdout()
        raise typer.Exit(_BROKEN_PIPE) from None


def show_table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Write a table: as wide as the terminal, or wide enough for other programs; nothing of it is cut off."""
    say(table_text(columns, rows))


def table_text(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table as :func:`show_table` writes it."""
    from rich.console import Console
    from rich.table import Table

    table = Table(*columns, box=None, pad_edge=False, padding=(0, 2, 0, 0))
    table.columns[0].no_wrap = True
    for column in table.columns:
        column.overflow = "fold"
    for row in rows:
        table.add_row(*row)
    console = Console(markup=False, highlight=False, emoji=False)
    if not console.is_terminal:
        console.width = _WIDTH_OF_A_PIPE
    with console.capture() as capture:
        console.print(table)
    return "\n".join(line.rstrip() for line in capture.get().splitlines())


def silence_stdout() -> None:
    """Send what is still to be written to nowhere, so that the interpreter does not complain when it ends."""
    try:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
    except OSError:  # standard output is no file of the operating system
        return


class EventLines:
    """An event sink: JSON lines on standard output. When their reader leaves, the run goes on."""

    def __init__(self) -> None:
        self._lines: JsonLinesSink | None = JsonLinesSink(sys.stdout)

    def emit(self, event: Event) -> None:
        """Write one line, unless the reader has gone."""
        if self._lines is None:
            return
        try:
            self._lines.emit(event)
        except BrokenPipeError:
            self._lines = None
            silence_stdout()
            typer.echo("nobody reads the events any more; the run goes on", err=True)


class BatchLines:
    """A batch's sink: JSON lines on standard output, those of a run as :class:`EventLines` has them and ``order``."""

    def __init__(self) -> None:
        self._gone = False

    def begin(self, folder: Path, rows: "Sequence[TopicStatus]") -> None:
        """Write where the batch is and how many topics it has."""
        self._write("BatchStarted", folder=str(folder), topics=len(rows))

    def event(self, number: int, event: Event) -> None:
        """Write an event of a topic's run."""
        self._write(type(event).__name__, order=number, **dataclasses.asdict(event))

    def row(self, row: "TopicStatus") -> None:
        """Write how a topic stands now."""
        facts = dataclasses.asdict(row)
        request, number = facts.pop("request"), facts.pop("number")
        self._write("TopicChanged", order=number, topic=request["topic"], **facts)

    def _write(self, name: str, **facts: Any) -> None:
        if self._gone:
            return
        try:
            line = json.dumps({"event": name, "at": round(time.time(), 3)} | facts, ensure_ascii=False)
            sys.stdout.write(f"{line}\n")
            sys.stdout.flush()
        except BrokenPipeError:
            self._gone = True
            silence_stdout()
            typer.echo("nobody reads the events any more; the batch goes on", err=True)
