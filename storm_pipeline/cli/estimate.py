"""``storm estimate``: what a run will take, before it begins."""

import dataclasses
import json
from typing import TYPE_CHECKING, Annotated

import typer

from storm_pipeline.cli.guard import Guard
from storm_pipeline.cli.options import OutlineFile
from storm_pipeline.cli.output import say, show_table
from storm_pipeline.text.display import amount, printable

if TYPE_CHECKING:
    from storm_pipeline.estimate import Estimate, Range
    from storm_pipeline.models.prices import Price

_Topic = Annotated[
    str,
    typer.Argument(metavar="TOPIC", help="What the article should be about, e.g. 'Silk Road'.", show_default=False),
]
_Recipe = Annotated[
    str | None,
    typer.Option(
        "--recipe",
        metavar="NAME",
        help="The method: storm, one of its ablations, or a baseline: rag …; default: the one that `storm write` uses.",
        show_default=False,
    ),
]
_Json = Annotated[bool, typer.Option("--json", help="One JSON object instead of the table.")]
_Debug = Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")]
_COLUMNS = ("stage", "asked", "calls", "tokens in", "tokens out", "dollars")


def estimate(
    ctx: typer.Context,
    topic: _Topic,
    *,
    recipe: _Recipe = None,
    headings: OutlineFile = None,
    as_json: _Json = False,
    debug: _Debug = False,
) -> None:
    """Show what an article about TOPIC will take, before it is written: calls, tokens and dollars.

    The run is rehearsed with made-up replies and sources; nothing is asked and nothing is fetched. Each number is the
    likely one, with those of a short and of a long run in brackets.
    """
    with Guard(debug=debug):
        from storm_pipeline.estimate import estimate as estimated
        from storm_pipeline.recipes import DEFAULT
        from storm_pipeline.settings import Settings

        settings = Settings.build(ctx.obj)
        made = estimated(settings, topic, recipe=recipe or DEFAULT, outline=headings)
        if as_json:
            say(json.dumps(_as_json(made), ensure_ascii=False))
        else:
            _show(made)


def _as_json(made: "Estimate") -> dict[str, object]:
    totals = {name: getattr(made, name) for name in ("calls", "tokens_in", "tokens_cached", "tokens_out", "dollars")}
    told = {name: total and dataclasses.asdict(total) for name, total in totals.items()}
    prices = {name: price and dataclasses.asdict(price) for name, price in made.prices}
    return dataclasses.asdict(made) | {"prices": prices} | told


def _show(made: "Estimate") -> None:
    rows = [
        (
            row.stage,
            f"{row.role}: {row.program}",
            *(_numbers(own) for own in (row.calls, row.tokens_in, row.tokens_out)),
            _dollars(row.dollars),
        )
        for row in made.rows
    ]
    totals = [_numbers(own) for own in (made.calls, made.tokens_in, made.tokens_out)]
    show_table(_COLUMNS, [*rows, ("in all", "", *totals, _dollars(made.dollars))])
    say("\n".join(["", *(printable(line) for line in _told(made))]))


def _told(made: "Estimate") -> list[str]:
    """The sum, prices, and what the numbers leave out."""
    from storm_pipeline.recipes import DEFAULT

    dollars = _dollars(made.dollars)
    if made.unpriced and made.known_dollars.high:
        dollars = f"unknown dollars for {', '.join(made.unpriced)}, {_dollars(made.known_dollars)} for the rest"
    cached = f"{_numbers(made.tokens_cached)} of the tokens in from a prefix cache"
    named = made.topic if made.recipe == DEFAULT else f"{made.topic}, {made.recipe}"
    total = f"{named}: {_numbers(made.calls)} calls, {_numbers(made.searches)} searches, {cached}, {dollars}"
    return [total, *(_priced(made, name, price) for name, price in made.prices), *made.notes]


def _priced(made: "Estimate", name: str, price: "Price | None") -> str:
    roles = dict.fromkeys(row.role for row in made.rows if row.model == name)
    return f"{name} ({', '.join(roles)}): {_price(price)}"


def _price(price: "Price | None") -> str:
    if price is None:
        return "price unknown"
    if not (price.fresh or price.output):
        return "free"
    return f"${price.fresh:g} in, ${price.cached:g} cached, ${price.output:g} out per million tokens"


def _numbers(own: "Range") -> str:
    """``30 (12–42)``; alone where nothing is open."""
    low, likely, high = (amount(round(number)) for number in (own.low, own.likely, own.high))
    return likely if low == high else f"{likely} ({low}–{high})"


def _dollars(own: "Range | None") -> str:
    if own is None:
        return "unknown"
    if not own.high:
        return "$0"
    digits = 2 if own.likely >= 1 else 3
    return f"${own.likely:.{digits}f} ({own.low:.{digits}f}–{own.high:.{digits}f})"
