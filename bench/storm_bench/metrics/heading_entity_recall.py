"""Heading entity recall: the share of named entities in the human headings that occur in an outline's headings."""

import math
from collections.abc import Sequence

from storm_bench.metrics.base import Measure, Parameters, Score
from storm_bench.metrics.entities import EntityTagger, recall_score
from storm_bench.metrics.official import HeadingTruth, heading_pair
from storm_bench.metrics.texts import HeadingsOf, describe_headings
from storm_bench.types import Case


class HeadingEntityRecall:
    """|G ∩ P| / |G| over the sets of lower-cased entities of the human headings and of an outline's headings.

    Args:
        tagger: finds entities, one heading at a time.
        truth: where the human headings come from, and where both lists end.
        headings_of: which headings are scored.
    """

    name = "heading_entity_recall"
    measures = (Measure("heading_entity_recall"), Measure("heading_entities", high=math.inf, better="neither"))
    reference = "Shao et al. 2024 (STORM), section 2.2"

    def __init__(
        self, tagger: EntityTagger, *, truth: HeadingTruth = "txt", headings_of: HeadingsOf = "outline"
    ) -> None:
        self.parameters: Parameters = {
            "tagger": tagger.name,
            "headings": describe_headings(headings_of),
            "truth": truth,
        }
        self._truth = truth
        self._headings_of = headings_of
        self._tagger = tagger

    def score(self, cases: Sequence[Case]) -> list[Score]:
        """One score per case, in order; the recall is None if the human headings have no entity."""
        return [
            recall_score(
                "heading",
                self._tagger,
                *heading_pair(case.topic.human, case.article, self._truth, self._headings_of),
            )
            for case in cases
        ]
