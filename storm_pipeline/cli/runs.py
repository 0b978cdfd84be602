"""``storm runs`` and ``storm show``: a list of the runs, and the timeline of one."""

import json
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from storm_pipeline.cli.consent import settings_known
from storm_pipeline.cli.guard import Guard
from storm_pipeline.cli.options import Tracebacks
from storm_pipeline.cli.output import say, show_table
from storm_pipeline.text.formatting import age, amount, dollars, printable

if TYPE_CHECKING:
    from storm_pipeline.run.listing import RunEntry

_Json = Annotated[bool, typer.Option("--json", help="Print JSON; an unknown cost is null.")]


def runs(
    *,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="DIR", help="Folder of runs; default: runs.", show_default=False)
    ] = None,
    as_json: _Json = False,
    debug: Tracebacks = False,
) -> None:
    """List the runs below a folder with their state and usage, newest first."""
    with Guard(debug=debug):
        from storm_pipeline.run.listing import list_runs

        root = settings_known({"out": out} if out else {}).out
        entries = list_runs(root)
        if as_json:
            say(json.dumps([_record(entry) for entry in entries], indent=1))
        elif entries:
            columns = ("state", "age", "sessions", "calls", "tokens", "cost", "topic and folder")
            show_table(columns, [_row(entry, time.time()) for entry in entries])
        else:
            message = f"no runs in {root}: start one with `storm write TOPIC`, or name another folder with --out"
            typer.echo(printable(message), err=True)


def show(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="Folder of the run.", show_default=False)],
    *,
    as_json: _Json = False,
    debug: Tracebacks = False,
) -> None:
    """Show the timeline of RUN, session by session: stages and roles with usage, and problems.

    Read-only; the run may be under way or killed.
    """
    with Guard(debug=debug):
        from storm_pipeline.cli import timeline_view
        from storm_pipeline.errors import RunError
        from storm_pipeline.run.listing import read_timeline, run_entry

        entry = run_entry(run)
        if entry.state == "batch":
            raise RunError(f"{run} holds the runs of a batch: list them with storm runs --out {run}")
        timeline = read_timeline(run, running=entry.state == "running")
        if as_json:
            say(json.dumps(_record(entry) | timeline_view.record(timeline), indent=1))
            return
        say(f"{printable(timeline.topic or entry.topic or str(run))}: {entry.state}, in {printable(str(run))}")
        if entry.problem:
            say(printable(entry.problem))
        timeline_view.show(timeline)


def _row(entry: "RunEntry", now: float) -> tuple[str, ...]:
    about = "\n".join(printable(text) for text in (entry.topic, str(entry.folder), entry.problem) if text)
    when = "-" if entry.created is None else age(now - entry.created)
    if entry.usage is None:
        used = ("-", "-", "-")
    else:
        tokens = entry.usage.tokens_in + entry.usage.tokens_out
        used = (str(entry.usage.calls), amount(tokens), dollars(entry.usage.cost))
    return entry.state, when, str(entry.sessions or "-"), *used, about


def _record(entry: "RunEntry") -> dict[str, Any]:
    from storm_pipeline.cli.timeline_view import totals

    return {
        "folder": str(entry.folder),
        "state": entry.state,
        "topic": entry.topic,
        "created": entry.created,
        "sessions": entry.sessions,
        "usage": totals(entry.usage) if entry.usage else None,
        "problem": entry.problem,
    }
