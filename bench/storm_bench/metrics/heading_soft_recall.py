"""Heading soft recall: how much of the human headings an outline's headings cover."""

import math

from storm_bench.metrics.base import CaseMetric, Measure, Score
from storm_bench.metrics.official import HeadingTruth, heading_pair
from storm_bench.metrics.texts import HeadingsOf, describe_headings
from storm_bench.types import Case
from storm_pipeline.api import soft_recall
from storm_pipeline.retrieval.embedder import Embedder

PUBLISHED = "paraphrase-MiniLM-L6-v2"
"""The sentence encoder used in the paper."""


MEASURES = (Measure("heading_soft_recall", low=-math.inf, high=math.inf),)


def heading_soft_recall(
    embedder: Embedder, *, clip: bool = False, truth: HeadingTruth = "txt", headings_of: HeadingsOf = "outline"
) -> CaseMetric:
    """:func:`soft_recall` of an article's outline; None where that is None.

    Args:
        embedder: the paper uses :data:`PUBLISHED`; values by another encoder are not comparable with the paper's.
        clip: set negative cosines to 0.
        truth: where the human headings come from, and where both lists end.
    """

    def score(case: Case) -> Score:
        both = heading_pair(case.topic.human, case.article, truth, headings_of)
        return {"heading_soft_recall": soft_recall(*both, embedder.embed, clip=clip)}

    return CaseMetric(
        "heading_soft_recall",
        MEASURES,
        "Shao et al. 2024 (STORM), section 2.2 and appendix C.1, after Fränti and Mariescu-Istodor 2023",
        score,
        {
            "embedder": embedder.name,
            "embedder_of_the_paper": PUBLISHED,
            "cosines": "clipped at 0" if clip else "as they are",
            "headings": describe_headings(headings_of),
            "truth": truth,
        },
    )
