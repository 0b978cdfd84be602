"""Token counts of prompts and replies, estimated from characters."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

CHARACTERS_PER_TOKEN = 4.3
"""In this package's English prompts: 4.1 to 4.9 by program with GPT-4's tokenizer, 3.9 to 4.5 with Claude's first."""
_PIECE = re.compile(r"\d+|[^\w\s]+")
_MESSAGE_OVERHEAD = 4  # tokens that a chat template adds to each message
_MIN_CACHED, _CACHE_STEP = 1024, 128
"""Hosted caches serve prefixes of at least 1024 tokens, in steps of 128 (OpenAI; other providers need more)."""


@dataclass(frozen=True)
class TokenRates:
    """Token counts of a model relative to our estimate, for one end of a range."""

    english: float  # its tokens per estimated token of English text, > 0
    foreign: float  # the same for text in other languages
    reasoning: int  # reasoning tokens per call if it reasons by default; assumed, since providers publish none


LOW, LIKELY, HIGH = TokenRates(0.85, 0.85, 0), TokenRates(1.0, 1.0, 400), TokenRates(1.25, 2.5, 2000)


def count_tokens(messages: Sequence[str]) -> float:
    """Tokens of a prompt that consists of these messages."""
    return sum(map(_tokens_of, messages)) + _MESSAGE_OVERHEAD * len(messages)


def _tokens_of(text: str) -> float:
    """Tokens of a text by its length; of lists of numbers each number and each sign is one."""
    pieces = _PIECE.findall(text)
    letters = len("".join(text.split())) - sum(map(len, pieces))
    return max(len(text), letters + CHARACTERS_PER_TOKEN * len(pieces)) / CHARACTERS_PER_TOKEN


def count_shared(prompts: Sequence[Sequence[str]]) -> list[float]:
    """For each prompt, the tokens of its longest prefix in common with another; the sum is independent of order."""
    texts = ["\n".join(messages) for messages in prompts]
    shared = [0.0] * len(texts)
    # In sorted order, the longest common prefix with an earlier prompt is that with the one directly before.
    for one, other in pairwise(sorted(range(len(texts)), key=texts.__getitem__)):
        shared[other] = _common_prefix(texts[one], texts[other]) / CHARACTERS_PER_TOKEN
    return shared


def count_served(shared: Iterable[float]) -> float:
    """Of each prompt's shared tokens, the number that a hosted provider's cache serves."""
    return sum(tokens // _CACHE_STEP * _CACHE_STEP for tokens in shared if tokens >= _MIN_CACHED)


def _common_prefix(one: str, other: str) -> int:
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if one[:middle] == other[:middle] else (low, middle - 1)
    return low
