"""Article entity recall: the share of the human article's named entities that occur in the generated one."""

import math
from collections.abc import Sequence

from storm_pipeline.evaluation.metrics.base import Measure, Parameters, Score
from storm_pipeline.evaluation.metrics.entities import EntityTagger, recall_score
from storm_pipeline.evaluation.metrics.resources import Resources
from storm_pipeline.evaluation.metrics.texts import generated_text
from storm_pipeline.evaluation.types import Case
from storm_pipeline.text.sentences import split_sentences


class ArticleEntityRecall:
    """|G ∩ P| / |G| over the sets of lower-cased entities of two articles.

    Both sides are lead and body without headings, split into sentences by the package's own splitter.

    Args:
        tagger: finds entities, one sentence at a time.
    """

    name = "article_entity_recall"
    measures = (Measure("article_entity_recall"), Measure("article_entities", high=math.inf, better="neither"))
    reference = "Shao et al. 2024 (STORM), section 4.2"

    def __init__(self, tagger: EntityTagger) -> None:
        self.parameters: Parameters = {"tagger": tagger.name, "unit": "sentence"}
        self._tagger = tagger

    def score(self, cases: Sequence[Case]) -> list[Score]:
        """One score per case, in order; the recall is None if the human article has no entity."""
        return [self._recall(case) for case in cases]

    def _recall(self, case: Case) -> Score:
        truth = split_sentences(case.topic.human.text())
        return recall_score("article", self._tagger, truth, split_sentences(generated_text(case.article)))


def make(resources: Resources) -> ArticleEntityRecall:
    """The metric with the evaluation's tagger."""
    return ArticleEntityRecall(resources.entity_tagger)
