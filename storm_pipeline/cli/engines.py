"""``storm search``: which engines there are."""

from typing import Annotated

import typer

from storm_pipeline.cli.guard import Guard
from storm_pipeline.cli.output import show_table

search_app = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Where sources come from.")

_KEYS = {None: "-", True: "set", False: "not set"}


@search_app.command("engines")
def list_engines(
    *, debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False
) -> None:
    """Show the search engines: what each needs, whether it is free and set up, and what it finds."""
    with Guard(debug=debug):
        from storm_pipeline.search.registry import engines

        rows = [(e.name, e.needs, "yes" if e.free else "no", _KEYS[e.key_set], e.returns) for e in engines()]
        show_table(("engine", "needs", "free", "variable", "finds"), rows)
