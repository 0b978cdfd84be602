"""Calibration tasks: passage–claim pairs with known answers, from expert labels and swapped citations."""

import hashlib
import random
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from storm_bench.datasets.expertqa import LabelledClaim
from storm_bench.judges.base import Pair

_NUMBER = re.compile(r"(?<![\w.,])\d+(?![\w]|[.,]\d)")


@dataclass(frozen=True)
class LabelledPair:
    """A pair with its known answer; ``group`` is the question it belongs to."""

    pair: Pair
    positive: bool
    group: str


@dataclass(frozen=True)
class CalibrationTask:
    """A named set of pairs with known answers."""

    name: str
    items: tuple[LabelledPair, ...]


def halves(claims: Sequence[LabelledClaim]) -> tuple[tuple[LabelledClaim, ...], tuple[LabelledClaim, ...]]:
    """Split claims into a training and a test half; all claims of a question are in the same half."""
    train = tuple(claim for claim in claims if _hash(claim.question) % 2 == 0)
    return train, tuple(claim for claim in claims if _hash(claim.question) % 2)


def sampled(claims: Sequence[LabelledClaim], limit: int) -> tuple[LabelledClaim, ...]:
    """Return at most ``limit`` claims, chosen reproducibly, in their original order."""
    chosen = set(sorted(range(len(claims)), key=lambda i: _hash(f"{claims[i].question}\n{claims[i].claim}"))[:limit])
    return tuple(claim for i, claim in enumerate(claims) if i in chosen)


def tasks(claims: Sequence[LabelledClaim], *, seed: int = 0) -> tuple[CalibrationTask, ...]:
    """Build the four calibration tasks.

    - experts: Complete against Partial and Incomplete;
    - another question: a Complete claim with its own passages against the same claim with another question's passages;
    - another source: the same, with a page cited by another claim of the same question (which may support it too);
    - changed number: a Complete claim against the same claim with one number changed, both with its own passages.
    """
    rng = random.Random(seed)  # noqa: S311 - reproducible choice
    complete = [claim for claim in claims if claim.supported]
    own = {
        claim: LabelledPair(Pair(claim.evidence, claim.claim), positive=True, group=claim.question)
        for claim in complete
    }

    def swapped_task(name: str, other: Callable[[LabelledClaim], Pair | None]) -> CalibrationTask:
        items = [(own[claim], pair, claim.question) for claim in complete if (pair := other(claim)) is not None]
        return CalibrationTask(
            name, tuple(i for true, pair, q in items for i in (true, LabelledPair(pair, positive=False, group=q)))
        )

    def another_question(claim: LabelledClaim) -> Pair | None:
        others = [other for other in claims if other.question != claim.question]
        return Pair(rng.choice(others).evidence, claim.claim) if others else None

    def another_source(claim: LabelledClaim) -> Pair | None:
        mine = {passage.url for passage in claim.passages}
        same = (other for other in claims if other.question == claim.question)
        pages = {p.url: p.text for other in same for p in other.passages if p.url not in mine}
        return Pair(rng.choice(list(pages.values())), claim.claim) if pages else None

    def changed_number(claim: LabelledClaim) -> Pair | None:
        places = list(_NUMBER.finditer(claim.claim))
        if not places:
            return None
        at = rng.choice(places)
        number = str(int(at[0]) + rng.choice((-3, -2, -1, 1, 2, 3)) if int(at[0]) > 3 else int(at[0]) + 2)
        return Pair(claim.evidence, claim.claim[: at.start()] + number + claim.claim[at.end() :])

    experts = tuple(LabelledPair(Pair(c.evidence, c.claim), positive=c.supported, group=c.question) for c in claims)
    return (
        CalibrationTask("experts", experts),
        swapped_task("another question", another_question),
        swapped_task("another source", another_source),
        swapped_task("changed number", changed_number),
    )


def _hash(text: str) -> int:
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")
