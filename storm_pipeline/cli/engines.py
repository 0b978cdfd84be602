"""``storm search``: which engines there are."""

from typing import TYPE_CHECKING, Annotated

import typer

from storm_pipeline.cli.guard import Guard
from storm_pipeline.cli.output import show_table

if TYPE_CHECKING:
    from storm_pipeline.search.opening import EngineInfo

search_app = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Where sources come from.")


@search_app.command("engines")
def list_engines(
    *, debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False
) -> None:
    """Show the search engines: what each needs, whether it is free and set up, its options, and what it finds."""
    with Guard(debug=debug):
        from storm_pipeline.search.registry import engines

        show_table(("engine", "needs", "free", "variable", "chooses by", "finds"), [_row(info) for info in engines()])


def _row(info: "EngineInfo") -> tuple[str, ...]:
    by = ", ".join(sorted(info.supports)) or "-"
    return info.name, info.needs or "-", "yes" if info.free else "no", _variables(info), by, info.returns


def _variables(info: "EngineInfo") -> str:
    from storm_pipeline.search.opening import env_var

    if info.variables:
        return "set" if info.key_set else "not set"
    if not info.optional_variables:
        return "-"
    return "optional, set" if all(map(env_var, info.optional_variables)) else "optional, not set"
