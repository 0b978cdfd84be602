"""Statement coverage by the screen: the share of the statements of people's article that an article states."""

import threading
from collections.abc import Mapping, Sequence
from functools import lru_cache

from storm_pipeline.evaluation.judges.base import Pair, SupportJudge
from storm_pipeline.evaluation.judges.screen import ScreenJudge
from storm_pipeline.evaluation.metrics.base import Measure, Score
from storm_pipeline.evaluation.metrics.resources import Resources
from storm_pipeline.evaluation.statements import LOOKED_AT, WORDS, Sought, share, sought_in_article, sought_on_pages
from storm_pipeline.evaluation.types import Case, Topic

STATED = 0.75
"""Least score of the screen at which a passage states a statement. Here it errs about as often either way: of the
statements of people's articles it misses as many as it still finds when the sentences that state them are taken out
(``python benchmarks/statements.py``). Citations have a lower threshold; here all passages are on the topic."""
_REMEMBERED = 256
"""Topics of which the ceiling is kept."""


class StatementCoverage:
    """Share of the statements that the article states, and share that the pages of the topic state.

    A statement is stated where one of the five passages (up to 120 words) that share most with it reaches the screen's
    threshold. The second measure, of the documents of the topic without copies of people's article, is the ceiling for
    whoever writes from these documents alone. The screen cannot tell a conflict from a statement that is absent. A
    topic without statements has neither measure, one without documents no ceiling.

    Departures: the benchmark asks a language model about each statement; that is :mod:`.statement_coverage_lm`.

    Args:
        judge: the screen, or any other judge of support.
    """

    name = "statement_coverage"
    measures = (Measure("statement_coverage"), Measure("statement_ceiling", better="neither"))
    rests_on = (("screen", measures),)
    reference = "Wiki Live Challenge (arXiv 2602.01590), coverage of the human article's statements"

    def __init__(self, judge: SupportJudge) -> None:
        self._judge = judge
        self._ceiling = lru_cache(_REMEMBERED)(self._of_pages)
        self._lock = threading.Lock()

    @property
    def parameters(self) -> Mapping[str, str | int | float]:
        """The judge and its parameters, and the passages that it is shown."""
        return {"screen": self._judge.name, **self._judge.parameters, "words": WORDS, "passages": LOOKED_AT}

    def score(self, cases: Sequence[Case]) -> list[Score]:
        """One score a case, in order."""
        return [self._score(case) for case in cases]

    def _score(self, case: Case) -> Score:
        stated = self._stated(sought_in_article(case.article, case.topic.human.statements))
        with self._lock:  # whoever comes second finds the topic's pages judged
            ceiling = self._ceiling(case.topic) if case.topic.documents else None
        return {"statement_coverage": share(stated), "statement_ceiling": ceiling}

    def _of_pages(self, topic: Topic) -> float | None:
        return share(self._stated(sought_on_pages(topic)))

    def _stated(self, sought: Sequence[Sought]) -> list[bool]:
        return [score >= self._judge.threshold for score in best_scores(self._judge, sought)]


def best_scores(judge: SupportJudge, sought: Sequence[Sought]) -> list[float]:
    """For each statement the best score of its passages, in [0, 1]; 0 where it has none."""
    scores = iter(judge.scores([Pair(passage, one.statement) for one in sought for passage in one.passages]))
    return [max((next(scores) for _ in one.passages), default=0.0) for one in sought]


def make(resources: Resources) -> StatementCoverage:
    """The metric with the screen over the embedder of an evaluation."""
    return StatementCoverage(ScreenJudge(resources.vectors, threshold=STATED))
