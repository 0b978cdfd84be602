"""Reproducible shuffling: an item's position depends only on the seed and its own name."""

import hashlib
from collections.abc import Callable, Iterable
from typing import TypeVar

T = TypeVar("T")


def shuffled(items: Iterable[T], seed: object, name: Callable[[T], object]) -> list[T]:
    """Shuffle items by a seed, independently of their input order.

    Adding items does not change the relative order of the others, so a larger sample contains the smaller one.

    Args:
        items: the items.
        seed: any value with a text form.
        name: unique name of an item.
    """
    return sorted(items, key=lambda item: hashlib.sha256(f"{seed}\n{name(item)}".encode("utf-8", "replace")).digest())
