"""``storm write`` and ``storm outline``."""

import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from storm_pipeline.cli.guard import Guard
from storm_pipeline.cli.options import OutlineFile
from storm_pipeline.cli.output import EventLines, say
from storm_pipeline.cli.signals import stopping
from storm_pipeline.errors import SettingsError

if TYPE_CHECKING:
    from storm_pipeline.run.events import EventSink
    from storm_pipeline.run.ledger import Ledger
    from storm_pipeline.storm import Storm
    from storm_pipeline.types import Article, Outline

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
    piece: Annotated[
        str | None,
        typer.Option(
            "--from",
            metavar="PIECE",
            help="Go on from an edited piece of an earlier run, whose folder is given in place of the topic: "
            "outline or perspectives.",
        ),
    ] = None,
    headings: OutlineFile = None,
    quiet: _Quiet = False,
    json_events: _JsonEvents = False,
    debug: _Debug = False,
) -> None:
    """Research TOPIC and write an article about it, every sentence traceable to a source.

    Prints the paths of the article, as Markdown and as HTML; what it took is told on standard error.
    """
    with Guard(debug=debug) as guard:
        if piece and headings:
            raise SettingsError("--from goes on with the outline of a run, --outline gives another: choose one of them")

        def work(storm: "Storm") -> "Article":
            return storm.write_from(piece, topic) if piece else storm.write(topic, outline=headings)

        article = _run(ctx.obj, [guard], work, quiet=quiet, json_events=json_events)
        _tell_article(article, guard, quiet=quiet, json_events=json_events)


def resume(
    ctx: typer.Context,
    run: Annotated[Path, typer.Argument(metavar="RUN", help="Folder of the run, or of a batch.", show_default=False)],
    *,
    quiet: _Quiet = False,
    json_events: _JsonEvents = False,
    debug: _Debug = False,
) -> None:
    """Go on with RUN, which was interrupted, stopped by a cap, or failed; nothing is bought twice.

    Options take the place of the settings that the run had. A finished run is only told again. Of a batch, what is
    written stays, and all else goes on or is begun.
    """
    with Guard(debug=debug) as guard:
        guard.folder = run
        from storm_pipeline.batch import is_batch

        if is_batch(run):
            from storm_pipeline.cli.batch import go_on

            go_on(run, ctx.obj, guard, quiet=quiet, json_events=json_events)
            return
        from storm_pipeline.run.ledger import Ledger
        from storm_pipeline.types import Article

        ledger, start = Ledger(), time.monotonic()
        made = _run(ctx.obj, [guard, ledger], lambda storm: storm.resume(run), quiet=quiet, json_events=json_events)
        if isinstance(made, Article):
            _tell_article(made, guard, quiet=quiet, json_events=json_events)
        else:
            _tell_outline(made, ledger, time.monotonic() - start, quiet=quiet, json_events=json_events)


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
        from storm_pipeline.run.ledger import Ledger

        ledger, start = Ledger(), time.monotonic()
        made = _run(ctx.obj, [guard, ledger], lambda storm: storm.outline(topic), quiet=quiet, json_events=json_events)
        _tell_outline(made, ledger, time.monotonic() - start, quiet=quiet, json_events=json_events)


def _run(
    values: dict[str, Any],
    sinks: "Sequence[EventSink]",
    work: "Callable[[Storm], T]",
    *,
    quiet: bool,
    json_events: bool,
) -> T:
    """Check the settings and do the work in sight of the sinks; the first interruption stops it in order."""
    from storm_pipeline.progress.run_progress import ProgressSink
    from storm_pipeline.settings import Settings

    settings = Settings.build(values)
    with ExitStack() as stack:
        progress = None if quiet or json_events else stack.enter_context(ProgressSink())
        shown: list[EventSink] = [progress] if progress else [EventLines()] if json_events else []
        from storm_pipeline.storm import Storm

        storm = Storm(settings, sinks=[*sinks, *shown])
        stack.enter_context(stopping(storm))
        return work(storm)


def _tell_article(article: "Article", guard: Guard, *, quiet: bool, json_events: bool) -> None:
    from storm_pipeline.cli import summary

    files = ("article.md", "article.html") if guard.folder else ()
    result = "\n".join(str(guard.folder / file) for file in files if guard.folder)
    _tell(result, summary.of_article(article), quiet=quiet, json_events=json_events)


def _tell_outline(made: "Outline", told: "Ledger", seconds: float, *, quiet: bool, json_events: bool) -> None:
    from storm_pipeline.cli import summary
    from storm_pipeline.text.outlines import outline_to_markdown

    report = summary.of_outline(made, told.usage(seconds), told.report().problems)
    _tell(outline_to_markdown(made).rstrip("\n"), report, quiet=quiet, json_events=json_events)


def _tell(result: str, report: str, *, quiet: bool, json_events: bool) -> None:
    """The result on standard output, the report on standard error; beside events, both on standard error."""
    if not quiet:
        typer.echo(f"{report}\n{result}" if json_events else report, err=True)
    if not json_events:
        say(result)
