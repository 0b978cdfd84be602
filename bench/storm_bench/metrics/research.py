"""What the interviews asked and collected."""

import math

from storm_bench.metrics.base import CaseMetric, Measure, Score
from storm_bench.types import Case
from storm_pipeline.types import READERS


def _research(case: Case) -> Score:
    asked = (own for own in case.article.conversations if own.perspective.focus not in READERS)
    turns = [turn for own in asked for turn in own.turns]
    if not turns:
        return {"questions": None, "references_researched": None}
    collected = {snippet.source_id for turn in turns for snippet in turn.snippets}
    return {"questions": len(turns), "references_researched": len(collected)}


RESEARCH = CaseMetric(
    "research",
    (Measure("questions", high=math.inf, better="neither"), Measure("references_researched", high=math.inf)),
    "Shao et al. 2024 (STORM), section 5.2 and Table 5",
    _research,
)
"""Counts of the interviews, before anything is written; both are None without interviews.

``questions`` asked in all: the paper keeps them equal for STORM and its ablations (section 5.2), while a simulated
writer may end an interview early. ``references_researched``: |R|, distinct sources shown to the experts (Algorithm 1,
Table 5). Neither counts what ``storm-iterative`` looks up for thin sections, nor what it looks up once a draft is
written.
"""
