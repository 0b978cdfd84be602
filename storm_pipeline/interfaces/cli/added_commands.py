"""Commands that other distributions add to ``storm``, through entry points; they are looked up when asked for."""

from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from storm_pipeline.errors import MissingExtraError
from storm_pipeline.interfaces.cli.guard import Guard

ENTRY_POINTS = "storm_pipeline.commands"  # group of entry points: command → a ``typer.Typer``
FILES = ("--config", "--env-file")  # options of all commands
_ABSENT = {"experiment": ("storm-bench", "Compare methods on a data set (needs the package storm-bench).")}
"""Commands of our own distributions: which one has it, and its line of the help while that is not installed."""


class StormGroup(TyperGroup):
    """The commands of the package, then those that are added."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse; the files that all commands take may also be named after the command."""
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
        """Names of all commands."""
        return [*super().list_commands(ctx), *sorted({*_added(), *_ABSENT})]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """The command of this name, the package's own first; None if there is none."""
        own = super().get_command(ctx, cmd_name)
        if own is not None:
            return own
        if cmd_name in _added():
            return _loaded(_added()[cmd_name])
        return _absent(cmd_name) if cmd_name in _ABSENT else None


@cache
def _added() -> dict[str, EntryPoint]:
    return {entry.name: entry for entry in entry_points(group=ENTRY_POINTS)}


def _loaded(entry: EntryPoint) -> Any:
    try:
        command = typer.main.get_group(entry.load())
    except (ImportError, AttributeError) as error:
        package = entry.dist.name if entry.dist else entry.module
        raise MissingExtraError(
            f"`storm {entry.name}` cannot be loaded ({error}): reinstall {package} in the version of storm-pipeline"
        ) from error
    command.name = entry.name
    return command


def _absent(name: str) -> Any:
    """A command that says which distribution has it, whatever its arguments."""
    package, line = _ABSENT[name]
    whatever = {"ignore_unknown_options": True, "allow_extra_args": True, "help_option_names": []}

    def said() -> None:
        with Guard():
            raise MissingExtraError(f"`storm {name}` needs the package {package}: pip install {package}")

    return TyperCommand(name, callback=said, short_help=line, context_settings=whatever, rich_markup_mode=None)
