"""What the interviews asked and collected."""

import math
from collections.abc import Sequence

from storm_bench.metrics.base import Measure, Parameters, Score
from storm_bench.types import Case
from storm_pipeline import Article
from storm_pipeline.api import LATER_ROUND


class Research:
    """Counts of the interviews, before anything is written; both are None without interviews.

    ``questions`` asked in all: the paper keeps them equal for STORM and its ablations (section 5.2), while a simulated
    writer may end an interview early. ``references_researched``: |R|, distinct sources shown to the experts (Algorithm
    1, Table 5). Neither counts what ``storm+gaps`` looks up for thin sections, nor what it looks up once a draft is
    written.
    """

    name = "research"
    measures = (
        Measure("questions", high=math.inf, better="neither"),
        Measure("references_researched", high=math.inf),
    )
    reference = "Shao et al. 2024 (STORM), section 5.2 and Table 5"

    def __init__(self) -> None:
        self.parameters: Parameters = {}

    def score(self, cases: Sequence[Case]) -> list[Score]:
        """One score per case, in order."""
        return [_research(case.article) for case in cases]


def _research(article: Article) -> Score:
    turns = [turn for own in article.conversations if own.perspective.focus != LATER_ROUND for turn in own.turns]
    if not turns:
        return {"questions": None, "references_researched": None}
    collected = {snippet.source_id for turn in turns for snippet in turn.snippets}
    return {"questions": len(turns), "references_researched": len(collected)}
