"""Relevance (eq. 2): how well the knowledge matches the query."""

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from storm_bench.errors import MetricError
from storm_bench.judges.pretrained import PairClassifier
from storm_pipeline.api import Embedder


class Matching(Protocol):
    """Matches a query with texts: one score in [0, 1] a text, in order."""

    @property
    def name(self) -> str: ...  # noqa: D102

    def matches(self, query: str, texts: Sequence[str]) -> list[float]: ...  # noqa: D102


def relevance(query: str, knowledge: str, matching: Matching) -> float | None:
    """S_rel(k, q) = Matching(k, q), in [0, 1]; None for empty knowledge."""
    return matching.matches(query, [knowledge])[0] if knowledge.strip() else None


class CrossEncoder:
    """A BERT ranker (Nogueira et al. 2019): a sequence classifier of transformers over query and text.

    With two labels the score is the probability of the second (relevant), as monoBERT has it; with one label it is the
    logistic function of the logit.

    Args:
        model: as for :class:`~storm_bench.judges.pretrained.PairClassifier`.
        cache: likewise.
    """

    def __init__(self, model: str | Path, *, cache: Path | None = None) -> None:
        self._model = PairClassifier(model, "ranker", "to rank passages", cache=cache)
        self.name = f"ranker:{self._model.name}"

    def matches(self, query: str, texts: Sequence[str]) -> list[float]:
        """As :class:`Matching`.

        Raises:
            MetricError: the model cannot be loaded, has no trained head, or has more than two labels.
        """
        if (labels := self._model.config.num_labels) > 2:
            raise MetricError(
                f"{self._model.source!r} has {labels} labels: a ranker has one, or two of which the second means "
                "relevant"
            )
        found: list[float] = []
        for logits in self._model.logits([(query, text) for text in texts]):
            found += (logits.softmax(dim=-1)[:, 1] if labels == 2 else logits[:, 0].sigmoid()).tolist()
        return found


class CosineMatching:
    """Stand-in for the BERT ranker: the cosine of sentence vectors, negative ones counted as 0.

    Args:
        embedder: texts to unit vectors.
    """

    def __init__(self, embedder: Embedder) -> None:
        self.name = f"stand-in:cosine:{embedder.name}"
        self._embedder = embedder

    def matches(self, query: str, texts: Sequence[str]) -> list[float]:
        """As :class:`Matching`."""
        vectors = self._embedder.embed([query, *texts])
        return [min(1.0, max(0.0, float(cosine))) for cosine in vectors[1:] @ vectors[0]]
