"""Prompts and responses as tokens, and batches of them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from storm_training.errors import TrainingError


@dataclass(frozen=True)
class Example:
    """A prompt and a response as token ids; the response ends with the end token unless it was cut."""

    prompt: tuple[int, ...]
    response: tuple[int, ...]


@dataclass(frozen=True)
class Batch:
    """Examples side by side, filled up to the right: a causal model's tokens see nothing of what fills up.

    Attributes:
        tokens: prompt and response, shape (answers, tokens).
        response: whether a token is of the response, same shape.
    """

    tokens: Tensor
    response: Tensor

    @property
    def first(self) -> int:
        """The first column that has a token of a response; at least 1, as no prompt is empty."""
        return int(self.response.any(0).float().argmax())


def encode(tokenizer: Any, prompt: str, response: str) -> Example:
    """Return the token ids of a pair; the end token is added to the response.

    Raises:
        TrainingError: prompt or response is empty.
    """
    if not prompt.strip() or not response.strip():
        raise TrainingError(f"an example has no {'response' if prompt.strip() else 'prompt'}: leave it out of the data")
    ids = tokenizer(prompt, add_special_tokens=False)["input_ids"]
    answer = tokenizer(response, add_special_tokens=False)["input_ids"]
    return Example(tuple(ids), (*answer, tokenizer.eos_token_id))


def collate(examples: Sequence[Example], padding: int) -> Batch:
    """Return a batch, filled up with the padding token."""
    longest = max(len(example.prompt) + len(example.response) for example in examples)
    tokens = torch.full((len(examples), longest), padding)
    response = torch.zeros(len(examples), longest, dtype=torch.bool)
    for row, example in enumerate(examples):
        start, end = len(example.prompt), len(example.prompt) + len(example.response)
        tokens[row, :end] = torch.tensor(example.prompt + example.response)
        response[row, start:end] = True
    return Batch(tokens, response)


def order(count: int, size: int, step: int, seed: int) -> list[int]:
    """Return the examples of a step's batch: without repetition within a pass, determined by seed and step.

    Args:
        count: examples in all.
        size: of a batch; smaller where there are fewer examples.
        step: from 0.
        seed: of the shuffles.
    """
    size = min(size, count)
    each = count // size
    generator = torch.Generator("cpu").manual_seed(seed * 1_000_003 + step // each)
    start = step % each * size
    return torch.randperm(count, generator=generator, device="cpu")[start : start + size].tolist()
