"""Natural language inference with three outcomes: the seam that factuality and validity rest on, and its models."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from storm_bench.errors import MetricError
from storm_bench.judges.base import Pair, SupportJudge
from storm_bench.judges.pretrained import load_classifier

_LONGEST = 512
"""Tokens of a premise and a hypothesis together."""


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
    model is cut at its end. The model is loaded when it is first needed, and runs in float32.

    Args:
        model: a folder, which is never looked for on the network, or a name on the model hub.
        batch_size: pairs a forward pass, >= 1.
        cache: where a model from the hub is kept; default: the library's own place.
    """

    def __init__(self, model: str | Path, *, batch_size: int = 16, cache: Path | None = None) -> None:
        self._source = str(model)
        self._is_folder = Path(model).is_dir()
        self._batch_size = batch_size
        self._cache = cache
        self._loaded: tuple[Any, Any, tuple[int, int, int]] | None = None

    @property
    def name(self) -> str:
        """Name of the model, or of its folder."""
        return f"nli:{Path(self._source).name if self._is_folder else self._source}"

    def verdicts(self, pairs: Sequence[Pair]) -> list[Entailment]:
        """As :class:`Inference`.

        Raises:
            MetricError: the model cannot be loaded, has no trained head, or its labels are not the three.
        """
        import torch

        if not pairs:
            return []
        model, tokenizer, (entails, neutral, refutes) = self._model()
        found: list[Entailment] = []
        for start in range(0, len(pairs), self._batch_size):
            some = pairs[start : start + self._batch_size]
            texts = tokenizer(
                [pair.passage for pair in some],
                [pair.claim for pair in some],
                truncation="longest_first",
                max_length=min(_LONGEST, tokenizer.model_max_length),
                padding=True,
                return_tensors="pt",
            )
            with torch.inference_mode():
                shares = model(**texts).logits.double().softmax(dim=-1).tolist()
            found += [Entailment(row[entails], row[neutral], row[refutes]) for row in shares]
        return found

    def _model(self) -> tuple[Any, Any, tuple[int, int, int]]:
        if self._loaded is None:
            model, tokenizer = load_classifier(
                self._source,
                "inference model",
                "on natural language inference",
                cache=self._cache,
            )
            self._loaded = model, tokenizer, _places(self._source, model.config.id2label)
        return self._loaded


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
