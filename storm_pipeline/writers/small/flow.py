"""Puts the pages of a section in an order that reads on: what is near stands together, no long row of definitions."""

from collections.abc import Callable, Sequence
from itertools import groupby

import numpy as np
import numpy.typing as npt

from storm_pipeline.references.store import ReferenceStore
from storm_pipeline.writers.small.order import in_reading_order, rank_of
from storm_pipeline.writers.small.statements import Statement

_IN_A_ROW = 3  # maximum definitions of other things, one after the other

Block = Sequence[Statement]


def flowing(statements: Sequence[Statement], store: ReferenceStore, *, by_time: bool) -> tuple[Statement, ...]:
    """The statements of a section, without the definitions that would be a third in a row.

    By time: in its order. Else what is about the subject or a part of it comes first, and each page is followed by
    the nearest of those as general; definitions that nothing follows are put between others.
    """
    ordered = in_reading_order(statements, by_time=by_time)
    left: list[Block] = [list(own) for _, own in groupby(ordered, key=lambda one: one.fact.citation.source_id)]
    if by_time:
        return _bearable(left)
    vectors = {id(own): store.embed([one.fact.in_context for one in own]).mean(axis=0) for own in left}
    return _chained(left, lambda own: vectors[id(own)])


def _chained(left: list[Block], vector: Callable[[Block], npt.NDArray[np.float32]]) -> tuple[Statement, ...]:
    told: list[Statement] = []
    last: Block = ()

    def place(own: Block) -> tuple[bool, int, float]:
        near = float(vector(own) @ vector(last)) if last else 0.0
        return all(one.defines for one in own) and _row(told) > 0, rank_of(own), -near

    while fitting := [own for own in left if _fits(told, own)]:
        last = min(fitting, key=place)
        left = [own for own in left if own is not last]
        told += last
    return tuple(told)


def _bearable(blocks: Sequence[Block]) -> tuple[Statement, ...]:
    told: list[Statement] = []
    for own in blocks:
        told += own if _fits(told, own) else ()
    return tuple(told)


def _fits(told: Sequence[Statement], own: Block) -> bool:
    return not own[0].defines or _row(told) < _IN_A_ROW


def _row(told: Sequence[Statement]) -> int:
    """The number of definitions with which the text so far ends."""
    return next((i for i, one in enumerate(reversed(told)) if not one.defines), len(told))
