"""CONNER's Q as a reward: of several samples of a text that is written from passages, the best is kept (section 5)."""

import math
from collections.abc import Callable, Mapping
from typing import Any

import dspy

from storm_bench.conner.evidence_source import Bm25Evidence
from storm_bench.conner.knowledge_selection import Quality
from storm_bench.conner.named_models import Models
from storm_bench.conner.scoring import Record, intrinsic_scores
from storm_pipeline import Snippet

Reward = Callable[[Mapping[str, Any], dspy.Prediction], float]


def quality_reward(quality: Quality, models: Models, *, field: str = "answer") -> Reward:
    """The reward of :func:`storm_pipeline.optimize.best_of.best_of`: Q of a reply, with the passages shown as evidence.

    Departure: the paper chooses among pieces of knowledge for one question; here they are samples of one answer.

    Returns:
        A reward that is minus infinity where a score is not defined.
    """

    def reward(inputs: Mapping[str, Any], reply: dspy.Prediction) -> float:
        lines = enumerate(str(inputs["passages"]).splitlines())
        evidence = Bm25Evidence([Snippet(f"shown:{number}", "", line) for number, line in lines if line.strip()])
        question, text = str(inputs["question"]), str(reply[field])
        scores = intrinsic_scores(question, question, text, evidence, models)
        found = Record("sample", "", text, None, scores).intrinsic()
        return quality.of(found) if found else -math.inf

    return reward
