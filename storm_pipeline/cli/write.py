"""``storm write``, ``storm outline`` and ``storm resume``."""

import threading
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from storm_pipeline.cli.consent import settings_asking, with_consent
from storm_pipeline.cli.guard import Guard
from storm_pipeline.cli.model_choice import with_chosen_model
from storm_pipeline.cli.options import OutlineFile, Topic
from storm_pipeline.cli.output import EventLines, is_interactive, say, tell
from storm_pipeline.cli.signals import stopping
from storm_pipeline.errors import DamagedRunError, SettingsError, StormError
from storm_pipeline.text.formatting import printable

if TYPE_CHECKING:
    from storm_pipeline.progress.phases import Phase
    from storm_pipeline.progress.run_progress import ProgressSink
    from storm_pipeline.run.events import EventSink
    from storm_pipeline.run.ledger import Ledger
    from storm_pipeline.settings import Settings
    from storm_pipeline.storm import Storm
    from storm_pipeline.types import Article, Outline

T = TypeVar("T")

Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print only errors on standard error.")]
JsonEvents = Annotated[bool, typer.Option("--json-events", help="Print events as JSON lines instead of the results.")]
_Yes = Annotated[
    bool,
    typer.Option("--yes", "-y", help="Go on although files of the run were lost or changed, and buy what is missing."),
]
Debug = Annotated[bool, typer.Option("--debug", help="Show tracebacks, and warnings and logs of libraries.")]


def write(
    ctx: typer.Context,
    topic: Topic,
    *,
    piece: Annotated[
        str | None,
        typer.Option(
            "--from",
            metavar="PIECE",
            help="Continue from an edited piece of an earlier run, outline or perspectives; give the run's folder "
            "instead of TOPIC.",
        ),
    ] = None,
    headings: OutlineFile = None,
    yes: _Yes = False,
    quiet: Quiet = False,
    json_events: JsonEvents = False,
    debug: Debug = False,
) -> None:
    """Research TOPIC and write an article about it, every sentence traceable to a source.

    Prints the paths of the article in Markdown and HTML, and a summary on standard error.
    """
    with Guard(debug=debug) as guard:
        if piece and headings:
            raise SettingsError("--from goes on with the outline of a run, --outline gives another: choose one of them")

        def written(storm: "Storm", *, accept_damage: bool) -> "Article":
            if piece:
                return storm.write_from(piece, topic, accept_damage=accept_damage)
            return storm.write(topic, outline=headings)

        from storm_pipeline.settings import Settings

        silent = quiet or json_events
        settings = Settings.build(ctx.obj) if piece else with_chosen_model(settings_asking(ctx.obj), quiet=silent)
        phases = None if piece else _phases(settings, topic, headings)

        def work(*, accept_damage: bool) -> "Article":
            wanted = partial(written, accept_damage=accept_damage)
            return run_with_progress(settings, [guard], wanted, quiet=quiet, json_events=json_events, phases=phases)

        article = with_consent(lambda: _accepting_damage(work, yes=yes))
        print_article(article, guard, quiet=quiet, json_events=json_events)


def resume(
    ctx: typer.Context,
    run: Annotated[Path, typer.Argument(metavar="RUN", help="Folder of a run or a batch.", show_default=False)],
    *,
    yes: _Yes = False,
    quiet: Quiet = False,
    json_events: JsonEvents = False,
    debug: Debug = False,
) -> None:
    """Resume RUN after an interruption, a cap, or a failure, reusing recorded replies and searches.

    Settings are those of the run, overridden by options; configuration files are not read. The result of a
    finished run is printed again. In a batch, finished articles are kept, and all other topics are resumed or started.
    Where files of the run were lost or changed, so that much would be bought again, it asks first; without a terminal
    it needs --yes. Of a run from elsewhere, models, addresses and names of keys count only once you trust it, or give
    your own: it asks on a terminal, else use `storm trust RUN`.
    """
    with Guard(debug=debug) as guard:
        from storm_pipeline.batch import is_batch

        if is_batch(run):
            from storm_pipeline.cli.batch import resume_batch

            resume_batch(run, ctx.obj, guard, accept_damage=yes, quiet=quiet, json_events=json_events)
            return
        if (run / "run.json").exists():
            guard.folder = run
        from storm_pipeline.run.ledger import Ledger
        from storm_pipeline.settings import Settings
        from storm_pipeline.types import Article

        ledger, start = Ledger(), time.monotonic()
        settings = Settings.build(ctx.obj)

        def work(*, accept_damage: bool) -> "Article | Outline":
            def resumed(storm: "Storm") -> "Article | Outline":
                return storm.resume(run, accept_damage=accept_damage)

            return run_with_progress(settings, [guard, ledger], resumed, quiet=quiet, json_events=json_events)

        result = with_consent(lambda: _accepting_damage(work, yes=yes))
        if isinstance(result, Article):
            print_article(result, guard, quiet=quiet, json_events=json_events)
        else:
            _print_outline(result, ledger, time.monotonic() - start, quiet=quiet, json_events=json_events)


def outline(
    ctx: typer.Context, topic: Topic, *, quiet: Quiet = False, json_events: JsonEvents = False, debug: Debug = False
) -> None:
    """Research TOPIC and print an outline of an article about it, as Markdown."""
    with Guard(debug=debug) as guard:
        from storm_pipeline.run.ledger import Ledger

        ledger, start = Ledger(), time.monotonic()
        settings = with_chosen_model(settings_asking(ctx.obj), quiet=quiet or json_events)
        result = run_with_progress(
            settings,
            [guard, ledger],
            lambda storm: storm.outline(topic),
            quiet=quiet,
            json_events=json_events,
            phases=_phases(settings, topic, outline_only=True),
        )
        _print_outline(result, ledger, time.monotonic() - start, quiet=quiet, json_events=json_events)


def _accepting_damage(work: Callable[..., T], *, yes: bool) -> T:
    """The result of ``work(accept_damage=…)``: of a damaged run if the user agrees, on the terminal or by --yes."""
    try:
        return work(accept_damage=yes)
    except DamagedRunError as error:
        if not is_interactive():
            raise
        tell(printable(f"{error.folder}: {'; '.join(error.findings)}."))
        try:
            agreed = typer.confirm("Go on?", err=True)
        except typer.Abort:  # end of input, or Ctrl-C
            agreed = False
        if not agreed:
            raise
        return work(accept_damage=True)


def run_with_progress(
    settings: "Settings",
    sinks: "Sequence[EventSink]",
    work: "Callable[[Storm], T]",
    *,
    quiet: bool,
    json_events: bool,
    phases: "Callable[[], tuple[Phase, ...]] | None" = None,
) -> T:
    """Do the work with progress or events; the first interruption stops it gracefully."""
    from storm_pipeline.progress.run_progress import ProgressSink

    with ExitStack() as stack:
        progress = None if quiet or json_events else stack.enter_context(ProgressSink())
        if phases and progress and progress.is_live:
            threading.Thread(target=_expect, args=(progress, phases), name="phases", daemon=True).start()
        shown: list[EventSink] = [progress] if progress else [EventLines()] if json_events else []
        from storm_pipeline.storm import Storm

        storm = Storm(settings, sinks=[*sinks, *shown])
        stack.enter_context(stopping(storm))
        return work(storm)


def _phases(
    settings: "Settings", topic: str, headings: str | None = None, *, outline_only: bool = False
) -> "Callable[[], tuple[Phase, ...]]":
    """Finds out which phases the run will have."""

    def find() -> "tuple[Phase, ...]":
        from storm_pipeline.progress.phases import expected_phases

        return expected_phases(settings, topic, outline_only=outline_only, outline=headings)

    return find


def _expect(progress: "ProgressSink", phases: "Callable[[], tuple[Phase, ...]]") -> None:
    """Show the phases; what is wrong with the topic or the outline is reported by the run itself."""
    with suppress(StormError):
        progress.expect(phases())


def print_article(article: "Article", guard: Guard, *, quiet: bool, json_events: bool) -> None:
    """The paths of an article on standard output, and its summary on standard error."""
    from storm_pipeline.cli import summary

    files = ("article.md", "article.html") if guard.folder else ()
    result = "\n".join(str(guard.folder / file) for file in files if guard.folder)
    _print(result, summary.of_article(article), quiet=quiet, json_events=json_events)


def _print_outline(outline: "Outline", ledger: "Ledger", seconds: float, *, quiet: bool, json_events: bool) -> None:
    from storm_pipeline.cli import summary
    from storm_pipeline.text.outlines import outline_to_markdown

    report = summary.of_outline(outline, ledger.usage(seconds), ledger.report().problems)
    _print(outline_to_markdown(outline).rstrip("\n"), report, quiet=quiet, json_events=json_events)


def _print(result: str, report: str, *, quiet: bool, json_events: bool) -> None:
    """Print the result on standard output and the report on standard error; with events, both on standard error."""
    if not quiet:
        tell(f"{report}\n{result}" if json_events else report)
    if not json_events:
        say(result)
