"""Article entity recall: the share of the human article's named entities that occur in the generated one."""

import math
from collections.abc import Sequence

from storm_bench.metrics.base import Measure, Parameters, Score
from storm_bench.metrics.entities import EntityTagger, entities_of, entity_recall
from storm_bench.metrics.texts import generated_text
from storm_bench.types import Case
from storm_pipeline.api import split_sentences


class ArticleEntityRecall:
    """|G ∩ P| / |G| over the sets of lower-cased entities of two articles.

    The human article's entities are those published with the data set (FreshWiki's ``flair_entities``), as in the
    official evaluation; without them they are tagged like the generated article's: lead and body without headings,
    split into sentences by the package's own splitter.

    Args:
        tagger: finds entities, one sentence at a time.
    """

    name = "article_entity_recall"
    measures = (Measure("article_entity_recall"), Measure("article_entities", high=math.inf, better="neither"))
    reference = "Shao et al. 2024 (STORM), section 4.2"

    def __init__(self, tagger: EntityTagger) -> None:
        self.parameters: Parameters = {
            "tagger": tagger.name,
            "unit": "sentence",
            "truth": "published entities, else tagged",
        }
        self._tagger = tagger

    def score(self, cases: Sequence[Case]) -> list[Score]:
        """One score per case, in order; the recall is None if the human article has no entity."""
        return [self._recall(case) for case in cases]

    def _recall(self, case: Case) -> Score:
        human = case.topic.human
        truth = frozenset(human.entities) or entities_of(self._tagger, split_sentences(human.text()))
        found = entities_of(self._tagger, split_sentences(generated_text(case.article)))
        return {"article_entity_recall": entity_recall(truth, found), "article_entities": len(truth)}
