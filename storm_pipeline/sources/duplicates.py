"""Copies of what is kept out that only another search gives away: recognised once all searches are known."""

from collections.abc import Iterable

from storm_pipeline.search.result import SeenPage
from storm_pipeline.sources.ground_truth import GroundTruth
from storm_pipeline.types import Exclusion


def duplicates(seen: Iterable[SeenPage], truth: GroundTruth) -> tuple[Exclusion, ...]:
    """The pages that are to be kept out, by all that was seen of those recognised by address or title.

    Args:
        seen: by searches in any order, which does not matter.
        truth: what is to be kept out.
    """
    seen = tuple(seen)
    known = truth.knowing(one.text for one in seen if truth.named(one.url, one.title))
    judged = ((one, known.recognise(one.url, one.title, one.text)) for one in seen)
    return tuple(Exclusion(one.url, one.title, reason, one.query) for one, reason in judged if reason)
