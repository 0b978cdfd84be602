"""Command-line options generated from the fields of ``Settings``, and parameters shared by commands.

The options are generated when a command is parsed, not at import, since the settings import pydantic, which ``storm
--help`` does not need.
"""

import inspect
from functools import cache
from pathlib import Path
from types import UnionType
from typing import TYPE_CHECKING, Annotated, Any, Literal, Union, get_args, get_origin

import typer
from typer.core import TyperCommand, TyperGroup

if TYPE_CHECKING:
    from pydantic.fields import FieldInfo

_PANELS = {"lm": "Language models", "perspectives": "Research", "embedder": "Writing", "out": "Folders"}
"""Field → heading of the help text for that field and those after it."""
_COMMON = tuple("lm search depth length perspectives style article_language source_policy max_cost out".split())
"""Common settings, which the help lists first."""

_ALL = "storm_pipeline.all_settings"  # key of a context's ``meta``, set while the help shows all settings
_HELP_ALL = "help_all"
_OUTLINE = (
    "The sections to write, instead of a generated outline: '#' headings or a list, one per line. A file "
    "that does not name the topic serves as a template, such as: Early life, Career, Legacy."
)


def option(names: str, metavar: str | None, text: str, **more: Any) -> Any:
    """Return an option with its space-separated names, the placeholder of its value, and its help."""
    return typer.Option(*names.split(), metavar=metavar, help=text, **more)


def flag(names: str, text: str) -> Any:
    """Return an option without a value."""
    return option(names, None, text)


def argument(metavar: str, text: str) -> Any:
    """Return an argument of a command."""
    return typer.Argument(metavar=metavar, help=text)


Topic = Annotated[str, argument("TOPIC", "Topic of the article, e.g. 'Silk Road'.")]
OutlineFile = Annotated[str | None, option("--outline", "FILE", _OUTLINE)]
AtOnce = Annotated[int | None, option("--at-once", "K", "Articles of a batch written at once; default: 2 a process.")]
Processes = Annotated[int, option("--processes", "N", "Processes that a batch is written by, 1 to 64.")]
ExecutorName = Annotated[
    Literal["local", "ray"], option("--executor", None, "Where a batch is written: on this machine or a Ray cluster.")
]
Address = Annotated[
    str, option("--address", "HOST:PORT", "Ray cluster, or 'auto' for this machine's; default: a new Ray here.")
]
_BATCH_COST = "Cap on the dollars of all topics together, earlier sessions included; --max-cost is that of each."
BatchMaxCost = Annotated[float | None, option("--batch-max-cost", "DOLLARS", _BATCH_COST)]
_TO = "Copy each finished article (Markdown, HTML, JSON, sources) to an address such as s3://bucket/prefix."
CopyTo = Annotated[str | None, option("--to", "ADDRESS", _TO)]
Quiet = Annotated[bool, flag("--quiet -q", "Print only errors on standard error.")]
Json = Annotated[bool, flag("--json", "Print JSON instead of a table.")]
JsonEvents = Annotated[bool, flag("--json-events", "Print events as JSON lines instead of the results.")]
Runs = Annotated[Path | None, option("--out", "DIR", "Folder of runs; default: runs.")]


class _WithSettings(TyperCommand if TYPE_CHECKING else object):  # type: ignore[misc]
    """A command with every setting as an option; given values are in ``ctx.obj``, by field name.

    Values are strings, validated by ``Settings``. ``--help`` shows common settings, ``--help-all`` all.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **{**kwargs, "rich_markup_mode": "rich"})  # for headings between the options

    @property
    def _own_names(self) -> set[str]:
        """The command's parameters, which override settings of the same name."""
        return {param.name for param in self.params}

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the command's parameters and the settings."""
        params: list[Any] = super().get_params(ctx)
        shown = _options(every=ctx.meta.get(_ALL, False))
        return [*params, _help_all(len(shown)), *(option for option in shown if option.name not in self._own_names)]

    def invoke(self, ctx: Any) -> Any:
        """Move the given settings from the parameters to ``ctx.obj``."""
        from storm_pipeline.settings import Settings

        ctx.params.pop(_HELP_ALL)
        values = {name: ctx.params.pop(name) for name in Settings.model_fields if name not in self._own_names}
        ctx.obj = {name: value for name, value in values.items() if value not in (None, (), [])}
        return super().invoke(ctx)


class SettingsCommand(_WithSettings, TyperCommand):
    """A command with settings."""


class SettingsGroup(_WithSettings, TyperGroup):
    """A command with settings and subcommands."""


@cache
def _help_all(number: int) -> Any:
    """Return the option ``--help-all``, which shows the help with all settings."""

    def show(ctx: typer.Context, wanted: bool) -> None:  # noqa: FBT001 - what Typer passes
        if wanted and not ctx.resilient_parsing:
            ctx.meta[_ALL] = True
            typer.echo(ctx.get_help(), color=ctx.color)
            raise typer.Exit

    text = f"Show the other {number - len(_COMMON)} settings too."
    option = typer.Option("--help-all", help=text, is_eager=True, callback=show)
    (made,) = _derive_options({_HELP_ALL: Annotated[bool, option]}, default=False)
    return made


@cache
def _options(*, every: bool) -> tuple[Any, ...]:
    """Return an option for each setting, common ones first; the help shows all if ``every``, else the common ones."""
    from storm_pipeline.settings import Settings, option_name

    annotations: dict[str, Any] = {}
    panels: dict[str, str] = {}
    for name in Settings.model_fields:
        panels[name] = _PANELS.get(name, next(reversed(panels.values()), ""))
    for name in dict.fromkeys((*_COMMON, *panels)):
        field, panel = Settings.model_fields[name], "Common settings" if name in _COMMON else panels[name]
        many = get_origin(field.annotation) is tuple
        option = typer.Option(
            option_name(name),
            help=_help(field),
            metavar=_metavar(field.annotation),
            rich_help_panel=panel,
            hidden=not every and name not in _COMMON,
        )
        annotations[name] = Annotated[list[str] | None if many else str | None, option]
    return _derive_options(annotations, default=None)


def _derive_options(annotations: dict[str, Any], default: Any) -> tuple[Any, ...]:
    """Return the options that Typer derives from a function with these annotations."""

    def holder(**_: Any) -> None: ...

    holder.__annotations__ = annotations
    holder.__dict__["__signature__"] = inspect.Signature(
        [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)
            for name, annotation in annotations.items()
        ]
    )
    app = typer.Typer(add_completion=False)
    app.command()(holder)
    return tuple(typer.main.get_command(app).params)


def _help(field: "FieldInfo") -> str:
    low = [f"at least {m.ge}" for m in field.metadata if hasattr(m, "ge")]
    low += [f"more than {m.gt}" for m in field.metadata if hasattr(m, "gt")]
    high = [f"at most {m.le}" for m in field.metadata if hasattr(m, "le")]
    default = [] if field.default_factory or field.default in (None, ()) else [f"default {field.default}"]
    facts = ", ".join(low + high + default)
    return f"{field.description} ({facts})" if facts else str(field.description)


def _metavar(annotation: Any) -> str:
    """Return an option's placeholder in the help: ``INT`` for ``int | None``, the values for a choice."""
    if get_origin(annotation) is Literal:
        return "|".join(map(str, get_args(annotation)))
    if get_origin(annotation) in (Annotated, UnionType, Union, tuple):
        return _metavar(get_args(annotation)[0])
    return "TEXT" if annotation is str else str(annotation.__name__).upper()
