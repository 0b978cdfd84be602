"""``storm batch``, and resuming a batch."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from storm_pipeline.cli.consent import settings_asking, with_consent
from storm_pipeline.cli.guard import Guard
from storm_pipeline.cli.model_choice import with_chosen_model
from storm_pipeline.cli.options import OutlineFile
from storm_pipeline.cli.output import BatchLines, say, table_text, tell
from storm_pipeline.cli.signals import stopping

if TYPE_CHECKING:
    from storm_pipeline.batch import Batch, BatchReport, BatchSink

_Topics = Annotated[
    Path,
    typer.Argument(
        metavar="TOPICS_FILE",
        help="A .txt with one topic per line, a .csv with a column 'topic' and columns for settings, or a .jsonl.",
        show_default=False,
    ),
]
_Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print only errors on standard error.")]
_JsonEvents = Annotated[
    bool, typer.Option("--json-events", help="Print events as JSON lines; 'order' is the number of the topic.")
]
_Debug = Annotated[bool, typer.Option("--debug", help="Show tracebacks, and warnings and logs of libraries.")]
_AtOnce = Annotated[int, typer.Option("--at-once", metavar="K", help="Articles written concurrently, 1 to 64.")]


_AllowColumns = Annotated[
    str,
    typer.Option(
        "--allow-columns",
        metavar="NAMES",
        help="Settings, separated by commas, that TOPICS_FILE may give beside those that say what is written, e.g. "
        "lm,search. Name them only if you trust the file.",
        show_default=False,
    ),
]


def batch(
    ctx: typer.Context,
    topics_file: _Topics,
    *,
    headings: OutlineFile = None,
    allow_columns: _AllowColumns = "",
    at_once: _AtOnce = 2,
    quiet: _Quiet = False,
    json_events: _JsonEvents = False,
    debug: _Debug = False,
) -> None:
    """Write an article about each topic of TOPICS_FILE, each in its own run below one folder.

    Options apply to all topics; settings in the file take precedence. Prints a table. Retry failed and interrupted
    topics with `storm resume FOLDER`.
    """
    with Guard(debug=debug) as guard:
        settings = with_chosen_model(settings_asking(ctx.obj), quiet=quiet or json_events)
        from storm_pipeline.batch import Batch, read_topics

        requests = read_topics(topics_file, [name for name in allow_columns.split(",") if name.strip()])
        _run(
            lambda sinks: Batch.create(
                requests, settings, name=topics_file.stem, outline=headings, at_once=at_once, sinks=sinks
            ),
            guard,
            quiet=quiet,
            json_events=json_events,
        )


def resume_batch(
    folder: Path, values: Mapping[str, Any], guard: Guard, *, accept_damage: bool, quiet: bool, json_events: bool
) -> None:
    """Resume a batch; ``values`` are the settings given on the command line."""
    from storm_pipeline.settings import Settings

    settings = Settings.build(values)
    from storm_pipeline.batch import Batch

    def opened(sinks: "Sequence[BatchSink]") -> "Batch":
        return with_consent(lambda: Batch.open(folder, settings, accept_damage=accept_damage, sinks=sinks))

    _run(opened, guard, quiet=quiet, json_events=json_events)


def _run(make: "Callable[[Sequence[BatchSink]], Batch]", guard: Guard, *, quiet: bool, json_events: bool) -> None:
    """Run the batch with progress or events, then print its report; the first interruption stops it gracefully."""
    with ExitStack() as stack:
        sinks: list[BatchSink] = [BatchLines()] if json_events else []
        if not quiet and not json_events:
            from storm_pipeline.progress.batch_progress import BatchProgress

            sinks.append(stack.enter_context(BatchProgress()))
        work = stack.enter_context(make(sinks))
        guard.folder = work.folder
        stack.enter_context(stopping(work))
        report = work.run()
    _print_report(report, quiet=quiet, json_events=json_events)


def _print_report(report: "BatchReport", *, quiet: bool, json_events: bool) -> None:
    from storm_pipeline.errors import StoppedError
    from storm_pipeline.progress import batch_summary

    table = table_text(batch_summary.COLUMNS, batch_summary.rows_of(report))
    if not json_events:
        say(f"{table}\n{report.folder / 'batch.json'}")
    if not quiet:
        summary = batch_summary.of_batch(report)
        tell(f"{table}\n{summary}" if json_events else summary)
    if report.all_written:
        return
    if report.stopped:
        raise StoppedError("stopped; what was finished is saved")
    without = f"{sum(row.state != 'written' for row in report.rows)} of {len(report.rows)} topics have no article"
    cause = "; ".join(report.refused) or "fix the cause"
    tell(f"error: {without}: {cause}, then resume with: storm resume {report.folder}")
    raise typer.Exit(1)
