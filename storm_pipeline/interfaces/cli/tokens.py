"""``storm serve token``: named tokens of a server's callers."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from storm_pipeline.errors import SettingsError
from storm_pipeline.interfaces.cli.guard import with_guard
from storm_pipeline.interfaces.cli.options import argument, option
from storm_pipeline.interfaces.cli.output import load_settings, say, show_table, tell

if TYPE_CHECKING:
    from storm_pipeline.interfaces.server.callers import Tokens

token_app = typer.Typer(
    no_args_is_help=True, rich_markup_mode=None, help="Tokens of callers who have access to their own runs alone."
)
_Name = Annotated[str, argument("NAME", "Name of the token: small letters, digits and hyphens.")]
_Out = Annotated[Path | None, option("--out", "DIR", "Folder of the server's runs; default: runs.")]
_Budget = Annotated[float | None, option("--budget", "DOLLARS", "What its runs may cost in a calendar month (UTC).")]


@token_app.command("add")
@with_guard
def add(ctx: typer.Context, name: _Name, *, budget: _Budget = None, out: _Out = None) -> None:
    """Make the token NAME and print it once: only its hash is stored."""
    say(_tokens(ctx, out).add(name, budget))
    tell(f"give it to {name}, who sends it as `Authorization: Bearer …`; it is not shown again")


@token_app.command("list")
@with_guard
def list_tokens(ctx: typer.Context, *, out: _Out = None) -> None:
    """List the tokens with their budgets and their cost of this month."""
    from storm_pipeline.interfaces.server.budget import Budgets
    from storm_pipeline.interfaces.server.callers import Caller

    tokens = _tokens(ctx, out)
    rows = []
    for token in tokens.all():
        budget = Budgets(tokens.folder, None).of(Caller(token.name, token.budget))
        spent = ("-", "-") if budget is None else (f"{budget.most:g}", f"{budget.spent:.2f}")
        rows.append((token.name, token.created, "revoked" if token.revoked else "valid", *spent))
    if rows:
        show_table(("name", "created", "state", "dollars a month", "spent"), rows)
    else:
        tell(f"no tokens in {tokens.folder}: make one with `storm serve token add NAME`")


@token_app.command("revoke")
@with_guard
def revoke(ctx: typer.Context, name: _Name, *, out: _Out = None) -> None:
    """Revoke the token NAME, at once for a running server. Its runs are kept and continue."""
    _tokens(ctx, out).revoke(name)
    tell(f"{name} is refused from now on")


def _tokens(ctx: typer.Context, out: Path | None) -> "Tokens":
    """Return the tokens in the folder of runs. ``ctx``: context of a subcommand of ``storm serve``."""
    from storm_pipeline.interfaces.server.callers import Tokens

    given = dict(ctx.obj or {})
    if set(given) - {"out"}:
        raise SettingsError("settings belong to the server: of `storm serve token` give --out alone")
    return Tokens(load_settings(given | ({"out": out} if out else {})).out)
