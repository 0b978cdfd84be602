"""Article entity recall: the share of the human article's named entities that occur in the generated one."""

import math

from storm_bench.metrics.base import CaseMetric, Measure, Score
from storm_bench.metrics.taggers import EntityTagger, entities_of, entity_recall
from storm_bench.metrics.texts import generated_text
from storm_bench.types import Case
from storm_pipeline.api import split_sentences

MEASURES = (Measure("article_entity_recall"), Measure("article_entities", high=math.inf, better="neither"))


def article_entity_recall(tagger: EntityTagger) -> CaseMetric:
    """|G ∩ P| / |G| over the sets of lower-cased entities of two articles; None if the human article has none.

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
        MEASURES,
        "Shao et al. 2024 (STORM), section 4.2",
        score,
        {"tagger": tagger.name, "unit": "sentence", "truth": "published entities, else tagged"},
    )
