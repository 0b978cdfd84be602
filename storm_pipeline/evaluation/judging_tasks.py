"""Pairs of passage and claim whose answer is known: experts' labels, and citations that were swapped on purpose."""

import hashlib
import random
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from storm_pipeline.evaluation.datasets.expertqa import LabelledClaim
from storm_pipeline.evaluation.judges.base import Pair

_NUMBER = re.compile(r"(?<![\w.,])\d+(?![\w]|[.,]\d)")


@dataclass(frozen=True)
class Item:
    """A pair whose answer is known; ``group`` is the question that it belongs to."""

    pair: Pair
    positive: bool
    group: str


@dataclass(frozen=True)
class Task:
    """Pairs with known answers under one name."""

    name: str
    items: tuple[Item, ...]


def halves(claims: Sequence[LabelledClaim]) -> tuple[tuple[LabelledClaim, ...], tuple[LabelledClaim, ...]]:
    """The claims to learn from and those to measure with; all claims of a question are in one half."""
    learn = tuple(claim for claim in claims if _hash(claim.question) % 2 == 0)
    return learn, tuple(claim for claim in claims if _hash(claim.question) % 2)


def sampled(claims: Sequence[LabelledClaim], limit: int) -> tuple[LabelledClaim, ...]:
    """At most ``limit`` of the claims, the same ones each time, in their order."""
    chosen = set(sorted(range(len(claims)), key=lambda i: _hash(f"{claims[i].question}\n{claims[i].claim}"))[:limit])
    return tuple(claim for i, claim in enumerate(claims) if i in chosen)


def tasks(claims: Sequence[LabelledClaim], *, seed: int = 0) -> tuple[Task, ...]:
    """The four tasks.

    - experts: Complete against Partial and Incomplete;
    - another question: a Complete claim with its own passages against the same claim with those of another question;
    - another source: the same, with a page that another claim of the same question cites (which may support it too);
    - changed number: the same claim with one of its numbers changed, own passages both times.

    Args:
        claims: of several questions.
        seed: of the choice of passages and numbers.
    """
    drawn = random.Random(seed)  # noqa: S311 - a choice to be repeated
    complete = [claim for claim in claims if claim.supported]
    own = {claim: Item(Pair(claim.evidence, claim.claim), positive=True, group=claim.question) for claim in complete}

    def against(name: str, other: Callable[[LabelledClaim], Pair | None]) -> Task:
        items = [(own[claim], pair, claim.question) for claim in complete if (pair := other(claim)) is not None]
        return Task(name, tuple(i for true, pair, q in items for i in (true, Item(pair, positive=False, group=q))))

    def another_question(claim: LabelledClaim) -> Pair | None:
        others = [other for other in claims if other.question != claim.question]
        return Pair(drawn.choice(others).evidence, claim.claim) if others else None

    def another_source(claim: LabelledClaim) -> Pair | None:
        mine = {passage.url for passage in claim.passages}
        same = (other for other in claims if other.question == claim.question)
        pages = {p.url: p.text for other in same for p in other.passages if p.url not in mine}
        return Pair(drawn.choice(list(pages.values())), claim.claim) if pages else None

    def changed_number(claim: LabelledClaim) -> Pair | None:
        places = list(_NUMBER.finditer(claim.claim))
        if not places:
            return None
        at = drawn.choice(places)
        number = str(int(at[0]) + drawn.choice((-3, -2, -1, 1, 2, 3)) if int(at[0]) > 3 else int(at[0]) + 2)
        return Pair(claim.evidence, claim.claim[: at.start()] + number + claim.claim[at.end() :])

    experts = tuple(Item(Pair(c.evidence, c.claim), positive=c.supported, group=c.question) for c in claims)
    return (
        Task("experts", experts),
        against("another question", another_question),
        against("another source", another_source),
        against("changed number", changed_number),
    )


def _hash(text: str) -> int:
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")
