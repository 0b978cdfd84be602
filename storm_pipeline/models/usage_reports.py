"""Token counts as servers report them, which may be missing or malformed."""

from collections.abc import Mapping
from functools import cache
from typing import Any

_DETAILS = ("prompt_tokens_details", "completion_tokens_details")
_MOST_TOKENS = 10**9
"""Of one call."""


def valid_counts(usage: object) -> dict[str, Any]:
    """The counts of a report, and of its details, that are plausible integers; whatever else it holds is left out."""
    if not isinstance(usage, Mapping):
        return {}
    counts: dict[str, Any] = {
        name: value for name, value in usage.items() if type(value) is int and 0 <= value <= _MOST_TOKENS
    }
    return counts | {name: valid_counts(usage[name]) for name in _DETAILS if isinstance(usage.get(name), Mapping)}


@cache
def tolerate_malformed_usage() -> None:
    """Make DSPy's client read replies whose usage is malformed; it would refuse them, though they are paid for.

    DSPy has no setting for it, so the function that reads usage is wrapped, once in the process.
    """
    from dspy._vendor.lm15.providers import openai_chat

    read = openai_chat._usage_from_chat
    openai_chat._usage_from_chat = lambda usage: read(valid_counts(usage))
