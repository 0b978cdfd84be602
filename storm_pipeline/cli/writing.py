"""``storm write`` and ``storm outline``."""

import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from storm_pipeline.cli.guard import Guard
from storm_pipeline.cli.output import EventLines, say

if TYPE_CHECKING:
    from storm_pipeline.events import EventSink
    from storm_pipeline.storm import Storm

T = TypeVar("T")

_Topic = Annotated[
    str,
    typer.Argument(metavar="TOPIC", help="What it should be about, e.g. 'Silk Road'.", show_default=False),
]
_Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Nothing on standard error but errors.")]
_JsonEvents = Annotated[
    bool,
    typer.Option("--json-events", help="Events as JSON lines on standard output, instead of the results."),
]
_Debug = Annotated[bool, typer.Option("--debug", help="Show an error's traceback, and what libraries log.")]


def write(
    ctx: typer.Context,
    topic: _Topic,
    *,
    quiet: _Quiet = False,
    json_events: _JsonEvents = False,
    debug: _Debug = False,
) -> None:
    """Research TOPIC and write an article about it, every sentence traceable to a source.

    Prints the paths of the article, as Markdown and as HTML; what it took is told on standard error.
    """
    with Guard(debug=debug) as guard:
        article = _run(ctx.obj, [guard], lambda storm: storm.write(topic), quiet=quiet, json_events=json_events)
        from storm_pipeline.cli import summary

        files = ("article.md", "article.html") if guard.folder else ()
        result = "\n".join(str(guard.folder / file) for file in files if guard.folder)
        _tell(result, summary.of_article(article), quiet=quiet, json_events=json_events)


def outline(
    ctx: typer.Context,
    topic: _Topic,
    *,
    quiet: _Quiet = False,
    json_events: _JsonEvents = False,
    debug: _Debug = False,
) -> None:
    """Research TOPIC and print an outline of an article about it, as Markdown."""
    with Guard(debug=debug) as guard:
        from storm_pipeline.ledger import Ledger

        ledger, start = Ledger(), time.monotonic()
        made = _run(ctx.obj, [guard, ledger], lambda storm: storm.outline(topic), quiet=quiet, json_events=json_events)
        from storm_pipeline.cli import summary
        from storm_pipeline.outlines import outline_to_markdown

        report = summary.of_outline(made, ledger.usage(time.monotonic() - start), ledger.report().problems)
        _tell(outline_to_markdown(made).rstrip("\n"), report, quiet=quiet, json_events=json_events)


def _run(
    values: dict[str, Any],
    sinks: "Sequence[EventSink]",
    work: "Callable[[Storm], T]",
    *,
    quiet: bool,
    json_events: bool,
) -> T:
    """Check the settings and do the work in sight of the sinks."""
    from storm_pipeline.progress import ProgressSink
    from storm_pipeline.settings import Settings

    settings = Settings.build(values)
    with ExitStack() as stack:
        progress = None if quiet or json_events else stack.enter_context(ProgressSink())
        shown: list[EventSink] = [progress] if progress else [EventLines()] if json_events else []
        from storm_pipeline.storm import Storm

        return work(Storm(settings, sinks=[*sinks, *shown]))


def _tell(result: str, report: str, *, quiet: bool, json_events: bool) -> None:
    """The result on standard output, the report on standard error; beside events, both on standard error."""
    if not quiet:
        typer.echo(f"{report}\n{result}" if json_events else report, err=True)
    if not json_events:
        say(result)
