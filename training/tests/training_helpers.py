"""A world, a tokenizer and a writer that are small enough to be trained within a second."""

import random
from functools import cache

import pytest
import torch

from storm_training.batches import encode
from storm_training.tiny import tiny_llama, train_tokenizer
from storm_training.world import demonstrate, items

torch.set_num_threads(1)  # models this small are slower by more


@cache
def pairs(count=64, error_rate=0.3):
    rng = random.Random(5)
    return [(item, demonstrate(item, "outlined", error_rate, rng)) for item in items(count, 5)]


@cache
def tokenizer():
    return train_tokenizer([item.prompt + text for item, text in pairs()])


def writer(seed=0):
    return tiny_llama(tokenizer(), seed=seed, hidden=32, layers=1)


@cache
def examples():
    return [encode(tokenizer(), item.prompt, text) for item, text in pairs()]


def weights(model):
    return {name: tensor.detach().clone() for name, tensor in model.named_parameters()}


def assert_rows_match(found, expected):
    """Two curves are the same but for rounding."""
    assert len(found) == len(expected)
    for own, other in zip(found, expected, strict=True):
        assert own == pytest.approx(other, abs=1e-5)
