"""Estimates of a run's calls, tokens and dollars by a formula."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from storm_pipeline.errors import SettingsError
from storm_pipeline.interfaces.estimate.formula import (
    CALLS,
    FOREIGN,
    REASONING,
    TOKENS,
    Plan,
    RowUsage,
    searches,
    usage,
)
from storm_pipeline.method.user_pieces import parse_pieces, read_outline
from storm_pipeline.models.prices import fit_to_window, full_name, parse_prices, price_of, reasons_by_default
from storm_pipeline.models.programs import Programs
from storm_pipeline.recipes import DEFAULT, OUTLINES, RECIPES, for_recipe, no_such_recipe, require_outline
from storm_pipeline.settings import Role, Settings, is_embedded
from storm_pipeline.text.formatting import amount
from storm_pipeline.types import Outline, Price


@dataclass(frozen=True)
class Range:
    """An estimated number; ``low <= likely <= high``."""

    low: float
    likely: float
    high: float

    @classmethod
    def of(cls, likely: float, factors: Iterable[float]) -> "Range":
        """Return the range of rounded multiples of a likely number."""
        return cls(*(round(factor * likely) for factor in factors))

    @classmethod
    def sum(cls, ranges: Iterable["Range"]) -> "Range":
        """Return the sum of the ranges, adding lows, likely numbers and highs."""
        summands = list(ranges)
        return cls(sum(r.low for r in summands), sum(r.likely for r in summands), sum(r.high for r in summands))

    def amounts(self) -> str:
        """Return the range as text: ``30 (12–42)``, ``12.3k (10.1k–15.0k)``; ``30`` if the bounds are equal."""
        low, likely, high = (amount(round(number)) for number in (self.low, self.likely, self.high))
        return likely if low == high else f"{likely} ({low}–{high})"

    def __contains__(self, number: float) -> bool:
        return self.low <= number <= self.high


@dataclass(frozen=True)
class EstimateRow:
    """One program of one stage."""

    stage: str  # as in events and usage, e.g. ``conversations``
    role: Role  # role of the model
    program: str  # field of :class:`storm_pipeline.models.programs.Programs`, e.g. ``question``
    model: str  # name of the model as in the settings
    calls: Range  # number of calls
    tokens_in: Range  # prompt tokens of all calls
    tokens_out: Range  # completion tokens of all calls, including thinking
    dollars: Range | None  # US dollars; None if the model's price is unknown


@dataclass(frozen=True)
class Estimate:
    """Estimated usage of a run."""

    topic: str  # topic of the article
    recipe: str  # name of the method
    rows: tuple[EstimateRow, ...]  # one per program and stage, in the order of stages
    searches: Range  # queries sent to the search engine
    prices: tuple[tuple[str, Price | None], ...]  # name and price (None: unknown) of every model used
    notes: tuple[str, ...]  # omissions and assumptions, one sentence each

    @property
    def calls(self) -> Range:
        """Total number of calls."""
        return Range.sum(row.calls for row in self.rows)

    @property
    def tokens_in(self) -> Range:
        """Total prompt tokens."""
        return Range.sum(row.tokens_in for row in self.rows)

    @property
    def tokens_out(self) -> Range:
        """Total completion tokens."""
        return Range.sum(row.tokens_out for row in self.rows)

    @property
    def dollars(self) -> Range | None:
        """Total US dollars; None if the price of any model is unknown."""
        return None if self.unpriced else self.known_dollars

    @property
    def known_dollars(self) -> Range:
        """US dollars of the models with known prices."""
        return Range.sum(row.dollars for row in self.rows if row.dollars is not None)

    @property
    def unpriced(self) -> tuple[str, ...]:
        """Names of the models with unknown prices."""
        return tuple(name for name, price in self.prices if price is None)


def estimate(
    settings: Settings,
    topic: str,
    *,
    recipe: str = DEFAULT,
    outline_only: bool = False,
    outline: Outline | Path | str | None = None,
) -> Estimate:
    """Estimate calls, tokens and dollars of a run by a formula, without calls or files.

    The likely numbers are for English texts, sufficient sources, and no prefix cache. ``low`` and ``high`` are two
    thirds and four thirds of the likely calls, half and twice the likely tokens; the range is not a guarantee (caps in
    the settings are).

    Args:
        recipe: the method, one of :data:`storm_pipeline.recipes.RECIPES`.
        outline_only: whether the run only makes an outline; the recipe is then one of
            :data:`storm_pipeline.recipes.OUTLINES`.
        outline: the user's, as for :meth:`storm_pipeline.storm.Storm.write`; replaces the calls for an outline.

    Raises SettingsError: empty topic, unknown recipe, unusable outline, or invalid price in the settings.
    """
    topic = " ".join(topic.split())
    if not topic:
        raise SettingsError("the topic is empty: say what the article should be about")
    known: Mapping[str, object] = OUTLINES if outline_only else RECIPES
    if recipe not in known:
        raise SettingsError(no_such_recipe(recipe, known))
    given = None
    if outline is not None:
        require_outline(recipe)
        given = parse_pieces(topic, {"outline": read_outline(outline, topic)}).outline
    fitting = fit_to_window(for_recipe(settings, "outline" if outline_only else recipe))
    plan = Plan(fitting, recipe, outline_only, len(given.sections) if given else 0)
    rows = [] if plan.settings.is_extract else list(usage(plan, Programs()))
    names = {row.role: full_name(settings.lm_of(row.role), settings) for row in rows}
    parse_prices(settings.prices)  # a malformed one is always an error
    prices = {name: known_price(name, settings) for name in dict.fromkeys(names.values())}
    is_foreign = {settings.source_language or "en", settings.article_language} != {"en"}
    shown = tuple(_row(row, names[row.role], prices[names[row.role]], is_foreign=is_foreign) for row in rows)
    likely = 1 if plan.settings.is_extract else round(searches(plan))
    queries = Range.of(likely, CALLS if likely > 1 else (1, 1, 1))
    notes = _notes(plan.settings, prices, is_foreign=is_foreign)
    return Estimate(topic, recipe, shown, queries, tuple(prices.items()), tuple(notes))


def known_price(model: str, settings: Settings) -> Price | None:
    """Return a model's price from the settings, else from LiteLLM; None if unknown."""
    return price_of(full_name(model, settings), parse_prices(settings.prices))


def _row(row: RowUsage, model: str, price: Price | None, *, is_foreign: bool) -> EstimateRow:
    *usual, high = TOKENS
    factors = (*usual, high * (FOREIGN if is_foreign else 1))
    prompt = [factor * row.tokens_in for factor in factors]
    reasoning = REASONING if reasons_by_default(model) else (0, 0, 0)
    completion = [f * row.tokens_out + row.calls * more for f, more in zip(factors, reasoning, strict=True)]
    costs = [price.cost(sent, 0, made) for sent, made in zip(prompt, completion, strict=True)] if price else None
    low, likely, most = (max(1, round(factor * row.calls)) for factor in CALLS)
    calls = Range(low, likely, likely if row.stage == "conversations" else most)  # not more turns than set
    read, written = (Range(*map(round, numbers)) for numbers in (prompt, completion))
    return EstimateRow(row.stage, row.role, row.program, model, calls, read, written, Range(*costs) if costs else None)


def _notes(settings: Settings, prices: Mapping[str, Price | None], *, is_foreign: bool) -> list[str]:
    if settings.is_extract:
        return ["an extract asks no language model: it has the sources' own sentences, often only enough for a lead"]
    notes = [
        f"not counted: unreadable replies are asked for up to {settings.parse_attempts} times, calls with transient "
        f"errors are attempted up to {settings.call_attempts} times, and a server's prefix cache makes prompts cheaper"
    ]
    for name, price in prices.items():
        if is_embedded(name):
            notes.append(f"{name} runs on this machine, free of charge")
        elif price is None:
            notes.append(
                f"no price is known for {name}: give it with --price '{name}=IN/OUT' in US dollars per million tokens"
            )
        if reasons_by_default(name):
            low, likely, high = REASONING
            notes.append(
                f"{name} may reason before it answers, which is billed as output: {likely} tokens per call "
                f"are assumed, {low} to {high:,}"
            )
    if is_foreign:
        notes.append("likely tokens are those of English; other languages can take twice as many, as in the high end")
    return notes
