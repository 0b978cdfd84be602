"""Drawing by chance, the same draw everywhere: an item's place follows from the seed and its own name alone."""

import hashlib
from collections.abc import Callable, Iterable
from typing import TypeVar

T = TypeVar("T")


def drawn(items: Iterable[T], seed: object, name: Callable[[T], object]) -> list[T]:
    """Items in an order that a seed draws, whatever their own order.

    Adding items moves none of the others past each other, so a larger draw holds the smaller one.

    Args:
        items: what to order.
        seed: whatever has a text.
        name: tells an item from all others.
    """
    return sorted(items, key=lambda item: hashlib.sha256(f"{seed}\n{name(item)}".encode("utf-8", "replace")).digest())
