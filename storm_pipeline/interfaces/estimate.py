"""Estimates of a run's calls, tokens and dollars, as ranges: sums of terms of its settings.

``estimate.toml`` has the terms of each program and stage, such as ``turns*earlier``, and their coefficients, fitted to
whole runs by ``python -m storm_benchmarks.estimate_fit``.
"""

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, cast

from pydantic import Field

from storm_pipeline.errors import InvalidSettingError, SettingsError
from storm_pipeline.evidence.evidence import words_asked
from storm_pipeline.method.context import parse_pieces, read_outline
from storm_pipeline.models.prices import fit_to_window, full_name, parse_prices, price_of, reasons_by_default
from storm_pipeline.recipes import DEFAULT, OUTLINES, RECIPES, for_recipe, no_such_recipe, require_outline
from storm_pipeline.settings import Role, Settings, is_embedded
from storm_pipeline.sources.search.registry import is_collection
from storm_pipeline.text.files import table_beside
from storm_pipeline.text.formatting import amount
from storm_pipeline.types import Outline, Price

TABLE = table_beside(__file__)
ROWS = {key: dict(zip(("calls", "in", "out"), terms, strict=True)) for key, terms in TABLE["rows"].items()}
"""Stage, role and program → the terms of its calls, tokens in and tokens out."""
ASKED = {recipe: frozenset(programs.split()) for recipe, programs in TABLE["asked"].items()}
"""Recipe → the programs that it asks; compiling others does not change its articles."""
REASONING = tuple(TABLE["range"]["reasoning"])
"""Assumed reasoning tokens per call (low, likely, high) of a model that reasons by default."""
_CALLS, _TOKENS, _WORDS = TABLE["range"]["calls"], TABLE["range"]["tokens"], TABLE["words"]
ENDS = ("low", "likely", "high")
_OUTLINED = {"calls": 1, "in": 2, "out": 1.4}  # factors for a text that is outlined first, in a call of its own
_FOREIGN = 2  # maximum ratio of tokens of a text in another language to English
_BESIDE = frozenset({"queries", "check", "remarks"})  # programs of several stages
_INTERVIEWS, _ANSWERS = {"question", "plain_question", "questions"}, {"answer", "plain_answer"}


@dataclass(frozen=True)
class Range:
    """An estimated number; ``low <= likely <= high``."""

    low: float
    likely: float
    high: float

    @classmethod
    def sum(cls, ranges: Iterable["Range"]) -> "Range":
        """Return the sum of the ranges, adding lows, likely numbers and highs."""
        summands = list(ranges)
        return cls(*(sum(getattr(r, end) for r in summands) for end in ENDS))

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
    calls: Range  # number of all calls
    tokens_in: Range  # prompt tokens of all calls
    tokens_out: Range  # completion tokens of all calls
    known_dollars: Annotated[Range, Field(description="US dollars of the models with known prices.")]
    dollars: Annotated[Range | None, Field(description="US dollars; null if the price of a model is unknown.")]
    searches: Range  # queries sent to the search engine
    prices: Annotated[Mapping[str, Price | None], Field(description="Model → its price; null if unknown.")]
    notes: Annotated[tuple[str, ...], Field(description="Omissions and assumptions, one sentence each.")]

    @property
    def unpriced(self) -> tuple[str, ...]:
        """Names of the models with unknown prices."""
        return tuple(name for name, price in self.prices.items() if price is None)


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
        raise InvalidSettingError("the topic is empty: say what the article should be about", "topic")
    known: Mapping[str, object] = OUTLINES if outline_only else RECIPES
    if recipe not in known:
        raise SettingsError(no_such_recipe(recipe, known))
    given = None
    if outline is not None:
        require_outline(recipe)
        given = parse_pieces(topic, {"outline": read_outline(outline, topic)}).outline
    parse_prices(settings.prices)  # a malformed one is always an error
    fitting = fit_to_window(for_recipe(settings, "outline" if outline_only else recipe))
    plan = Plan(fitting, recipe, outline_only, len(given.sections) if given else 0)
    usage = {} if fitting.is_extract else plan.usage()
    models = {key: full_name(settings.lm_of(key[1]), settings) for key in usage}
    prices = {name: known_price(name, settings) for name in dict.fromkeys(models.values())}
    rows = tuple(_row(key, used, models[key], prices[models[key]], plan) for key, used in usage.items())
    searches = 1 if fitting.is_extract else round(sum(used["searches"] for used in usage.values()))
    queries = _times(_CALLS, searches) if searches > 1 else Range(searches, searches, searches)
    known_dollars = Range.sum(row.dollars for row in rows if row.dollars is not None)
    totals = {what: Range.sum(getattr(row, what) for row in rows) for what in ("calls", "tokens_in", "tokens_out")}
    return Estimate(
        topic,
        recipe,
        rows,
        **totals,
        known_dollars=known_dollars,
        dollars=None if None in prices.values() else known_dollars,
        searches=queries,
        prices=prices,
        notes=tuple(_notes(plan, prices)),
    )


def known_price(model: str, settings: Settings) -> Price | None:
    """Return a model's price from the settings, else from LiteLLM; None if unknown."""
    return price_of(full_name(model, settings), parse_prices(settings.prices))


def recipes_that_ask(program: str) -> list[str]:
    """Return the recipes that ask a program; all for the judge and the answers to its remarks."""
    if program in {"check", "remarks"}:
        return [f"all with sources{', unless --judge off' if program == 'check' else ''}"]
    return [recipe for recipe, asked in ASKED.items() if program in asked]


@dataclass(frozen=True)
class Plan:
    """The inputs of the formula."""

    settings: Settings
    recipe: str  # name of a built-in method
    outline_only: bool = False  # whether it ends with the outline
    given: int = 0  # number of sections in the user's outline; 0 without one

    @property
    def is_foreign(self) -> bool:
        """Whether sources or article are in another language than English."""
        return {self.settings.source_language or "en", self.settings.article_language} != {"en"}

    @property
    def asked(self) -> frozenset[str]:
        """The programs that the run asks."""
        settings = self.settings
        conditions = {
            "draft refine plan": not self.given,
            "related": settings.related_topics,
            "perspectives": settings.perspectives,
            "choose_pages page_notes": settings.reading_tokens,
            "edit": settings.editing == "on",
            "check remarks": settings.judge_of_run == "model",
        }
        left_out = {name for names, is_asked in conditions.items() if not is_asked for name in names.split()}
        asked = ASKED["orag" if self.outline_only and self.recipe == "rag" else self.recipe]
        return (asked | {"check", "remarks"}) - left_out

    def usage(self) -> dict[tuple[str, Role, str], dict[str, float]]:
        """Return stage, role and program → likely calls, tokens in and out without reasoning, and searches."""
        sizes, asked, settings = self.sizes(), self.asked, self.settings
        beside = {stage: not asked.isdisjoint(programs.split()) for stage, programs in TABLE["beside"].items()}
        outlined = ("passage_answer", "section") if settings.answers == "outlined" else ()
        rows = {}
        for key, terms in ROWS.items():
            stage, role, program = key.split(", ")
            is_made = stage in TABLE["outlining"] or not self.outline_only
            if program in asked and is_made and (program not in _BESIDE or beside[stage]):
                factors = _OUTLINED if program in outlined else dict.fromkeys(_OUTLINED, 1)
                used = {what: factors[what] * total(of, sizes) for what, of in terms.items()}
                used["out"] = min(used["out"], used["calls"] * (settings.reply_tokens or math.inf))
                used["searches"] = total(TABLE["searches"].get(program, {}), sizes)
                rows[stage, cast("Role", role), program] = used
        return rows

    def sizes(self) -> dict[str, float]:
        """Return name → number (of calls, sections or words) for the terms of the formula."""
        settings, asked, reads = self.settings, self.asked, self.settings.read_pages
        wanted = max(_WORDS["sections"], round(settings.article_words / _WORDS["section"]))
        sections = self.given or min(settings.max_sections, wanted)
        interviews = (settings.perspectives + 1) * (not asked.isdisjoint(_INTERVIEWS))
        turns, is_answer = interviews * settings.turns, not asked.isdisjoint(_ANSWERS)
        findings = turns * _WORDS["findings"] + ("page_notes" in asked) * _WORDS["noted"]
        is_read = reads == "always" or (reads == "auto" and not is_collection(settings.search.partition(":")[0]))
        result = _WORDS["page" if is_read else "snippet"]
        passage = min(result, _WORDS["passage"])
        searched = settings.top_k * (passage if self.recipe in {"rr", "rprr"} else result)
        answer = settings.evidence_words * (1 if is_answer else _WORDS["answer_share"])
        shown = min(answer, _WORDS["passages"] * passage, settings.queries * settings.top_k * result)
        section = findings / sections * passage * _WORDS["cited"] if turns else min(settings.evidence_words, searched)
        material = shown if is_answer else sections * section if "section" in asked or turns else searched
        target = settings.answer_words if is_answer else settings.article_words
        return {
            "once": 1,
            "alone": not turns,
            "interviews": interviews,
            "turns": turns,
            "earlier": (settings.turns - 1) / 2,
            "queries": settings.queries,
            "searched": searched,
            "shown": shown,
            "findings": findings,
            "reading": settings.reading_tokens,
            "sections": sections,
            "section": section,
            "words": words_asked(target, math.inf if "memory" in asked else material),
        }


def total(terms: Mapping[str, float], sizes: Mapping[str, float]) -> float:
    """Return the sum of terms such as ``turns*earlier``: each coefficient times the named sizes."""
    return sum(factor * math.prod(sizes[name] for name in names.split("*")) for names, factor in terms.items())


def _times(factors: Iterable[float], likely: float, more: Iterable[float] = (0, 0, 0)) -> Range:
    return Range(*(round(factor * likely + extra) for factor, extra in zip(factors, more, strict=True)))


def _row(
    key: tuple[str, Role, str], used: Mapping[str, float], model: str, price: Price | None, plan: Plan
) -> EstimateRow:
    low, likely, most = (max(1, round(factor * used["calls"])) for factor in _CALLS)
    calls = Range(low, likely, likely if key[0] == "conversations" else most)  # not more turns than set
    factors = (*_TOKENS[:2], _TOKENS[2] * (_FOREIGN if plan.is_foreign else 1))
    thinking = [used["calls"] * tokens for tokens in REASONING] if reasons_by_default(model) else (0, 0, 0)
    sent, made = _times(factors, used["in"]), _times(factors, used["out"], thinking)
    costs = Range(*(price.cost(getattr(sent, end), 0, getattr(made, end)) for end in ENDS)) if price else None
    return EstimateRow(*key, model, calls, sent, made, costs)


def _notes(plan: Plan, prices: Mapping[str, Price | None]) -> Iterator[str]:
    if plan.settings.is_extract:
        yield "an extract asks no language model: it has the sources' own sentences, often only enough for a lead"
        return
    yield (
        f"not counted: unreadable replies are asked for up to {plan.settings.parse_attempts} times, calls with "
        f"transient errors are attempted up to {plan.settings.call_attempts} times, and a server's prefix cache makes "
        "prompts cheaper"
    )
    for name, price in prices.items():
        if is_embedded(name):
            yield f"{name} runs on this machine, free of charge"
        elif price is None:
            yield f"no price is known for {name}: give it with --price '{name}=IN/OUT' in US dollars per million tokens"
        if reasons_by_default(name):
            low, likely, high = REASONING
            yield (
                f"{name} may reason before it answers, which is billed as output: {likely} tokens per call "
                f"are assumed, {low} to {high:,}"
            )
    if plan.is_foreign:
        yield "likely tokens are those of English; other languages can take twice as many, as in the high end"
