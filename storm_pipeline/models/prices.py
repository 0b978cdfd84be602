"""What a model's tokens cost: the user's own prices, else LiteLLM's local table, which has context windows too."""

import ipaddress
import json
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from storm_pipeline.errors import SettingsError
from storm_pipeline.settings import Settings, is_embedded

_MILLION = 1_000_000
_DEAREST = 100_000.0
_TABLE = "model_prices_and_context_window_backup.json"
_TEXT_MODES = frozenset({"chat", "completion", "responses"})
_AT_HOME = ("ollama/", "ollama_chat/", "lemonade/", "llamafile/", "lm_studio/")
"""Providers that are programs on the user's machine: nobody sends a bill."""
_ENDPOINT = re.compile(r"@(?=https?://)")


@dataclass(frozen=True)
class Price:
    """What tokens cost, in US dollars a million.

    Attributes:
        fresh: prompt tokens that the server has to read.
        cached: prompt tokens that it takes from its prefix cache; ``fresh`` where no discount is known.
        output: completion tokens, a model's thinking included.
    """

    fresh: float
    cached: float
    output: float


FREE = Price(0.0, 0.0, 0.0)


def price_of(model: str, own: Mapping[str, Price] | None = None) -> Price | None:
    """The price of a model's tokens; None where it is unknown, which is never the same as free.

    A price of the user's own comes first. Models that run in this process, or in a program on the user's machine,
    are free. Else LiteLLM's table decides, without a network. A 0 in it for a hosted model is a gap, not a gift
    (subscriptions, trials, prices that nobody entered), so it counts as unknown; so does a server on one's own machine
    or network, which may be anything from a llama.cpp to a proxy of a paid provider.

    Args:
        model: as in the settings, ``provider/model`` or ``provider/model@URL``; a provider may be left out.
        own: the user's prices by name of model, with or without provider and endpoint.
    """
    for name in _spellings(model):
        if own and name in own:
            return own[name]
    name, endpoint = _split(model)
    at_home = not endpoint or _is_private(endpoint)
    if is_embedded(model) or (at_home and name.startswith(_AT_HOME) and not name.endswith("cloud")):
        return FREE
    return None if endpoint and at_home else _listed_price(name)


def full_name(model: str, settings: Settings) -> str:
    """A model's name with the endpoint that the settings give it elsewhere, as :func:`price_of` wants it."""
    elsewhere = settings.api_base and model == settings.lm and "@" not in model and not is_embedded(model)
    return f"{model}@{settings.api_base}" if elsewhere else model


def thinks(model: str) -> bool:
    """Whether a model is listed as one that thinks before it answers, unasked; thinking is billed as output."""
    name = _split(model)[0]
    return "claude" not in name and bool(_entry(name).get("supports_reasoning"))


def listed_window(model: str) -> int | None:
    """Tokens that a model's context window holds by LiteLLM's table; None where it is not listed."""
    tokens = _entry(_split(model)[0]).get("max_input_tokens")
    return int(tokens) if tokens else None


def cost(price: Price, tokens_in: float, tokens_cached: float, tokens_out: float) -> float:
    """US dollars for calls.

    Args:
        price: of the model.
        tokens_in: prompt tokens, those from a prefix cache included.
        tokens_cached: prompt tokens that came from a prefix cache.
        tokens_out: completion tokens.
    """
    cached = min(tokens_cached, tokens_in)
    return ((tokens_in - cached) * price.fresh + cached * price.cached + tokens_out * price.output) / _MILLION


def parse_price(text: str) -> tuple[str, Price]:
    """Read ``MODEL=IN/OUT`` or ``MODEL=IN/CACHED/OUT``, in US dollars a million tokens.

    Raises:
        SettingsError: it has another form, or a number is none, negative, beyond all prices, or cached input would
            cost more than fresh input.
    """
    model, _, numbers = text.rpartition("=")
    given = numbers.split("/")
    if not model.strip() or len(given) not in (2, 3):
        raise _refused(text, "it has another form")
    amounts = [_amount(text, number) for number in given]
    price = Price(amounts[0], amounts[-2], amounts[-1])
    if price.cached > price.fresh:
        raise _refused(text, "cached input would cost more than fresh input")
    return model.strip(), price


def own_prices(texts: Iterable[str]) -> dict[str, Price]:
    """Prices by name of model, each read by :func:`parse_price`; the last one given for a model counts."""
    return dict(map(parse_price, texts))


def _amount(text: str, number: str) -> float:
    try:
        amount = float(number)
    except ValueError:
        raise _refused(text, f"{number.strip()!r} is no number") from None
    if not (math.isfinite(amount) and 0 <= amount <= _DEAREST):
        raise _refused(text, f"{number.strip()} is not from 0 to {_DEAREST:,.0f}")
    return amount


def _refused(text: str, why: str) -> SettingsError:
    return SettingsError(
        f"the price {text!r} cannot be read, {why}: write MODEL=IN/OUT or MODEL=IN/CACHED/OUT in US dollars a million "
        "tokens, such as openai/gpt-4o=2.5/10"
    )


def _split(model: str) -> tuple[str, str]:
    """A model's name and its endpoint, empty if none is named; an ``@`` may be part of the name too."""
    name, *rest = _ENDPOINT.split(model, maxsplit=1)
    return name, "".join(rest)


def _spellings(model: str) -> list[str]:
    """As it was given, without the endpoint, and without the provider."""
    name = _split(model)[0]
    return list(dict.fromkeys([model, name, name.partition("/")[2] or name]))


def _is_private(endpoint: str) -> bool:
    host = urlsplit(endpoint).hostname or ""
    try:
        return not ipaddress.ip_address(host).is_global
    except ValueError:
        return "." not in host or host.endswith((".local", ".localhost", ".internal", ".lan", ".home"))


def _listed_price(name: str) -> Price | None:
    entry = _entry(name)
    fresh, output = entry.get("input_cost_per_token"), entry.get("output_cost_per_token")
    if entry.get("mode") not in _TEXT_MODES or not fresh or not output:
        return None
    cached = entry.get("cache_read_input_token_cost") or entry.get("input_cost_per_token_cache_hit") or fresh
    dollars = (float(fresh), float(min(cached, fresh)), float(output))
    return Price(*(round(amount * _MILLION, 6) for amount in dollars))


def _entry(name: str) -> Mapping[str, Any]:
    """What the table has of a model, under its full name or, where the provider agrees, its bare one."""
    table = _table()
    if name in table:
        return table[name]
    provider, _, bare = name.partition("/")
    found = table.get(bare, {})
    listed = str(found.get("litellm_provider", "")).removeprefix("text-completion-")
    return found if listed == provider or listed.startswith((f"{provider}-", f"{provider}_")) else {}


@cache
def _table() -> Mapping[str, Mapping[str, Any]]:
    """LiteLLM's packaged table, read without importing LiteLLM, which takes seconds; empty where there is none."""
    package = find_spec("litellm")
    if package is None or package.origin is None:
        return {}
    path = Path(package.origin).parent / _TABLE
    table: Mapping[str, Mapping[str, Any]] = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    return table
