"""Heading soft recall: how much of the human headings an outline's headings cover."""

import math
from collections.abc import Sequence

from storm_bench.metrics.base import Measure, Parameters, Score
from storm_bench.metrics.official import HeadingTruth, heading_pair
from storm_bench.metrics.texts import HeadingsOf, describe_headings
from storm_bench.types import Case
from storm_pipeline.api import Embedder, soft_recall

PUBLISHED = "paraphrase-MiniLM-L6-v2"
"""The sentence encoder used in the paper."""


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
