"""Paragraph-level coherence (eq. 4): how well the sentences follow each other, by a model of discourse."""

from collections.abc import Sequence
from typing import Protocol


class DiscourseModel(Protocol):
    """Scores paragraphs, given as their sentences in order: one score in [0, 1] each, higher for better order."""

    @property
    def name(self) -> str: ...  # noqa: D102

    def coherences(self, paragraphs: Sequence[Sequence[str]]) -> list[float]: ...  # noqa: D102


def paragraph_coherence(sentences: Sequence[str], model: DiscourseModel) -> float | None:
    """S_coh_para(k) = Scorer_para(s_1, ..., s_m), in [0, 1]; None for no sentence.

    The equation speaks of a "normalized score" without saying how: each model here says how it normalises.
    """
    return model.coherences([sentences])[0] if sentences else None
