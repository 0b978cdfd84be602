"""Statement coverage by the screen: the share of the human article's statements that an article states."""

import threading
from collections.abc import Sequence
from functools import lru_cache

from storm_bench.judges.base import Pair, scores_of
from storm_bench.metrics.base import CaseMetric, Measure, Score
from storm_bench.statement_passages import (
    PASSAGE_WORDS,
    TOP_PASSAGES,
    StatementPassages,
    find_in_article,
    find_in_documents,
    share,
)
from storm_bench.types import Case, Topic
from storm_pipeline.judges.base import Judge

STATED = 0.65
"""Minimum score at which a passage states a statement. On articles of other systems it finds 74 % of what a reader
finds stated, and 9 % of the rest (160 labels). Higher than for citations, because all passages are on the topic."""
MEASURES = (Measure("statement_coverage"), Measure("statement_ceiling", better="neither"))
CACHED_TOPICS = 256
"""Topics whose ceiling is cached."""


def statement_coverage(judge: Judge) -> CaseMetric:
    """Share of the human statements that the article states, and that the topic's documents state.

    A statement is stated if one of its five best-matching passages (up to 120 words) reaches the screen's threshold.
    The second measure, over the topic's documents without copies of the human article, is the ceiling for articles
    written from these documents alone. The screen cannot distinguish contradicted from absent statements. Both are None
    without statements, the ceiling also without documents.

    Departures: the benchmark asks a language model about each statement; see :mod:`.statements_lm`.
    """
    lock = threading.Lock()

    def stated(statements: Sequence[StatementPassages]) -> float | None:
        return share([score >= judge.threshold for score in best_scores(judge, statements)])

    @lru_cache(CACHED_TOPICS)
    def ceiling(topic: Topic) -> float | None:
        return stated(find_in_documents(topic))

    def score(case: Case) -> Score:
        covered = stated(find_in_article(case.article, case.topic.human.statements))
        with lock:  # a second thread waits for the cached ceiling
            most = ceiling(case.topic) if case.topic.documents else None
        return {"statement_coverage": covered, "statement_ceiling": most}

    return CaseMetric(
        "statement_coverage",
        MEASURES,
        "Wiki Live Challenge (arXiv 2602.01590), coverage of the human article's statements",
        score,
        {"screen": judge.name, **judge.parameters, "passage_words": PASSAGE_WORDS, "passages": TOP_PASSAGES},
        (("screen", MEASURES),),
    )


def best_scores(judge: Judge, statements: Sequence[StatementPassages]) -> list[float]:
    """Each statement's best score over its passages, in [0, 1]; 0 without passages."""
    scores = iter(scores_of(judge, [Pair(passage, one.statement) for one in statements for passage in one.passages]))
    return [max((next(scores) for _ in one.passages), default=0.0) for one in statements]
