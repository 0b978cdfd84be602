"""Natural language inference with three outcomes: the seam that factuality and validity rest on, and its models."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from storm_bench.errors import MetricError
from storm_bench.judges.base import Pair, SupportJudge
from storm_bench.judges.pretrained import PairClassifier


@dataclass(frozen=True)
class Entailment:
    """How likely a premise entails a hypothesis, says nothing of it, or refutes it.

    Each value lies in [0, 1]; together they are 1. CONNER names them factual-consistent, non-verified and
    factual-inconsistent.
    """

    entailed: float
    neutral: float
    refuted: float


UNVERIFIED = Entailment(0.0, 1.0, 0.0)
"""The verdict on a sentence for which no evidence was found."""


class Inference(Protocol):
    """Judges hypotheses (``Pair.claim``) by premises (``Pair.passage``): one verdict a pair, in order."""

    @property
    def name(self) -> str: ...  # noqa: D102

    def verdicts(self, pairs: Sequence[Pair]) -> list[Entailment]: ...  # noqa: D102


class NliModel:
    """A sequence classifier of transformers whose three labels are entailment, neutral and contradiction.

    Which label means what stands in the model's own configuration (``id2label``). A premise that is too long for the
    model is cut at its end.

    Args:
        model: as for :class:`~storm_bench.judges.pretrained.PairClassifier`.
        cache: likewise.
    """

    def __init__(self, model: str | Path, *, cache: Path | None = None) -> None:
        self._model = PairClassifier(model, "inference model", "on natural language inference", cache=cache)
        self.name = f"nli:{self._model.name}"

    def verdicts(self, pairs: Sequence[Pair]) -> list[Entailment]:
        """As :class:`Inference`.

        Raises:
            MetricError: the model cannot be loaded, has no trained head, or its labels are not the three.
        """
        if not pairs:
            return []
        entails, neutral, refutes = _places(self._model.source, self._model.config.id2label)
        batches = self._model.logits([(pair.passage, pair.claim) for pair in pairs])
        shares = [row for logits in batches for row in logits.softmax(dim=-1).tolist()]
        return [Entailment(row[entails], row[neutral], row[refutes]) for row in shares]


class SupportInference:
    """Stand-in: a judge of support (two outcomes) in place of an NLI model (three).

    The judge's score is ``entailed``, the rest is ``neutral``; ``refuted`` is always 0, because such a judge cannot
    tell a contradiction from a missing statement.

    Args:
        judge: gives a score in [0, 1] for each pair.
    """

    def __init__(self, judge: SupportJudge) -> None:
        self.name = f"stand-in:{judge.name}"
        self._judge = judge

    def verdicts(self, pairs: Sequence[Pair]) -> list[Entailment]:
        """As :class:`Inference`."""
        return [Entailment(score, 1 - score, 0.0) for score in self._judge.scores(pairs)]


def _places(model: str, labels: Mapping[int, str]) -> tuple[int, int, int]:
    """Indices of the labels that mean entailment, neutral and contradiction."""
    names = {label.strip().lower(): int(place) for place, label in labels.items()}
    try:
        return names["entailment"], names["neutral"], names["contradiction"]
    except KeyError as error:
        raise MetricError(
            f"no label of {model!r} is called {error} (there are {', '.join(names)}): give a model trained on natural "
            "language inference, or name its labels in id2label of its config.json"
        ) from error
