"""Relevance (eq. 2): how well the knowledge matches the query."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

from storm_bench.errors import MetricError
from storm_bench.judges.pretrained import load_classifier
from storm_pipeline.api import Embedder

_LONGEST = 512


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
    logistic function of the logit. The model is loaded when it is first needed.

    Args:
        model: a folder, which is never looked for on the network, or a name on the model hub.
        batch_size: texts a forward pass, >= 1.
        cache: where a model from the hub is kept; default: the library's own place.
    """

    def __init__(self, model: str | Path, *, batch_size: int = 16, cache: Path | None = None) -> None:
        self._source = str(model)
        self._is_folder = Path(model).is_dir()
        self._batch_size = batch_size
        self._cache = cache
        self._loaded: tuple[Any, Any] | None = None

    @property
    def name(self) -> str:
        """Name of the model, or of its folder."""
        return f"ranker:{Path(self._source).name if self._is_folder else self._source}"

    def matches(self, query: str, texts: Sequence[str]) -> list[float]:
        """As :class:`Matching`.

        Raises:
            MetricError: the model cannot be loaded, has no trained head, or has more than two labels.
        """
        import torch

        model, tokenizer = self._model()
        found: list[float] = []
        for start in range(0, len(texts), self._batch_size):
            some = list(texts[start : start + self._batch_size])
            longest = min(_LONGEST, tokenizer.model_max_length)
            batch = tokenizer(
                [query] * len(some), some, truncation=True, max_length=longest, padding=True, return_tensors="pt"
            )
            with torch.inference_mode():
                logits = model(**batch).logits.double()
            shares = logits.softmax(dim=-1)[:, 1] if logits.shape[1] == 2 else logits[:, 0].sigmoid()
            found += shares.tolist()
        return found

    def _model(self) -> tuple[Any, Any]:
        if self._loaded is None:
            model, tokenizer = load_classifier(self._source, "ranker", "to rank passages", cache=self._cache)
            if model.config.num_labels > 2:
                raise MetricError(
                    f"{self._source!r} has {model.config.num_labels} labels: a ranker has one, or two of which the "
                    "second means relevant"
                )
            self._loaded = model, tokenizer
        return self._loaded


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
