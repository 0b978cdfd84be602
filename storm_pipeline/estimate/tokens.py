"""Tokens of prompts and replies, counted by their characters."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

CHARACTERS_A_TOKEN = 4.3
"""Of this package's English prompts: 4.1 to 4.9 by program with GPT-4's tokens, 3.9 to 4.5 with Claude's first ones."""
_MESSAGE = 4
"""Tokens that chat templates put around a message."""
_LEAST_CACHED, _CACHED_STEP = 1024, 128
"""Hosted caches take prompts that share at least so many tokens, in steps of so many (OpenAI; others ask for more)."""


@dataclass(frozen=True)
class Counting:
    """How a model may count at one end of a range.

    Attributes:
        english: its tokens for each of ours, > 0.
        foreign: the same for text in another language than English.
        reasoning: reasoning tokens per call if it reasons by default; assumed, since providers publish none.
    """

    english: float
    foreign: float
    reasoning: int


LOW, LIKELY, HIGH = Counting(0.85, 0.85, 0), Counting(1.0, 1.0, 400), Counting(1.25, 2.5, 2000)


def count_tokens(messages: Sequence[str]) -> float:
    """Tokens of a prompt that consists of these messages."""
    return sum(map(len, messages)) / CHARACTERS_A_TOKEN + _MESSAGE * len(messages)


def count_shared(prompts: Sequence[Sequence[str]]) -> list[float]:
    """For each prompt the tokens with which it begins as another one did; the sum does not depend on their order."""
    texts = ["\n".join(messages) for messages in prompts]
    shared = [0.0] * len(texts)
    # In alphabetical order no other prompt has more of a beginning in common than the one before.
    for one, other in pairwise(sorted(range(len(texts)), key=texts.__getitem__)):
        shared[other] = _common(texts[one], texts[other]) / CHARACTERS_A_TOKEN
    return shared


def count_served(shared: Iterable[float]) -> float:
    """Of the tokens that each prompt shares, those that a hosted provider's cache serves."""
    return sum(own // _CACHED_STEP * _CACHED_STEP for own in shared if own >= _LEAST_CACHED)


def _common(one: str, other: str) -> int:
    """Characters that both texts begin with."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if one[:middle] == other[:middle] else (low, middle - 1)
    return low
