"""The prompts that a run will send, rendered with made-up text of the right length, and their tokens."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise, takewhile

from storm_pipeline.adapter import PromptAdapter
from storm_pipeline.programs import Program

CHARACTERS_A_TOKEN = 4.3
"""Of this package's English prompts: 4.1 to 4.9 by program with GPT-4's tokens, 3.9 to 4.5 with Claude's first ones."""
_CHARACTERS_A_WORD = 6.2
_MESSAGE = 4
"""Tokens that chat templates put around a message."""
_LEAST_CACHED, _CACHED_STEP = 1024, 128
"""Hosted caches take prompts that share at least so many tokens, in steps of so many (OpenAI; others ask for more)."""


@dataclass(frozen=True)
class Prompts:
    """Prompts of one kind, as means a call, in tokens.

    Attributes:
        tokens: the whole prompt.
        shared: what it begins with that an earlier one began with: what a cache without conditions serves.
        served: what a hosted provider's cache serves of that.
    """

    tokens: float
    shared: float
    served: float


def filler(words: float, mark: str) -> str:
    """Made-up text as long as so many English words; texts of different marks have no beginning in common."""
    return mark * max(1, round(words * _CHARACTERS_A_WORD - 1))


def measure(program: Program, first: Mapping[str, object], *others: Mapping[str, object]) -> Prompts:
    """The tokens of a program's prompts with ``others`` as inputs, each sent after the one before it.

    Args:
        program: with its instructions and worked examples; of several predictors the first one counts.
        first: inputs of a call that went before; not counted itself.
        others: inputs of the calls that are counted.
    """
    texts = [_render(program, inputs) for inputs in (first, *others)]
    shared = [_common(*pair) / CHARACTERS_A_TOKEN for pair in pairwise(texts)]
    served = [share // _CACHED_STEP * _CACHED_STEP if share >= _LEAST_CACHED else 0.0 for share in shared]
    whole = [len(text) / CHARACTERS_A_TOKEN for text in texts[1:]]
    messages = 2 + 2 * len(program.predictors()[0].demos)
    return Prompts(_mean(whole) + messages * _MESSAGE, _mean(shared), _mean(served))


def _render(program: Program, inputs: Mapping[str, object]) -> str:
    first = program.predictors()[0]
    messages = PromptAdapter().format(first.signature, first.demos, dict(inputs))
    return "\n".join(message["content"] for message in messages)


def _common(one: str, other: str) -> int:
    """Characters that both texts begin with."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))


def _mean(numbers: Sequence[float]) -> float:
    return sum(numbers) / len(numbers)
