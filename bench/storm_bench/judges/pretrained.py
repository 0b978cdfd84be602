"""Models from transformers, refused where weights were never trained; sequence classifiers over pairs of texts."""

from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from storm_bench.errors import MetricError
from storm_pipeline.api import loading, local_folder, options_without_code

_LONGEST = 512
"""Tokens of a pair of texts, at most."""


def model_name(model: str | Path) -> str:
    """Name of a model on the hub, or of its folder."""
    return folder.name if (folder := local_folder(model)) else str(model)


def load_trained(kind: Any, source: str, called: str, trained: str, **options: Any) -> Any:
    """A model, ready for inference; refused where the files lack weights, which transformers would draw at random.

    Args:
        kind: class of transformers that loads it.
        source: a folder, or a name on the model hub.
        called: what the model is called in messages, such as ``ranker``.
        trained: how it should have been trained, in messages, such as ``to rank passages``.
        options: further arguments of ``from_pretrained``.

    Raises:
        MetricError: there are such weights.
        OSError, ValueError: it cannot be loaded.
    """
    model, found = kind.from_pretrained(source, output_loading_info=True, weights_only=True, **options)
    if found["missing_keys"]:
        raise MetricError(
            f"the {called} {source!r} has no weights for {', '.join(sorted(found['missing_keys']))}, so its scores "
            f"would be random: give a model that was trained {trained}"
        )
    return model.eval()


class PairClassifier:
    """A sequence classifier over pairs of texts, in float32; loaded when it is first needed.

    Args:
        model: a folder, which is never looked for on the network, or a name on the model hub.
        called: what the model is called in messages, such as ``ranker``.
        trained: how it should have been trained, in messages, such as ``to rank passages``.
        batch_size: pairs a forward pass, >= 1.
        cache: where a model from the hub is kept; default: the library's own place.
    """

    def __init__(
        self, model: str | Path, called: str, trained: str, *, batch_size: int = 16, cache: Path | None = None
    ) -> None:
        self.source = str(local_folder(model) or model)
        self.name = model_name(model)
        self._called = called
        self._trained = trained
        self._batch_size = batch_size
        self._cache = cache

    @property
    def config(self) -> Any:
        """The model's configuration; errors as :meth:`logits`."""
        return self._loaded[0].config

    def logits(self, pairs: Sequence[tuple[str, str]]) -> Iterator[Any]:
        """A tensor of shape (pairs, labels) in float64 for each batch, in order.

        ``pairs``: of those that are too long, the longer text is cut at its end. Raises MetricError: the model cannot
        be loaded, or has no trained head.
        """
        import torch

        model, tokenizer = self._loaded
        for start in range(0, len(pairs), self._batch_size):
            firsts, seconds = zip(*pairs[start : start + self._batch_size], strict=True)
            batch = tokenizer(
                list(firsts),
                list(seconds),
                truncation=True,
                max_length=min(_LONGEST, tokenizer.model_max_length),
                padding=True,
                return_tensors="pt",
            )
            with torch.inference_mode():
                yield model(**batch).logits.double()

    @cached_property
    def _loaded(self) -> tuple[Any, Any]:
        from transformers import AutoModelForSequenceClassification, AutoTokenizer

        remedy = "give a folder with a sequence classifier and its tokenizer, or the name of one on the hub"
        with loading(f"the {self._called} {self.source!r} cannot be loaded", remedy, MetricError):
            options = options_without_code(self.source, self._cache)
            kind = AutoModelForSequenceClassification
            model = load_trained(kind, self.source, self._called, self._trained, **options)
            return model, AutoTokenizer.from_pretrained(self.source, **options)
