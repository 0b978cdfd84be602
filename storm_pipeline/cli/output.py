"""Writing to standard output: results only, and no complaint when nobody reads them any more."""

import os
import sys
from collections.abc import Sequence

import typer

from storm_pipeline.events import Event, JsonLinesSink

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
    """Write a table: as wide as the terminal, or wide enough for other programs. Only the first column is cut off."""
    from rich.console import Console
    from rich.table import Table

    table = Table(*columns, box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for column in table.columns[1:]:
        column.overflow = "fold"
    table.columns[0].no_wrap = True
    for row in rows:
        table.add_row(*row)
    console = Console(markup=False, highlight=False, emoji=False)
    if not console.is_terminal:
        console.width = _WIDTH_OF_A_PIPE
    with console.capture() as capture:
        console.print(table)
    say("\n".join(line.rstrip() for line in capture.get().splitlines()))


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
