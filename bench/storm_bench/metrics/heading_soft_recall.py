"""Heading soft recall: how much of the human headings an outline's headings cover."""

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from storm_bench.metrics.base import Measure, Parameters, Score
from storm_bench.metrics.official import HeadingTruth, heading_pair
from storm_bench.metrics.texts import HeadingsOf, describe_headings
from storm_bench.types import Case
from storm_bench.vectors import Embed
from storm_pipeline.api import Embedder

PUBLISHED = "paraphrase-MiniLM-L6-v2"
"""The sentence encoder used in the paper."""


def soft_recall(truth: Sequence[str], produced: Sequence[str], embed: Embed, *, clip: bool = False) -> float | None:
    """Soft recall of a set of headings (Shao et al. 2024, appendix C.1, equations 1 to 4).

    A heading counts 1 / (the sum of its cosines with all headings of its set, itself included), so that synonymous
    headings together count as one; a set's cardinality is the sum of its counts; the recall is
    (card(G) + card(P) - card(G ∪ P)) / card(G). Duplicates and order do not matter.

    The recall is unbounded: human headings similar to several produced ones can make card(G ∪ P) less than card(P) and
    the recall greater than 1, which happens with real outlines; negative cosines can make it negative.

    Args:
        truth: G, the human headings, without marks.
        produced: P, the outline's headings.
        embed: texts to unit vectors.
        clip: set negative cosines to 0, like the similarities of Fränti and Mariescu-Istodor; the recall is then at
            least 0. The paper does not.

    Returns:
        The recall; 0.0 if nothing was produced; None if there is no truth, or if the cosines of a heading sum to 0 or
        less, so that its count is undefined.
    """
    wanted, made = _distinct(truth), _distinct(produced)
    if not wanted:
        return None
    if not made:
        return 0.0
    together = list(dict.fromkeys([*wanted, *made]))
    vectors = np.asarray(embed(together), dtype=np.float64)
    similar = vectors @ vectors.T
    if clip:
        similar = similar.clip(0.0)
    place = {heading: i for i, heading in enumerate(together)}
    sizes = [_cardinality(similar, [place[h] for h in part]) for part in (wanted, made, together)]
    if any(math.isnan(size) for size in sizes):
        return None
    return float((sizes[0] + sizes[1] - sizes[2]) / sizes[0])


class HeadingSoftRecall:
    """:func:`soft_recall` of an article's outline.

    Args:
        embedder: the paper uses :data:`PUBLISHED`; values by another encoder are not comparable with the paper's.
        clip: set negative cosines to 0.
        truth: where the human headings come from, and where both lists end.
        headings_of: which headings are scored.
    """

    name = "heading_soft_recall"
    measures = (Measure("heading_soft_recall", low=-math.inf, high=math.inf),)
    reference = "Shao et al. 2024 (STORM), section 2.2 and appendix C.1, after Fränti and Mariescu-Istodor 2023"

    def __init__(
        self,
        embedder: Embedder,
        *,
        clip: bool = False,
        truth: HeadingTruth = "txt",
        headings_of: HeadingsOf = "outline",
    ) -> None:
        self.parameters: Parameters = {
            "embedder": embedder.name,
            "embedder_of_the_paper": PUBLISHED,
            "cosines": "clipped at 0" if clip else "as they are",
            "headings": describe_headings(headings_of),
            "truth": truth,
        }
        self._truth = truth
        self._headings_of = headings_of
        self._embed = embedder.embed
        self._clip = clip

    def score(self, cases: Sequence[Case]) -> list[Score]:
        """One score per case, in order; None where :func:`soft_recall` is None."""
        return [{"heading_soft_recall": self._recall(case)} for case in cases]

    def _recall(self, case: Case) -> float | None:
        truth, produced = heading_pair(case.topic.human, case.article, self._truth, self._headings_of)
        return soft_recall(truth, produced, self._embed, clip=self._clip)


def _distinct(headings: Sequence[str]) -> list[str]:
    tidy = (" ".join(heading.split()) for heading in headings)
    return list(dict.fromkeys(heading for heading in tidy if heading))


def _cardinality(similar: npt.NDArray[np.float64], members: Sequence[int]) -> float:
    """Sum of the soft counts of some headings (equation 2); NaN if a count is undefined."""
    sums = similar[np.ix_(members, members)].sum(axis=1)
    return float((1.0 / sums).sum()) if (sums > 0.0).all() else math.nan
