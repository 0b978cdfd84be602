"""``storm estimate``: calls, tokens and cost of a run before it starts."""

import dataclasses
import json
from typing import TYPE_CHECKING, Annotated

import typer

from storm_pipeline.interfaces.cli.guard import with_guard
from storm_pipeline.interfaces.cli.options import Json, OutlineFile, Topic, option
from storm_pipeline.interfaces.cli.output import choose_model, load_settings, say, show_table
from storm_pipeline.text.formatting import printable

if TYPE_CHECKING:
    from storm_pipeline.interfaces.estimate import Estimate, EstimateRow
    from storm_pipeline.types import Price

_RECIPE = "The method: storm, an ablation, or a baseline such as rag; default: that of `storm write`."
_COLUMNS = ("stage", "role", "calls", "tokens in", "tokens out", "dollars")


@with_guard
def estimate(
    ctx: typer.Context,
    topic: Topic,
    *,
    recipe: Annotated[str | None, option("--recipe", "NAME", _RECIPE)] = None,
    headings: OutlineFile = None,
    as_json: Json = False,
) -> None:
    """Estimate calls, tokens and dollars of an article about TOPIC before it is written.

    A formula computes the numbers from the settings; no service is called. Each likely number has its range in
    brackets.
    """
    from storm_pipeline.interfaces.estimate import estimate as estimate_run
    from storm_pipeline.recipes import DEFAULT

    settings = choose_model(load_settings(ctx.obj), quiet=as_json)
    result = estimate_run(settings, topic, recipe=recipe or DEFAULT, outline=headings)
    if as_json:
        say(json.dumps(dataclasses.asdict(result), ensure_ascii=False))
    else:
        _show(result)


def _show(estimate: "Estimate") -> None:
    from storm_pipeline.recipes import DEFAULT

    def amounts(row: "EstimateRow | Estimate") -> list[str]:
        dollars = row.dollars.dollars() if row.dollars else "unknown"
        return [*(number.amounts() for number in (row.calls, row.tokens_in, row.tokens_out)), dollars]

    rows = [(row.stage, row.role, *amounts(row)) for row in estimate.rows]
    show_table(_COLUMNS, [*rows, ("total", "", *amounts(estimate))])
    dollars = amounts(estimate)[-1]
    if estimate.dollars is None and estimate.known_dollars.high:
        unpriced = ", ".join(name for name, price in estimate.prices.items() if price is None)
        dollars = f"unknown dollars for {unpriced}, {estimate.known_dollars.dollars()} for the rest"
    name = estimate.topic if estimate.recipe == DEFAULT else f"{estimate.topic}, {estimate.recipe}"
    total = f"{name}: {estimate.calls.amounts()} calls, {estimate.searches.amounts()} searches, {dollars}"
    prices = (_price_line(estimate, model, price) for model, price in estimate.prices.items())
    say("\n".join(["", *map(printable, (total, *prices, *estimate.notes))]))


def _price_line(estimate: "Estimate", name: str, price: "Price | None") -> str:
    roles = dict.fromkeys(row.role for row in estimate.rows if row.model == name)
    if price is None:
        costs = "price unknown"
    elif not (price.fresh or price.output):
        costs = "free"
    else:
        costs = f"${price.fresh:g} in, ${price.cached:g} cached, ${price.output:g} out per million tokens"
    return f"{name} ({', '.join(roles)}): {costs}"
