"""Recalls of STORM: of the human headings, of their named entities, and of the human article's."""

import math

from storm_bench.metrics.base import CaseMetric, Measure, Score
from storm_bench.metrics.taggers import EntityTagger, entities_of, entity_recall
from storm_bench.metrics.texts import HeadingsOf, describe_headings, generated_text, heading_pair
from storm_bench.types import Case
from storm_pipeline.api import soft_recall, split_sentences
from storm_pipeline.evidence.retrieval.embedder import Embedder

PUBLISHED = "paraphrase-MiniLM-L6-v2"
"""The sentence encoder used in the paper."""
SOFT_MEASURES = (Measure("heading_soft_recall", low=-math.inf, high=math.inf),)
HEADING_MEASURES = (Measure("heading_entity_recall"), Measure("heading_entities", high=math.inf, better="neither"))
ARTICLE_MEASURES = (Measure("article_entity_recall"), Measure("article_entities", high=math.inf, better="neither"))


def heading_soft_recall(embedder: Embedder, *, headings_of: HeadingsOf = "outline") -> CaseMetric:
    """Return :func:`soft_recall` of an article's outline; None where that is None.

    ``embedder``: the paper uses :data:`PUBLISHED`; values by another encoder are not comparable with the paper's.
    """

    def score(case: Case) -> Score:
        both = heading_pair(case.topic.human, case.article, headings_of)
        return {"heading_soft_recall": soft_recall(*both, embedder.embed)}

    return CaseMetric(
        "heading_soft_recall",
        SOFT_MEASURES,
        "Shao et al. 2024 (STORM), section 2.2 and appendix C.1, after Fränti and Mariescu-Istodor 2023",
        score,
        {
            "embedder": embedder.name,
            "embedder_of_the_paper": PUBLISHED,
            "cosines": "as they are",
            "headings": describe_headings(headings_of),
            "truth": "txt",
        },
    )


def heading_entity_recall(tagger: EntityTagger, *, headings_of: HeadingsOf = "outline") -> CaseMetric:
    """Return |G ∩ P| / |G| over the sets of lower-cased entities of the human headings and of an outline's headings.

    The recall is None if the human headings have no entity.

    ``tagger``: finds entities, one heading at a time.
    """

    def score(case: Case) -> Score:
        both = heading_pair(case.topic.human, case.article, headings_of)
        wanted, found = (entities_of(tagger, headings) for headings in both)
        return {"heading_entity_recall": entity_recall(wanted, found), "heading_entities": len(wanted)}

    return CaseMetric(
        "heading_entity_recall",
        HEADING_MEASURES,
        "Shao et al. 2024 (STORM), section 2.2",
        score,
        {"tagger": tagger.name, "headings": describe_headings(headings_of), "truth": "txt"},
    )


def article_entity_recall(tagger: EntityTagger) -> CaseMetric:
    """Return |G ∩ P| / |G| over the sets of lower-cased entities of two articles; None if the human article has none.

    The human article's entities are those published with the data set (FreshWiki's ``flair_entities``), as in the
    official evaluation; without them they are tagged like the generated article's, one sentence at a time: lead and
    body without headings, split into sentences by the package's own splitter.
    """

    def score(case: Case) -> Score:
        human = case.topic.human
        truth = frozenset(human.entities) or entities_of(tagger, split_sentences(human.text()))
        found = entities_of(tagger, split_sentences(generated_text(case.article)))
        return {"article_entity_recall": entity_recall(truth, found), "article_entities": len(truth)}

    return CaseMetric(
        "article_entity_recall",
        ARTICLE_MEASURES,
        "Shao et al. 2024 (STORM), section 4.2",
        score,
        {"tagger": tagger.name, "unit": "sentence", "truth": "published entities, else tagged"},
    )
