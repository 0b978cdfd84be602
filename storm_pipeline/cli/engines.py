"""``storm search``: the search engines."""

from typing import TYPE_CHECKING

import typer

from storm_pipeline.cli.guard import Guard
from storm_pipeline.cli.options import Tracebacks
from storm_pipeline.cli.output import show_table

if TYPE_CHECKING:
    from storm_pipeline.search.engine_info import EngineInfo

search_app = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Search engines.")


@search_app.command("engines")
def list_engines(*, debug: Tracebacks = False) -> None:
    """List the search engines: requirements, whether free, key variable, supported filters, and what they find."""
    with Guard(debug=debug):
        from storm_pipeline.search.registry import engines

        show_table(("engine", "needs", "free", "variable", "filters", "finds"), [_row(info) for info in engines()])


def _row(info: "EngineInfo") -> tuple[str, ...]:
    filters = ", ".join(sorted(info.supports)) or "-"
    return info.name, info.needs or "-", "yes" if info.free else "no", _variables(info), filters, info.returns


def _variables(info: "EngineInfo") -> str:
    from storm_pipeline.configuration.variables import variable

    if info.variables:
        return "set" if info.key_set else "not set"
    if not info.optional_variables:
        return "-"
    return "optional, set" if all(map(variable, info.optional_variables)) else "optional, not set"
