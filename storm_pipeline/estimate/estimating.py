"""Estimating calls, tokens and dollars of a run from simulated runs."""

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import dspy

from storm_pipeline.errors import SettingsError
from storm_pipeline.estimate.results import Estimate, EstimateRow, Range
from storm_pipeline.estimate.scenarios import LONG, POOR, SHORT, USUAL
from storm_pipeline.estimate.simulation import Call, Recipe, simulate
from storm_pipeline.estimate.tokens import HIGH, LIKELY, LOW, TokenRates, count_served, count_shared, count_tokens
from storm_pipeline.models.prices import FREE, Price, cost, full_name, parse_prices, price_of, reasons_by_default
from storm_pipeline.models.programs import Programs
from storm_pipeline.models.prompt_adapter import PromptAdapter
from storm_pipeline.recipes import DEFAULT, OUTLINES, RECIPES, for_recipe, no_such_recipe, require_outline
from storm_pipeline.run.context import UserPieces
from storm_pipeline.run.user_pieces import parse_pieces, read_outline
from storm_pipeline.settings import Role, Settings, is_embedded
from storm_pipeline.types import Outline

_SCENARIOS = (USUAL, SHORT, LONG, POOR)  # the first one gives the likely values
_ASKED_AGAIN = frozenset({"edit", "article"})  # programs whose prompts may repeat an earlier one but for its end
_Key = tuple[str, Role, str]  # Stage, role and program of a row
_SharedCall = tuple[Call, float]  # a call, and the tokens of its longest prefix in common with an earlier prompt
_CHARACTERS_PER_WORD = 6.2


@dataclass(frozen=True)
class _RowUsage:
    """Usage of one row's calls; hosted caches serve ``served`` of the ``shared`` prefix tokens."""

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
    recipe: str | Recipe = DEFAULT,
    outline_only: bool = False,
    outline: Outline | Path | str | None = None,
    usual_only: bool = False,
) -> Estimate:
    """Estimate calls, tokens and dollars of a run; no service is called and nothing is written.

    The run is simulated in several scenarios, with a made-up model and made-up sources. ``low`` is the minimum over the
    scenarios: short conversations, few and short sources. ``high`` is the maximum: the run is as long as settings and
    prompts allow, with long sources and replies, and without a prefix cache. The range is no guarantee (caps in the
    settings are): resampled replies and retried calls come on top. Tokens are those of English text.

    Args:
        recipe: the method, one of :data:`storm_pipeline.recipes.RECIPES` or a function like them.
        outline_only: whether the run only makes an outline; the recipe is then one of
            :data:`storm_pipeline.recipes.OUTLINES`.
        outline: the user's own, as for :meth:`storm_pipeline.storm.Storm.write`; no model is then asked for one.
        usual_only: whether only a usual run is simulated, which takes a quarter of the time; low and high then differ
            from the likely number by how models count tokens.

    Raises:
        SettingsError: the topic is empty, there is no such recipe, the outline cannot be used, or a price in the
            settings is invalid.
    """
    topic = " ".join(topic.split())
    if not topic:
        raise SettingsError("the topic is empty: say what the article should be about")
    recipes: Mapping[str, Recipe] = OUTLINES if outline_only else RECIPES
    method = recipes.get(recipe) if isinstance(recipe, str) else recipe
    name = recipe if isinstance(recipe, str) else getattr(recipe, "__name__", "")
    if method is None:
        raise SettingsError(no_such_recipe(str(recipe), recipes))
    settings = for_recipe(settings, "outline" if outline_only else name)
    programs, user_prices = programs or Programs(), parse_prices(settings.prices)
    pieces = _user_pieces(topic, name, outline)
    scenarios = _SCENARIOS[:1] if usual_only else _SCENARIOS
    simulations = [simulate(method, settings, topic, programs, scenario, user_pieces=pieces) for scenario in scenarios]
    calls_by_row = [_by_row(simulation.calls) for simulation in simulations]
    keys = _ordered({key for calls in calls_by_row for key in calls}, programs)
    names = {role: full_name(settings.lm_of(role), settings) for _, role, _ in keys}
    prices = {name: price_of(name, user_prices) for name in names.values()}
    rows = [
        _row(key, [calls[key] for calls in calls_by_row], settings, names[key[1]], prices[names[key[1]]])
        for key in keys
    ]
    searches = [simulation.searches for simulation in simulations]
    notes = _notes(settings, prices)
    if failure := simulations[0].failure:
        notes.append(f"the simulation with usual sources failed, so a run may end early: {failure}")
    return Estimate(
        topic, name, tuple(rows), _rounded(searches, searches, searches), tuple(prices.items()), tuple(notes)
    )


def _user_pieces(topic: str, recipe: str, outline: Outline | Path | str | None) -> UserPieces:
    if outline is None:
        return UserPieces()
    require_outline(recipe)
    return parse_pieces(topic, {"outline": read_outline(outline, topic)})


def _by_row(calls: Iterable[Call]) -> defaultdict[_Key, list[_SharedCall]]:
    """The calls of each row; prompts of one program share prefixes across stages."""
    by_program: defaultdict[tuple[Role, str], list[Call]] = defaultdict(list)
    for call in calls:
        by_program[call.role, call.program].append(call)
    rows: defaultdict[_Key, list[_SharedCall]] = defaultdict(list)
    for group in by_program.values():
        every = count_shared([call.messages for call in group])
        least = min(filter(None, every), default=0.0) if len({call.stage for call in group}) > 1 else 0.0
        for call, shared in zip(group, every, strict=True):  # of several stages' calls nobody knows which is the first
            rows[call.stage, call.role, call.program].append((call, shared or least))
    return rows


def _ordered(keys: Iterable[_Key], programs: Programs) -> list[_Key]:
    """Stages by their first program, and programs in the order of :class:`Programs`; that of calls is arbitrary."""
    order = {name: number for number, name in enumerate(programs.named())}
    first: dict[str, int] = {}
    for stage, _, program in keys:
        first[stage] = min(first.get(stage, len(order)), order[program])
    return sorted(keys, key=lambda key: (first[key[0]], key[0], order[key[2]], key[1]))


def _row(
    key: _Key, calls: Sequence[Sequence[_SharedCall]], settings: Settings, model: str, price: Price | None
) -> EstimateRow:
    foreign = _is_foreign(settings)
    low, likely, high = (
        [_usage(scenario, rates, model, foreign) for scenario in calls] for rates in (LOW, LIKELY, HIGH)
    )
    caches = "claude" not in model  # Anthropic's API only caches marked prefixes
    served = likely[0].shared if price == FREE else likely[0].served if caches else 0
    dollars = None
    if price is not None:
        dollars = Range.around(
            min(cost(price, usage.tokens_in, usage.shared if caches else 0, usage.tokens_out) for usage in low),
            cost(price, likely[0].tokens_in, served, likely[0].tokens_out),
            max(cost(price, usage.tokens_in, 0, usage.tokens_out) for usage in high),
        )
    return EstimateRow(
        *key,
        model,
        calls=_rounded(*([usage.calls for usage in end] for end in (low, likely, high))),
        tokens_in=_rounded(*([usage.tokens_in for usage in end] for end in (low, likely, high))),
        tokens_cached=_rounded([0], [served], [_most_shared(key, usage) if caches else 0 for usage in high]),
        tokens_out=_rounded(*([usage.tokens_out for usage in end] for end in (low, likely, high))),
        dollars=dollars,
    )


def _most_shared(key: _Key, usage: _RowUsage) -> float:
    """The most that a cache can serve; what is asked again of one text may differ from before at its end alone."""
    again = usage.tokens_in * (1 - 1 / usage.calls) if key[-1] in _ASKED_AGAIN else 0
    return max(usage.shared, again)


def _is_foreign(settings: Settings) -> bool:
    """Whether sources or article are in another language than English."""
    return {settings.source_language or "en", settings.article_language} != {"en"}


def _usage(calls: Sequence[_SharedCall], rates: TokenRates, model: str, foreign: bool) -> _RowUsage:  # noqa: FBT001
    factor = rates.foreign if foreign else rates.english
    reasoning = rates.reasoning if reasons_by_default(model) else 0
    replies = ((factor * call.tokens_out + reasoning, call.max_tokens or math.inf) for call, _ in calls)
    return _RowUsage(
        len(calls),
        factor * math.fsum(call.tokens_in for call, _ in calls),
        factor * math.fsum(shared for _, shared in calls),
        factor * count_served(shared for _, shared in calls),
        math.fsum(map(min, replies)),
    )


def _rounded(low: Sequence[float], likely: Sequence[float], high: Sequence[float]) -> Range:
    """The range from the minimum of ``low`` to the maximum of ``high``, in whole numbers."""
    return Range.around(round(min(low)), round(likely[0]), round(max(high)))


def _notes(settings: Settings, prices: Mapping[str, Price | None]) -> list[str]:
    if settings.is_extract:
        return ["an extract asks no language model"]
    notes = [
        f"not counted: replies that do not parse are drawn up to {settings.parse_attempts} times, and calls with "
        f"transient errors are attempted up to {settings.call_attempts} times"
    ]
    for name, price in prices.items():
        if is_embedded(name):
            notes.append(f"{name} runs on this machine, free of charge")
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
        notes.append("likely tokens are those of English; other languages can take twice as many, as in the high end")
    return notes


class Question(NamedTuple):
    """The calls of one signature: their number, words of each input, and tokens of a reply."""

    signature: type[dspy.Signature]
    calls: float
    words: Mapping[str, int]
    reply: int


def estimate_questions(
    settings: Settings, model: str, scenarios: Sequence[Sequence[Question]]
) -> tuple[Range, Range, Range, Range | None]:
    """Calls, prompt tokens, reply tokens, and US dollars (None if the model's price is unknown); nothing is called.

    ``scenarios``: the questions of a short, a usual and a long case.
    """
    usages = []
    for rates, questions in zip((LOW, LIKELY, HIGH), scenarios, strict=True):
        sent, replied = sum(map(_tokens, questions)), sum(question.calls * question.reply for question in questions)
        usages.append((sum(question.calls for question in questions), sent * rates.english, replied * rates.english))
    calls, tokens_in, tokens_out = (Range.around(*map(round, numbers)) for numbers in zip(*usages, strict=True))
    price = price_of(full_name(model, settings), parse_prices(settings.prices))
    if price is None:
        return calls, tokens_in, tokens_out, None
    return calls, tokens_in, tokens_out, Range.around(*(cost(price, sent, 0, replied) for _, sent, replied in usages))


def _tokens(question: Question) -> float:
    inputs = {name: "x" * round(words * _CHARACTERS_PER_WORD) for name, words in question.words.items()}
    messages = PromptAdapter().format(question.signature, [], inputs)
    return question.calls * count_tokens([message["content"] for message in messages])
