"""Detecting copies of kept-out pages after a run, using what all its searches returned."""

from collections.abc import Iterable

from storm_pipeline.search.result import SeenPage
from storm_pipeline.sources.ground_truth import GroundTruth
from storm_pipeline.types import Exclusion


def duplicates(seen: Iterable[SeenPage], truth: GroundTruth) -> tuple[Exclusion, ...]:
    """The seen pages that are to be kept out, given all seen text of those recognised by URL or title.

    Args:
        seen: pages of all searches, in any order.
        truth: what is to be kept out.
    """
    seen = tuple(seen)
    known = truth.with_texts(one.text for one in seen if truth.recognise_by_name(one.url, one.title))
    judged = ((one, known.recognise(one.url, one.title, one.text)) for one in seen)
    return tuple(Exclusion(one.url, one.title, reason, one.query) for one, reason in judged if reason)
