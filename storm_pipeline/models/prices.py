"""Prices and context windows of models: from the user's settings, else from LiteLLM's packaged table."""

import ipaddress
import json
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from storm_pipeline.errors import InvalidSettingError, SettingsError
from storm_pipeline.settings import Role, Settings, is_embedded
from storm_pipeline.text.configuration.variables import model_and_endpoint
from storm_pipeline.text.identity import host_of
from storm_pipeline.types import Price

CONTEXT = 16_384  # default context window of the embedded model's server
ASSUMED = CONTEXT
"""Assumed tokens of an unknown window, to budget evidence and interviews; prompts are not shortened then."""
_EVIDENCE = 3 / 8
"""Maximum share of a window for passages: 1,536 words at 8,192 tokens, where the paper's budgets just fit."""
_INTERVIEWS = 1 / 2  # maximum share of a window for interviews in the prompt that refines an outline
_TOKENS_A_WORD = 2
_MAX_PRICE = 100_000.0
_TABLE = "model_prices_and_context_window_backup.json"
_TEXT_MODES = frozenset({"chat", "completion", "responses"})
_LOCAL_PROVIDERS = ("ollama/", "ollama_chat/", "lemonade/", "llamafile/", "lm_studio/")  # free of charge
FREE = Price(0.0, 0.0, 0.0)


def window_of(settings: Settings, role: Role) -> int | None:
    """Return the context window of a role's model in tokens: ``context``, else LiteLLM's; None if unknown."""
    name = settings.lm_of(role).removeprefix("object:")
    if is_embedded(name):
        return min(CONTEXT, settings.context or CONTEXT)
    return settings.context or listed_window(name)


def fit_to_window(settings: Settings) -> Settings:
    """Return the settings with evidence and interviews that fit the windows of writer, expert and outliner."""
    evidence = int(min(_readers(settings).values()) * _EVIDENCE / _TOKENS_A_WORD)
    interviews = int((window_of(settings, "outliner") or ASSUMED) * _INTERVIEWS / _TOKENS_A_WORD)
    evidence, interviews = min(settings.evidence_words, evidence), min(settings.interview_words, interviews)
    return settings.model_copy(update={"evidence": evidence, "outline_words": interviews})


def window_note(asked: Settings) -> str:
    """Return a note on why a run has less evidence than requested or usual; else empty."""
    words = fit_to_window(asked).evidence_words
    if words == asked.evidence_words or asked.is_extract:
        return ""
    readers = _readers(asked)
    role = min(readers, key=readers.__getitem__)
    known = window_of(asked, role)
    holds = f"holds {known:,} tokens" if known else f"is not known: {ASSUMED:,} tokens are assumed, see --context"
    return (
        f"a section is written from {words:,} words of passages at most, not {asked.evidence_words:,}: "
        f"the context window of {asked.lm_of(role)} {holds}"
    )


def longer_replies(settings: Settings, role: Role, token_limit: int) -> str:
    """Return the remedy for short replies, as the end of a sentence; ``token_limit``: the embedded model's."""
    name, limit = settings.lm_of(role), settings.reply_tokens
    if name.startswith("object:"):
        return "raise max_tokens of the model that was passed"
    if is_embedded(name) and (limit is None or limit >= token_limit):
        window = min(CONTEXT, settings.context or CONTEXT)
        more = f"raise --context (now {window:,}) or " if window < CONTEXT else ""
        return f"{more}name a larger model with --lm; the embedded one may write {token_limit:,} tokens here"
    return f"raise --reply-tokens (now {f'{limit:,}' if limit else 'not set: the limit is the server’s own'})"


def _readers(settings: Settings) -> dict[Role, int]:
    roles: tuple[Role, ...] = ("writer", "expert")
    return {role: window_of(settings, role) or ASSUMED for role in roles}


def price_of(model: str, user_prices: Mapping[str, Price] | None = None) -> Price | None:
    """Return the price of a model's tokens; None if unknown.

    The user's prices come first, then LiteLLM's packaged table. Models in this process or in a program on the user's
    machine are free. Unknown: listed prices of 0 of hosted models, which are missing data, and servers on private
    addresses, which may be proxies. ``model``: as in the settings, with or without provider and endpoint.
    """
    name, endpoint = model_and_endpoint(model)
    for spelling in (model, name, name.partition("/")[2] or name):
        if user_prices and spelling in user_prices:
            return user_prices[spelling]
    local = not endpoint or _is_private(endpoint)
    if is_embedded(model) or (local and name.startswith(_LOCAL_PROVIDERS) and not name.endswith("cloud")):
        return FREE
    return None if endpoint and local else _listed_price(name)


def known_price(model: str, settings: Settings) -> Price | None:
    """Return a model's price from the settings, else from LiteLLM's table; None if unknown."""
    return price_of(full_name(model, settings), parse_prices(settings.prices))


def require_prices(max_cost: float | None, prices: Mapping[str, Price | None]) -> None:
    """Check that each model has a price if dollars are capped. Raises SettingsError: a price is unknown."""
    unpriced = [name for name, price in prices.items() if price is None]
    if max_cost is not None and unpriced:
        raise InvalidSettingError(
            f"a cap on dollars needs prices, and that of {unpriced[0]} is unknown: cap tokens (--max-tokens), or "
            f"give it with --price {unpriced[0].partition('@')[0]}=IN/OUT (dollars per million tokens)",
            "max_cost",
        )


def full_name(model: str, settings: Settings) -> str:
    """Return a model's name with its endpoint, including ``api_base``, for :func:`price_of`."""
    add_base = settings.api_base and model == settings.lm and "@" not in model and not is_embedded(model)
    return f"{model}@{settings.api_base}" if add_base else model


def reasons_by_default(model: str) -> bool:
    """Return whether a model is listed as reasoning by default; reasoning is billed as output."""
    name = model_and_endpoint(model)[0]
    return "claude" not in name and bool(_entry(name).get("supports_reasoning"))


def listed_window(model: str) -> int | None:
    """Return a model's context window in tokens from LiteLLM's table; None if not listed."""
    tokens = _entry(model_and_endpoint(model)[0]).get("max_input_tokens")
    return int(tokens) if tokens else None


def parse_price(text: str) -> tuple[str, Price]:
    """Parse ``MODEL=IN/OUT`` or ``MODEL=IN/CACHED/OUT`` in US dollars per million tokens. Raises SettingsError."""
    model, _, amounts = text.rpartition("=")
    parts = amounts.split("/")
    if not model.strip() or len(parts) not in (2, 3):
        raise _price_error(text, "its format is wrong")
    dollars = [_dollars(text, part) for part in parts]
    price = Price(dollars[0], dollars[-2], dollars[-1])
    if price.cached > price.fresh:
        raise _price_error(text, "cached input would cost more than fresh input")
    return model.strip(), price


def parse_prices(texts: Iterable[str]) -> dict[str, Price]:
    """Return prices by model name, parsed by :func:`parse_price`; of several for a model, the last one counts."""
    return dict(map(parse_price, texts))


def _dollars(text: str, number: str) -> float:
    try:
        dollars = float(number)
    except ValueError:
        raise _price_error(text, f"{number.strip()!r} is not a number") from None
    if not 0 <= dollars <= _MAX_PRICE:
        raise _price_error(text, f"{number.strip()} is not from 0 to {_MAX_PRICE:,.0f}")
    return dollars


def _price_error(text: str, why: str) -> SettingsError:
    return SettingsError(
        f"the price {text!r} cannot be read, {why}: write MODEL=IN/OUT or MODEL=IN/CACHED/OUT in US dollars per "
        "million tokens, such as openai/gpt-4o=2.5/10"
    )


def _is_private(endpoint: str) -> bool:
    host = host_of(endpoint)
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
    return Price(*(round(amount * 1e6, 6) for amount in dollars))


def _entry(name: str) -> Mapping[str, Any]:
    """Return the table's entry of a model, by its full name or, if the provider matches, by its bare name."""
    table = _table()
    if name in table:
        return table[name]
    provider, _, bare = name.partition("/")
    entry = table.get(bare, {})
    listed = str(entry.get("litellm_provider", "")).removeprefix("text-completion-")
    return entry if listed == provider or listed.startswith((f"{provider}-", f"{provider}_")) else {}


@cache
def _table() -> Mapping[str, Mapping[str, Any]]:
    """Read LiteLLM's packaged table without importing LiteLLM, which takes seconds; empty if not installed."""
    package = find_spec("litellm")
    if package is None or package.origin is None:
        return {}
    path = Path(package.origin).parent / _TABLE
    table: Mapping[str, Mapping[str, Any]] = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    return table
