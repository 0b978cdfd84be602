"""The ``storm`` command: its subcommands and exit behaviour."""

import os
import signal
import sys
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from storm_pipeline import __version__
from storm_pipeline.errors import MissingExtraError, StormError
from storm_pipeline.interfaces.cli.batch import batch
from storm_pipeline.interfaces.cli.check import check, refresh
from storm_pipeline.interfaces.cli.compile import compile_programs
from storm_pipeline.interfaces.cli.estimate import estimate
from storm_pipeline.interfaces.cli.guard import INTERRUPTED, Guard, end_now
from storm_pipeline.interfaces.cli.options import SettingsCommand
from storm_pipeline.interfaces.cli.output import say, silence_stdout
from storm_pipeline.interfaces.cli.runs import export, runs, show
from storm_pipeline.interfaces.cli.serve import mcp, serve_app, web
from storm_pipeline.interfaces.cli.setup import assets_app, doctor, init
from storm_pipeline.interfaces.cli.sources import documents, search_app, sources_app
from storm_pipeline.interfaces.cli.write import answer, outline, resume, write
from storm_pipeline.run.concurrency import tune_process
from storm_pipeline.text.configuration.variables import use_files

ENTRY_POINTS = "storm_pipeline.commands"  # group of entry points: command → a ``typer.Typer``
FILES = ("--config", "--env-file")  # options of all commands
_ABSENT = {"experiment": ("storm-bench", "Compare methods on a data set (needs the package storm-bench).")}
"""Commands of our other distributions: the distribution, and the help line if it is not installed."""
_Config = Annotated[
    Path | None,
    typer.Option("--config", metavar="FILE", exists=True, help="A .toml of settings, above your own and the folder's."),
]
_EnvFile = Annotated[
    Path | None,
    typer.Option("--env-file", metavar="FILE", exists=True, help="Variables, such as keys: NAME=VALUE, one a line."),
]


class StormGroup(TyperGroup):
    """The commands of the package, then those of plug-ins."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the arguments; options common to all commands may also follow the command's name."""
        end = args.index("--") if "--" in args else len(args)
        named: list[str] = []
        for place in range(end - 1, -1, -1):
            name, equals, _ = args[place].partition("=")
            if name in FILES:
                named = args[place : place + (1 if equals else 2)] + named
                args = args[:place] + args[place + (1 if equals else 2) :]
        remaining: list[str] = super().parse_args(ctx, [*named, *args])
        return remaining

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names of all commands."""
        return [*super().list_commands(ctx), *sorted({*_plugins(), *_ABSENT})]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return the command of this name, the package's first; None if unknown."""
        command = super().get_command(ctx, cmd_name)
        if command is not None:
            return command
        if cmd_name in _plugins():
            return _load(_plugins()[cmd_name])
        return _missing_command(cmd_name) if cmd_name in _ABSENT else None


@cache
def _plugins() -> dict[str, EntryPoint]:
    return {entry.name: entry for entry in entry_points(group=ENTRY_POINTS)}


def _load(entry: EntryPoint) -> Any:
    try:
        command = typer.main.get_group(entry.load())
    except (ImportError, AttributeError) as error:
        package = entry.dist.name if entry.dist else entry.module
        raise MissingExtraError(
            f"`storm {entry.name}` cannot be loaded ({error}): reinstall {package} in the version of storm-pipeline"
        ) from error
    command.name = entry.name
    return command


def _missing_command(name: str) -> Any:
    """Return a command that accepts any arguments and names the missing package."""
    package, line = _ABSENT[name]
    whatever = {"ignore_unknown_options": True, "allow_extra_args": True, "help_option_names": []}

    def complain() -> None:
        with Guard():
            raise MissingExtraError(f"`storm {name}` needs the package {package}: pip install {package}")

    return TyperCommand(name, callback=complain, short_help=line, context_settings=whatever, rich_markup_mode=None)


app = typer.Typer(
    name="storm",
    cls=StormGroup,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # rich would double the start-up time of `storm --help`
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command(cls=SettingsCommand, short_help="Write an article about TOPIC.")(write)
app.command(cls=SettingsCommand, short_help="Answer QUESTION at length.")(answer)
app.command(cls=SettingsCommand, short_help="Print an outline of an article about TOPIC.")(outline)
app.command(cls=SettingsCommand, short_help="Write an article about each topic of a file.")(batch)
app.command(cls=SettingsCommand, short_help="Resume an interrupted RUN or batch.")(resume)
app.command(cls=SettingsCommand, short_help="Estimate calls, tokens and cost of an article about TOPIC.")(estimate)
app.command("compile", cls=SettingsCommand, short_help="Improve programs for a model with your own articles.")(
    compile_programs
)
app.command(cls=SettingsCommand, short_help="Judge every sentence of ARTICLE by its sources.")(check)
app.command(cls=SettingsCommand, short_help="Look at the sources of RUN's article again.")(refresh)
app.command(short_help="List the runs with their state and usage.")(runs)
app.command(short_help="Show the timeline of RUN.")(show)
app.command(short_help="Write the article of RUN as files for other programs.")(export)
app.command(cls=SettingsCommand, short_help="Write, watch and read articles in your browser.")(web)
app.add_typer(serve_app, name="serve", short_help="Serve runs to other programs over HTTP.")
app.command(cls=SettingsCommand, short_help="Serve runs to an assistant by MCP.")(mcp)
app.command(short_help="Ask five questions and write your storm.toml.")(init)
app.command(cls=SettingsCommand, short_help="Show what is configured, set up, and missing.")(doctor)
app.command(short_help="Show what a FOLDER of your documents holds.")(documents)
app.add_typer(assets_app, name="assets")
app.add_typer(search_app, name="search")
app.add_typer(sources_app, name="sources")


@app.callback(invoke_without_command=True)
def storm(
    *,
    config: _Config = None,
    env_file: _EnvFile = None,
    version: Annotated[bool, typer.Option("--version", help="Show the version and exit.")] = False,
) -> None:
    """Research a topic and write an encyclopedia article about it, every sentence traceable to a source."""
    if version:
        say(f"storm-pipeline {__version__}")
        raise typer.Exit
    with Guard():
        use_files(config, env_file)


def main() -> None:
    """Run the command line; an interruption (Ctrl-C, SIGTERM) not handled by a command ends the process at once."""
    if sys.getfilesystemencoding() != "utf-8":  # a locale such as C could not represent topics or file names
        os.execv(sys.executable, [sys.executable, "-X", "utf8", *sys.orig_argv[1:]])  # noqa: S606 - this very program
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    tune_process()
    try:
        app(prog_name="storm")
    except SystemExit as ending:
        if ending.code == INTERRUPTED:
            end_now()
        raise
    except (OSError, StormError) as error:  # from help and version; commands handle their errors
        silence_stdout()
        typer.echo(f"error: {error}", err=True)
        sys.exit(1)
    except KeyboardInterrupt:  # a second one while the first is handled
        end_now()
