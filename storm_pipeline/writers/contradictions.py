"""Finds sentences that state different numbers for what may be one thing, for the copy editor to settle."""

from collections.abc import Sequence
from itertools import combinations

from storm_pipeline.languages import stem_set
from storm_pipeline.quantities import differing, without_quantities
from storm_pipeline.references.facts import recall
from storm_pipeline.types import Sentence

_SHARED = 0.4
"""Minimum share of the shorter sentence's words, without topic and numbers, that both have."""
_FEWEST = 3
"""Minimum number of such words."""
_MOST = 12
"""Maximum number of pairs that an editor is shown, those that share most first."""


def contradictions(sentences: Sequence[Sentence], topic: str, language: str) -> list[tuple[int, int, str, str]]:
    """Pairs of sentences that count the same and differ: their positions, and the numbers as they spell them.

    Args:
        sentences: of an article, in order.
        topic: its words prove no likeness.
        language: ISO 639-1 code of both.
    """
    known = stem_set(topic, language)
    stems = [stem_set(without_quantities(one.text, language), language) - known for one in sentences]
    found = []
    for i, j in combinations(range(len(sentences)), 2):
        shared = len(stems[i] & stems[j])
        like = max(recall(stems[i], stems[j]), recall(stems[j], stems[i]))
        if shared >= _FEWEST and like >= _SHARED and (two := differing(sentences[i].text, sentences[j].text, language)):
            found.append((like, i, j, *two))
    best = sorted(found, key=lambda pair: (-pair[0], pair[1], pair[2]))[:_MOST]
    return sorted((i, j, one, other) for _, i, j, one, other in best)
