"""Article entity recall: the share of the named entities in people's article that the generated one has."""

import math
from collections.abc import Sequence

from storm_pipeline.evaluation.metrics.base import Measure, Parameters, Score
from storm_pipeline.evaluation.metrics.entities import EntityTagger, recall_score
from storm_pipeline.evaluation.metrics.resources import Resources
from storm_pipeline.evaluation.metrics.texts import generated_text
from storm_pipeline.evaluation.types import Case
from storm_pipeline.text.sentences import split_sentences


class ArticleEntityRecall:
    """|G ∩ P| / |G| over the sets of entities, in small letters, of the texts of two articles.

    Lead and body without headings on both sides, cut into sentences by the package's own splitter.

    Args:
        tagger: finds entities, a sentence at a time.
    """

    name = "article_entity_recall"
    measures = (Measure("article_entity_recall"), Measure("article_entities", high=math.inf, better="neither"))
    reference = "Shao et al. 2024 (STORM), section 4.2"

    def __init__(self, tagger: EntityTagger) -> None:
        self.parameters: Parameters = {"tagger": tagger.name, "unit": "sentence"}
        self._tagger = tagger

    def score(self, cases: Sequence[Case]) -> list[Score]:
        """One score a case, in order; the recall is None where people's article has no entity."""
        return [self._recall(case) for case in cases]

    def _recall(self, case: Case) -> Score:
        truth = split_sentences(case.topic.human.text())
        return recall_score("article", self._tagger, truth, split_sentences(generated_text(case.article)))


def make(resources: Resources) -> ArticleEntityRecall:
    """The metric with the tagger of an evaluation."""
    return ArticleEntityRecall(resources.entity_tagger)
