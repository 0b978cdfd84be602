"""From rehearsals of a run to calls, tokens and dollars, as ranges."""

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path

from storm_pipeline.errors import SettingsError
from storm_pipeline.estimate.model import Call
from storm_pipeline.estimate.rehearsal import Recipe, rehearse
from storm_pipeline.estimate.scenarios import LONG, POOR, SHORT, USUAL
from storm_pipeline.estimate.tokens import HIGH, LIKELY, LOW, Counting, count_served, count_shared, count_tokens
from storm_pipeline.estimate.values import Estimate, EstimateRow, Range
from storm_pipeline.models.prices import FREE, Price, cost, full_name, parse_prices, price_of, reasons_by_default
from storm_pipeline.models.programs import Programs
from storm_pipeline.recipes import DEFAULT, OUTLINES, RECIPES, require_outline
from storm_pipeline.run.context import UserPieces
from storm_pipeline.run.user_pieces import parse_pieces, read_outline
from storm_pipeline.settings import Role, Settings, is_embedded
from storm_pipeline.types import Outline

_SCENARIOS = (USUAL, SHORT, LONG, POOR)
"""The first one is the likely one."""
_Key = tuple[str, Role, str]
"""Stage, role and program of a row."""
_Asked = tuple[Call, float]
"""A call, and the tokens with which its prompt begins as another one did."""


@dataclass(frozen=True)
class _Used:
    """What the calls of one row take; a hosted cache can be counted on for ``served`` of the ``shared`` tokens."""

    calls: int
    tokens_in: float
    shared: float
    served: float
    tokens_out: float


def estimate(
    settings: Settings,
    topic: str,
    programs: Programs | None = None,
    *,
    recipe: str = DEFAULT,
    outline_only: bool = False,
    outline: Outline | Path | str | None = None,
) -> Estimate:
    """Calls, tokens and dollars of a run, before it begins; nothing is asked, fetched or written.

    The run is rehearsed several times, with a made-up model and made-up sources. ``low`` is the least that a rehearsal
    takes: writers soon have no more to ask, sources are few and short. ``high`` is the most: the run goes on as long as
    settings and prompts allow, with long sources and long replies, and without any help of a prefix cache. They are
    scenarios of a run, no guarantee, which the caps in the settings are: replies that do not parse and calls that fail
    come on top. Tokens are those of English text.

    Args:
        settings: of the run.
        topic: what it is about.
        programs: compiled programs; default: the package's own.
        recipe: the method, one of :data:`storm_pipeline.recipes.RECIPES`.
        outline_only: whether the run ends with the outline; the recipe is one of
            :data:`storm_pipeline.recipes.OUTLINES` then.
        outline: the user's own, as for :meth:`storm_pipeline.storm.Storm.write`: none is asked for then.

    Raises:
        SettingsError: the topic is empty, there is no such recipe, the outline cannot be used, or a price of the
            settings cannot be read.
    """
    topic = " ".join(topic.split())
    if not topic:
        raise SettingsError("the topic is empty: say what the article should be about")
    recipes: Mapping[str, Recipe] = OUTLINES if outline_only else RECIPES
    if recipe not in recipes:
        raise SettingsError(f"there is no recipe {recipe!r}: choose one of {', '.join(recipes)}")
    programs, own = programs or Programs(), parse_prices(settings.prices)
    pieces = _user_pieces(topic, recipe, outline)
    rehearsed = [
        rehearse(recipes[recipe], settings, topic, programs, scenario, user_pieces=pieces) for scenario in _SCENARIOS
    ]
    asked = [_by_row(one.calls) for one in rehearsed]
    keys = _ordered({key for calls in asked for key in calls}, programs)
    names = {role: full_name(settings.lm_of(role), settings) for _, role, _ in keys}
    prices = {name: price_of(name, own) for name in names.values()}
    rows = [_row(key, [calls[key] for calls in asked], settings, names[key[1]], prices[names[key[1]]]) for key in keys]
    searches = [one.searches for one in rehearsed]
    notes = _notes(settings, prices)
    if failure := rehearsed[0].failure:
        notes.append(f"a rehearsal with the usual sources failed, so a run may end early: {failure}")
    return Estimate(
        topic, recipe, tuple(rows), _whole(searches, searches, searches), tuple(prices.items()), tuple(notes)
    )


def _user_pieces(topic: str, recipe: str, outline: Outline | Path | str | None) -> UserPieces:
    if outline is None:
        return UserPieces()
    require_outline(recipe)
    return parse_pieces(topic, {"outline": read_outline(outline, topic)})


def _by_row(calls: Iterable[Call]) -> defaultdict[_Key, list[_Asked]]:
    """The calls of each row; what prompts of one program share is served wherever in a run they are."""
    alike: defaultdict[tuple[Role, str], list[Call]] = defaultdict(list)
    for call in calls:
        alike[call.role, call.program].append(call)
    rows: defaultdict[_Key, list[_Asked]] = defaultdict(list)
    for own in alike.values():
        for call, shared in zip(own, count_shared([call.messages for call in own]), strict=True):
            rows[call.stage, call.role, call.program].append((call, shared))
    return rows


def _ordered(keys: Iterable[_Key], programs: Programs) -> list[_Key]:
    """Stages by their first program, and programs, in the order of :class:`Programs`: that of the calls is chance."""
    order = {own.name: number for number, own in enumerate(fields(programs))}
    first: dict[str, int] = {}
    for stage, _, program in keys:
        first[stage] = min(first.get(stage, len(order)), order[program])
    return sorted(keys, key=lambda key: (first[key[0]], key[0], order[key[2]], key[1]))


def _row(
    key: _Key, asked: Sequence[Sequence[_Asked]], settings: Settings, model: str, price: Price | None
) -> EstimateRow:
    """One row, from what is asked in each scenario."""
    foreign = _is_foreign(settings)
    low, likely, high = ([_used(calls, end, model, foreign) for calls in asked] for end in (LOW, LIKELY, HIGH))
    caches = "claude" not in model  # Anthropic's models cache only what they are told to
    served = likely[0].shared if price == FREE else likely[0].served if caches else 0
    dollars = None
    if price is not None:
        dollars = Range.around(
            min(cost(price, one.tokens_in, one.shared if caches else 0, one.tokens_out) for one in low),
            cost(price, likely[0].tokens_in, served, likely[0].tokens_out),
            max(cost(price, one.tokens_in, 0, one.tokens_out) for one in high),
        )
    return EstimateRow(
        *key,
        model,
        calls=_whole(*([one.calls for one in end] for end in (low, likely, high))),
        tokens_in=_whole(*([one.tokens_in for one in end] for end in (low, likely, high))),
        tokens_cached=_whole([0], [served], [one.shared if caches else 0 for one in high]),
        tokens_out=_whole(*([one.tokens_out for one in end] for end in (low, likely, high))),
        dollars=dollars,
    )


def _is_foreign(settings: Settings) -> bool:
    """Whether sources or article are in another language than English."""
    return {settings.language or "en", settings.article_language} != {"en"}


def _used(asked: Sequence[_Asked], end: Counting, model: str, foreign: bool) -> _Used:  # noqa: FBT001
    factor = end.foreign if foreign else end.english
    reasoning = end.reasoning if reasons_by_default(model) else 0
    replies = ((factor * count_tokens([call.reply]) + reasoning, call.longest or math.inf) for call, _ in asked)
    return _Used(
        len(asked),
        factor * math.fsum(count_tokens(call.messages) for call, _ in asked),
        factor * math.fsum(shared for _, shared in asked),
        factor * count_served(shared for _, shared in asked),
        math.fsum(map(min, replies)),
    )


def _whole(low: Sequence[float], likely: Sequence[float], high: Sequence[float]) -> Range:
    """The range from the least of ``low`` to the greatest of ``high``, in whole numbers."""
    return Range.around(round(min(low)), round(likely[0]), round(max(high)))


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
                f"no price is known for {name}: give it with --price '{name}=IN/OUT' in US dollars per million tokens"
            )
        if reasons_by_default(name):
            notes.append(
                f"{name} may reason before it answers, which is billed as output: {LIKELY.reasoning} tokens per call "
                f"are assumed, {LOW.reasoning} to {HIGH.reasoning:,}"
            )
    if _is_foreign(settings):
        notes.append("tokens are those of English; other languages can take twice as many, as the high end assumes")
    return notes
