"""``storm batch``, and resuming a batch."""

from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from storm_pipeline.errors import StoppedError
from storm_pipeline.interfaces.cli.guard import Guard, stop_on_interrupt, with_guard
from storm_pipeline.interfaces.cli.options import (
    Address,
    AtOnce,
    BatchMaxCost,
    CopyTo,
    ExecutorName,
    OutlineFile,
    Processes,
    Quiet,
    argument,
    flag,
)
from storm_pipeline.interfaces.cli.output import EventLines, Output, choose_model, load_settings, say, table_text, tell
from storm_pipeline.text.formatting import amount, clock, dollars, printable, with_noun

if TYPE_CHECKING:
    from storm_pipeline.interfaces.batch import Batch, BatchReport, BatchSink, TopicStatus
    from storm_pipeline.settings import Settings

_COLUMNS = ("topic", "state", "sections", "words", "references", "calls", "time", "cost", "folder or error")
_TOPICS = "A .txt with one topic per line, a .csv with a column 'topic' and columns for settings, or a .jsonl."


@with_guard
def batch(
    ctx: typer.Context,
    topics_file: Annotated[Path, argument("TOPICS_FILE", _TOPICS)],
    *,
    headings: OutlineFile = None,
    at_once: AtOnce = None,
    processes: Processes = 1,
    executor: ExecutorName = "local",
    address: Address = "",
    batch_max_cost: BatchMaxCost = None,
    to: CopyTo = None,
    quiet: Quiet = False,
    json_events: Annotated[
        bool, flag("--json-events", "Print events as JSON lines; 'order' is the number of the topic.")
    ] = False,
    guard: Guard,
) -> None:
    """Write an article about each topic of TOPICS_FILE, as runs in one folder.

    Options apply to all topics; settings in the file take precedence. Prints a table. Retry failed and interrupted
    topics with `storm resume FOLDER`.
    """
    shown = Output(quiet, json_events)
    settings = choose_model(load_settings(ctx.obj), quiet=shown.nothing_else)
    from storm_pipeline.interfaces.batch import Batch, open_executor, read_topics

    requests = read_topics(topics_file)
    options: dict[str, Any] = {"outline": headings, "batch_max_cost": batch_max_cost, "to": to}
    with open_executor(executor, at_once=at_once, processes=processes, address=address) as place:
        create = partial(Batch.create, requests, settings, name=topics_file.stem, executor=place, **options)
        _run(create, guard, shown)


def resume_batch(folder: Path, settings: "Settings", guard: Guard, shown: Output, **options: Any) -> None:
    """Resume a batch; ``settings``, ``options``: from the command line."""
    from storm_pipeline.interfaces.batch import Batch

    _run(partial(Batch.open, folder, settings, user=load_settings(folder=None), **options), guard, shown)


def _run(make: "partial[Batch]", guard: Guard, shown: Output) -> None:
    """Run the batch with progress or events, then print its report; the first interruption stops it gracefully."""
    with ExitStack() as stack:
        sinks: list[BatchSink] = [EventLines("batch")] if shown.json_events else []
        if not shown.nothing_else:
            from storm_pipeline.interfaces.batch.progress import BatchProgress

            sinks.append(stack.enter_context(BatchProgress()))
        work = stack.enter_context(make(sinks=sinks))
        guard.folder, guard.copied_to = work.folder, make.keywords["to"]
        stack.enter_context(stop_on_interrupt(work))
        report = work.run()

    table, summary = table_text(_COLUMNS, list(map(_cells, report.rows))), _summary(report)
    if not shown.json_events:
        say(f"{table}\n{printable(str(report.folder / 'batch.json'))}", is_styled=True)
    if not shown.quiet:
        tell(f"{table}\n{summary}" if shown.json_events else summary)
    if report.stopped and not report.all_written:
        raise StoppedError("stopped; what was finished is saved")
    if report.all_written and report.uncopied:
        what = f"{len(report.uncopied)} of {len(report.rows)} articles are {report.uncopied[0]}"
        tell(f"error: {printable(what)}; resume with: {guard.resume_command}")
        raise typer.Exit(1)
    if not report.all_written:
        without = f"{sum(row.state != 'written' for row in report.rows)} of {len(report.rows)} topics have no article"
        cause = "; ".join(report.refused) or "fix the cause"
        tell(f"error: {without}: {cause}, then resume with: {guard.resume_command}")
        raise typer.Exit(1)


def _cells(row: "TopicStatus") -> tuple[str, ...]:
    from storm_pipeline.interfaces.batch.progress import short_topic

    return (
        short_topic(row),
        row.state,
        *(str(n) if row.state == "written" else "-" for n in (row.sections, row.words, row.references)),
        str(row.calls),
        clock(row.seconds),
        dollars(row.cost),
        ", ".join(filter(None, [row.folder if row.state == "written" else "", printable(row.error)])) or "-",
    )


def _summary(report: "BatchReport") -> str:
    """Return a summary of a batch: topics by state, and total usage."""
    from storm_pipeline.interfaces.batch.progress import state_counts

    rows, costs = report.rows, [row.cost for row in report.rows]
    total = None if None in costs else sum(cost for cost in costs if cost is not None)
    read, written = amount(sum(row.tokens_in for row in rows)), amount(sum(row.tokens_out for row in rows))
    usage = f"{with_noun(sum(row.calls for row in rows), 'call')}, {read} tokens in, {written} out"
    lines = [state_counts(row.state for row in rows), f"{usage}, {dollars(total)}, {report.seconds:.0f} s"]
    lines += [f"{report.repeated} repeated topics were written once"] if report.repeated else []
    return "\n".join([str(report.folder), *(f"  {line}" for line in lines)])
