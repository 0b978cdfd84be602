"""Answers with labels of their subclaims, seen at the three levels of evaluation (FoRAG 5.2).

Departures from the paper: in the synthetic world labels are exact, not GPT-4's. Where a judge labels, a sentence is its
own only subclaim unless a program splits it. Structure and outline are not segments and get no reward.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from storm_bench.judges.base import ScoringJudge
from storm_pipeline.evidence.judges.base import Question
from storm_training.errors import TrainingError
from storm_training.segments import Segmented, whole

Level = Literal["holistic", "sentence", "subclaim"]
Split = Callable[[str], Sequence[str]]
"""A function from a sentence to its subclaims, each a self-contained sentence."""


@dataclass(frozen=True)
class Judged:
    """An answer and, for each sentence, the labels in [0, 1] of its subclaims."""

    answer: Segmented
    labels: tuple[tuple[float, ...], ...]

    @property
    def factual(self) -> bool:
        """Whether there is something, and all of it is true: the holistic label."""
        return bool(self.labels) and all(min(sentence) == 1 for sentence in self.labels)


def judged(answer: Segmented, labels: Sequence[Sequence[float]]) -> Judged:
    """Return an answer with its labels.

    Raises:
        TrainingError: labels are not in [0, 1], or not as many as sentences.
    """
    if len(labels) != len(answer.sentences) or not all(labels):
        raise TrainingError(f"{len(answer.sentences)} sentences have labels for {len(labels)}, or one has none")
    if not all(0 <= label <= 1 for sentence in labels for label in sentence):
        raise TrainingError("a label of a subclaim is not within 0 and 1")
    return Judged(answer, tuple(map(tuple, labels)))


def judge_labels(
    judge: ScoringJudge, sentences: Sequence[str], materials: Sequence[str], split: Split | None = None
) -> list[list[float]]:
    """Return the labels by a judge: 1 where the materials support a subclaim.

    Args:
        judge: of support.
        sentences: an answer's.
        materials: plain text each.
        split: splits a sentence; without it the sentence is its own subclaim.

    Raises:
        TrainingError: there are no materials, or all are empty.
    """
    if not any(material.strip() for material in materials):
        raise TrainingError("the materials are empty: nothing can be judged by them")
    parts = [list(split(sentence)) if split else [sentence] for sentence in sentences]
    asked = [Question(claim, tuple(materials)) for claims in parts for claim in claims]
    verdicts = iter(judge.judge(asked))
    return [[float(next(verdicts).label == "supported") for _ in claims] for claims in parts]


def targets(item: Judged, level: Level) -> tuple[tuple[int, ...], tuple[float, ...]]:
    """Return the segment of each of the response's tokens, and each segment's label.

    The label is whether all is true (holistic, sentence), or the mean over a sentence's subclaims (subclaim level).
    """
    if level == "holistic" or not item.labels:
        return whole(item.answer), (float(item.factual),)
    if level == "sentence":
        return item.answer.numbers, tuple(float(min(sentence) == 1) for sentence in item.labels)
    return item.answer.numbers, tuple(sum(sentence) / len(sentence) for sentence in item.labels)
