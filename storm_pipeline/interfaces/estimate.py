"""Estimates of a run's calls, tokens and dollars, as ranges: sums of terms of its settings.

``estimate.toml`` has a row of formulas such as ``558 + 1.44*turns*shown`` for each stage and role, as a run's usage;
``python -m storm_benchmarks.estimate_fit`` fits their coefficients to whole runs.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, cast

from pydantic import Field

from storm_pipeline.evidence.evidence import words_asked
from storm_pipeline.method.context import parse_pieces, read_outline, validate_topic
from storm_pipeline.models.prices import fit_to_window, full_name, known_price, parse_prices, reasons_by_default
from storm_pipeline.recipes import DEFAULT, OUTLINES, PROGRAMS, RECIPES, for_recipe, require_outline, require_recipe
from storm_pipeline.settings import Role, Settings
from storm_pipeline.sources.search.registry import is_collection
from storm_pipeline.text.files import table_beside
from storm_pipeline.types import Outline, Price, Range

TABLE = table_beside(__file__)
ROWS = {key: dict(zip(("calls", "in", "out", "searches"), row, strict=True)) for key, row in TABLE["rows"].items()}
"""Stage, role and programs → formulas of calls, tokens in, tokens out, and queries sent to the search engine."""
CALLS, TOKENS, FOREIGN, REASONING = TABLE["range"].values()


@dataclass(frozen=True)
class EstimateRow:
    """Estimated usage of one role in one stage."""

    stage: str  # as in events and usage, e.g. ``conversations``
    role: Role  # role of the model
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
    rows: tuple[EstimateRow, ...]  # one per stage and role, in the order of stages
    calls: Range  # number of all calls
    tokens_in: Range  # prompt tokens of all calls
    tokens_out: Range  # completion tokens of all calls
    known_dollars: Annotated[Range, Field(description="US dollars of the models with known prices.")]
    dollars: Annotated[Range | None, Field(description="US dollars; null if the price of a model is unknown.")]
    searches: Range  # queries sent to the search engine
    prices: Annotated[Mapping[str, Price | None], Field(description="Model → its price; null if unknown.")]
    notes: Annotated[tuple[str, ...], Field(description="Omissions and assumptions, one sentence each.")]


def estimate(
    settings: Settings,
    topic: str,
    *,
    recipe: str = DEFAULT,
    outline_only: bool = False,
    outline: Outline | Path | str | None = None,
) -> Estimate:
    """Estimate calls, tokens and dollars of a run by a formula, without calls or files.

    ``recipe``: one of :data:`RECIPES`, or of :data:`OUTLINES` if ``outline_only``. ``outline``: the user's, as for
    :meth:`storm_pipeline.storm.Storm.write`. The range is not a guarantee: caps in the settings are. Raises
    SettingsError: unusable topic, outline or price, or unknown recipe.
    """
    topic = validate_topic(topic)
    require_recipe(recipe, OUTLINES if outline_only else RECIPES)
    if outline is not None:
        require_outline(recipe)
        outline = parse_pieces(topic, {"outline": read_outline(outline, topic)}).outline
    parse_prices(settings.prices)  # a malformed one is always an error
    settings = fit_to_window(for_recipe(settings, "outline" if outline_only else recipe))
    used = usage(settings, recipe, outline_only=outline_only, sections=len(outline.sections) if outline else 0)
    rows = tuple(_row(stage, role, numbers, settings) for (stage, role), numbers in used.items())
    calls, sent, made = (Range.sum(getattr(row, of) for row in rows) for of in ("calls", "tokens_in", "tokens_out"))
    prices = {row.model: known_price(row.model, settings) for row in rows}
    known = Range.sum(row.dollars for row in rows if row.dollars)
    searches = Range.of(1 if settings.is_extract else sum(numbers["searches"] for numbers in used.values()), CALLS)
    dollars, notes = None if None in prices.values() else known, tuple(_notes(settings, prices))
    return Estimate(topic, recipe, rows, calls, sent, made, known, dollars, searches, prices, notes)


def usage(
    settings: Settings, recipe: str, *, outline_only: bool = False, sections: int = 0
) -> dict[tuple[str, Role], dict[str, float]]:
    """Return stage and role → likely calls, tokens in and out without reasoning, and searches; ``sections``: given."""
    asked = PROGRAMS["orag" if outline_only and recipe == "rag" else recipe]
    known, used = sizes(settings, recipe, sections), {}
    for key, formulas in ROWS.items():
        stage, role, programs = key.split(", ")
        is_made = not settings.is_extract and (stage in TABLE["outlining"] or not outline_only)
        numbers = {what: total(formula, known) for what, formula in formulas.items()}
        if is_made and numbers["calls"] and not asked.isdisjoint(programs.split()):
            most = numbers["calls"] * (settings.reply_tokens or math.inf)
            used[stage, cast("Role", role)] = numbers | {"out": min(numbers["out"], most)}
    return used


def total(formula: str, known: Mapping[str, float]) -> float:
    """Return the value of a formula: terms joined by `` + ``, each a number times named sizes."""
    terms = (term.split("*") for term in formula.split(" + "))
    return sum(float(factor) * math.prod(known[name] for name in names) for factor, *names in terms)


def sizes(settings: Settings, recipe: str, sections: int = 0) -> dict[str, float]:
    """Return the names in formulas → numbers of calls, findings or words, or whether something is done."""
    asked, reads = PROGRAMS[recipe], settings.read_pages
    is_answer = not asked.isdisjoint({"answer", "plain_answer"})
    turns = (settings.perspectives + 1) * settings.turns * ("passage_answer" in asked)
    reading = settings.reading_tokens * ("page_notes" in asked)
    number = sections or min(settings.max_sections, max(3, round(settings.article_words / 350)))
    is_read = reads == "always" or (reads == "auto" and not is_collection(settings.search.partition(":")[0]))
    result, passage = (700, 200) if is_read else (35, 35)  # words
    results = settings.top_k * (passage if recipe in {"rr", "rprr"} else result)
    shown = min(settings.evidence_words, 10 * passage, settings.queries * settings.top_k * result)
    findings = 18 * turns + 72 * bool(reading)
    alone = shown if is_answer else min(settings.evidence_words, results) * number if "section" in asked else results
    material = findings * passage * 0.6 if turns else alone
    target = settings.answer_words if is_answer else settings.article_words
    return {
        "related": bool(settings.related_topics),
        "perspectives": bool(settings.perspectives),
        "drafted": not sections,
        "judged": settings.judge_of_run == "model",
        "edited": settings.editing == "on",
        "outlined": settings.answers == "outlined" or "answer" in asked,
        "asks": settings.perspectives + 1 if "questions" in asked else turns,
        "turns": turns,
        "earlier": (settings.turns - 1) / 2,
        "queries": settings.queries,
        "results": results,
        "shown": shown,
        "findings": findings,
        "reading": reading,
        "sections": number,
        "material": material,
        "words": words_asked(target, math.inf if "memory" in asked else material),
    }


def _row(stage: str, role: Role, numbers: Mapping[str, float], settings: Settings) -> EstimateRow:
    model = full_name(settings.lm_of(role), settings)
    is_english = {settings.source_language or "en", settings.article_language} == {"en"}
    shares = CALLS if stage != "conversations" else [*CALLS[:2], 1]  # not more turns than set
    thinking = Range.of(numbers["calls"], REASONING if reasons_by_default(model) else (0, 0, 0))
    sent, text = (Range.of(numbers[what], TOKENS if is_english else FOREIGN) for what in ("in", "out"))
    made, price = Range.sum((text, thinking)), known_price(model, settings)
    dollars = Range(*(price.cost(a, 0, b) for a, b in zip(sent.ends, made.ends, strict=True))) if price else None
    return EstimateRow(stage, role, model, Range.of(numbers["calls"], shares, least=1), sent, made, dollars)


def _notes(settings: Settings, prices: Mapping[str, Price | None]) -> Iterator[str]:
    if settings.is_extract:
        yield "an extract asks no language model: it has the sources' own sentences, often only enough for a lead"
        return
    yield (
        f"not counted: calls repeated for a readable reply (up to {settings.parse_attempts}) or after errors (up to "
        f"{settings.call_attempts}), and cheaper cached prompts; other languages take up to twice the tokens of English"
    )
    for name, price in prices.items():
        if price is None:
            yield f"no price is known for {name}: give it with --price '{name}=IN/OUT' in US dollars per million tokens"
        if reasons_by_default(name):
            assumed = "{1} tokens per call are assumed, {0} to {2:,}".format(*REASONING)
            yield f"{name} may reason before it answers, which is billed as output: {assumed}"
