"""Heading entity recall: the share of named entities in the human headings that occur in an outline's headings."""

import math

from storm_bench.metrics.base import CaseMetric, Measure, Score
from storm_bench.metrics.official import HeadingTruth, heading_pair
from storm_bench.metrics.taggers import EntityTagger, entities_of, entity_recall
from storm_bench.metrics.texts import HeadingsOf, describe_headings
from storm_bench.types import Case

MEASURES = (Measure("heading_entity_recall"), Measure("heading_entities", high=math.inf, better="neither"))


def heading_entity_recall(
    tagger: EntityTagger, *, truth: HeadingTruth = "txt", headings_of: HeadingsOf = "outline"
) -> CaseMetric:
    """|G ∩ P| / |G| over the sets of lower-cased entities of the human headings and of an outline's headings.

    The recall is None if the human headings have no entity.

    Args:
        tagger: finds entities, one heading at a time.
        truth: where the human headings come from, and where both lists end.
    """

    def score(case: Case) -> Score:
        both = heading_pair(case.topic.human, case.article, truth, headings_of)
        wanted, found = (entities_of(tagger, headings) for headings in both)
        return {"heading_entity_recall": entity_recall(wanted, found), "heading_entities": len(wanted)}

    return CaseMetric(
        "heading_entity_recall",
        MEASURES,
        "Shao et al. 2024 (STORM), section 2.2",
        score,
        {"tagger": tagger.name, "headings": describe_headings(headings_of), "truth": truth},
    )
