"""From what a run asks to calls, tokens and dollars, as ranges."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import cast

from storm_pipeline.errors import SettingsError
from storm_pipeline.estimate.asks import Ask, Asked, Searches
from storm_pipeline.estimate.courses import LONG, SHORT, USUAL, Course, Run
from storm_pipeline.estimate.recipes import RECIPES
from storm_pipeline.estimate.values import Estimate, EstimateRow, Range
from storm_pipeline.prices import FREE, Price, cost, full_name, own_prices, price_of, thinks
from storm_pipeline.programs import Program, Programs
from storm_pipeline.settings import ROLES, Settings, is_embedded

_COURSES = (SHORT, USUAL, LONG)
_THINKING = {SHORT: 0, USUAL: 400, LONG: 2000}
"""Tokens a call of a model that thinks unasked; an assumption, providers publish none."""
_OTHER_LANGUAGE = 2.0
"""Tokens of a text in another language than English, for each of an English one, at most."""


@dataclass(frozen=True)
class _Used:
    """What the calls of one row take in one course of the run; ``served`` is what a cache is counted on for."""

    calls: float
    tokens_in: float
    shared: float
    served: float
    tokens_out: float


def estimate(settings: Settings, topic: str, programs: Programs | None = None, *, recipe: str = "storm") -> Estimate:
    """Calls, tokens and dollars of a run, before it begins; nothing is asked, fetched or opened.

    ``low`` is a run whose writers soon have no more to ask and whose sources are few, ``high`` one that goes on as
    long as settings and prompts allow, with long sources and long replies, and without any help of a prefix cache.
    They are courses of a run, no guarantee, which the caps in the settings are: replies that do not parse and calls
    that fail come on top. Tokens are those of English text.

    Args:
        settings: of the run.
        topic: what it is about.
        programs: compiled programs; default: the package's own.
        recipe: the method, one of :data:`storm_pipeline.recipes.RECIPES`.

    Raises:
        SettingsError: the topic is empty, there is no such recipe, or a price of the settings cannot be read.
    """
    topic = " ".join(topic.split())
    if not topic:
        raise SettingsError("the topic is empty: say what the article should be about")
    if recipe not in RECIPES:
        raise SettingsError(f"there is no recipe {recipe!r}: choose one of {', '.join(RECIPES)}")
    runs = [Run(settings, topic, programs or Programs(), course) for course in _COURSES]
    asked = [tuple(RECIPES[recipe](run)) for run in runs]
    names = {role: full_name(settings.lm_of(role), settings) for role in ROLES}
    own = own_prices(settings.prices)
    prices = {name: price_of(name, own) for name in names.values()}
    each = zip(*map(_asks, asked), strict=True)
    rows = [_row(runs, asks, names[asks[0].role], prices[names[asks[0].role]]) for asks in each]
    kept = tuple(row for row in rows if row.calls.high)
    used = {row.model: prices[row.model] for row in kept}
    searches = _whole([_queries(course) for course in asked])
    return Estimate(topic, recipe, kept, searches, tuple(used.items()), tuple(_notes(settings, used)))


def _asks(asked: Iterable[Asked]) -> list[Ask]:
    return [one for one in asked if isinstance(one, Ask)]


def _queries(asked: Iterable[Asked]) -> float:
    return sum(one.queries for one in asked if isinstance(one, Searches))


def _row(runs: list[Run], asks: tuple[Ask, ...], model: str, price: Price | None) -> EstimateRow:
    short, usual, long = used = [_used(run, ask, model, price) for run, ask in zip(runs, asks, strict=True)]
    dollars = None
    if price is not None:
        dollars = Range.around(
            cost(price, short.tokens_in, short.shared if _caches(model) else 0, short.tokens_out),
            cost(price, usual.tokens_in, usual.served, usual.tokens_out),
            cost(price, long.tokens_in, 0, long.tokens_out),
        )
    return EstimateRow(
        asks[1].stage,
        asks[1].role,
        asks[1].program,
        model,
        calls=_whole([one.calls for one in used]),
        tokens_in=_whole([one.tokens_in for one in used]),
        tokens_cached=_whole([0, usual.served, long.shared if _caches(model) else 0]),
        tokens_out=_whole([one.tokens_out for one in used]),
        dollars=dollars,
        why=asks[1].why,
    )


def _used(run: Run, ask: Ask, model: str, price: Price | None) -> _Used:
    counted = ask.calls * run.course.tokens * _language(run.settings, run.course)
    after_first = max(0, ask.calls - 1) / ask.calls if ask.calls else 0
    shared = ask.prompts.shared * counted * after_first
    served = ask.prompts.served * counted * after_first if _caches(model) else 0
    return _Used(
        ask.calls,
        ask.prompts.tokens * counted,
        shared,
        shared if price == FREE else served,
        ask.calls * _reply(run, ask, model),
    )


def _reply(run: Run, ask: Ask, model: str) -> float:
    """Completion tokens a call; a reply of the embedded model ends where the program says."""
    longest = run.settings.reply_tokens or math.inf
    if is_embedded(model):
        program = cast("Program", getattr(run.programs, ask.program))
        longest = min(longest, program.token_limit)
    length = ask.reply * run.course.tokens
    return min(length + (_THINKING[run.course] if thinks(model) else 0), longest)


def _language(settings: Settings, course: Course) -> float:
    return _OTHER_LANGUAGE if course is LONG and settings.language not in (None, "en") else 1.0


def _caches(model: str) -> bool:
    """Whether a provider caches prompts unasked: Anthropic's models want to be told what, which is not done."""
    return "claude" not in model


def _whole(numbers: list[float]) -> Range:
    short, usual, long = map(round, numbers)
    return Range.around(short, usual, long)


def _notes(settings: Settings, prices: Mapping[str, Price | None]) -> list[str]:
    notes = [
        f"not counted: replies that do not parse are asked for again, {settings.samples} times in all, and calls that "
        f"meet a transient error are attempted {settings.attempts} times"
    ]
    for name, price in prices.items():
        if is_embedded(name):
            notes.append(f"{name} runs on this machine and costs nothing but time")
        elif price is None:
            notes.append(
                f"no price is known for {name}: give it with --price '{name}=IN/OUT' in US dollars a million tokens"
            )
        if thinks(name):
            notes.append(
                f"{name} may think before it answers, which is billed as output: {_THINKING[USUAL]} tokens a call are "
                f"assumed, {_THINKING[SHORT]} to {_THINKING[LONG]:,}"
            )
    if settings.language not in (None, "en"):
        notes.append("tokens are those of English; other languages can take twice as many, as the high end assumes")
    return notes
