"""Support judged by an entailment model: the passage is the premise, the claim the hypothesis."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from storm_pipeline.errors import MetricError
from storm_pipeline.evaluation.judges.base import Pair, Parameters

_ENTAILS = re.compile(r"entail(?:s|ed|ment)?|supports?|supported|yes|true", re.I)
_SHARED = 32
"""Tokens that neighbouring windows of a long premise share."""


class EntailmentJudge:
    """A sequence classifier of transformers trained on natural language inference, with two classes or three.

    The score is the probability of entailment, whose place the model's own configuration tells (``id2label``).
    A premise that the model cannot take whole is judged window by window and scores as its best window does.
    The model is loaded when it is first needed.

    Args:
        model: a folder, which is never looked for on the network, or a name on the model hub.
        threshold: least probability of a supported claim, in [0, 1].
        batch_size: windows a forward pass, >= 1.
        cache: where a model from the hub is kept; default: the library's own place.
    """

    def __init__(
        self, model: str | Path, *, threshold: float = 0.5, batch_size: int = 16, cache: Path | None = None
    ) -> None:
        self.threshold = threshold
        self._source = str(model)
        self._is_folder = Path(model).is_dir()
        self._batch_size = batch_size
        self._cache = cache
        self._model: Any = None
        self._tokenizer: Any = None
        self._entails = 0

    @property
    def name(self) -> str:
        """Name of the model, or of its folder."""
        return f"nli:{Path(self._source).name if self._is_folder else self._source}"

    @property
    def parameters(self) -> Parameters:
        """The model and the threshold."""
        return {"model": self.name.removeprefix("nli:"), "threshold": self.threshold}

    def scores(self, pairs: Sequence[Pair]) -> list[float]:
        """As :class:`~storm_pipeline.evaluation.judges.base.SupportJudge`; an empty passage scores 0.

        Raises:
            MetricError: the model cannot be loaded, or its labels do not tell which one is entailment.
        """
        found = [0.0] * len(pairs)
        asked = [i for i, pair in enumerate(pairs) if pair.passage.strip()]
        if not asked:
            return found
        self._load()
        asked.sort(key=lambda i: -len(pairs[i].passage))  # windows of one length share a batch
        for start in range(0, len(asked), self._batch_size):
            some = asked[start : start + self._batch_size]
            for i, score in self._judged([pairs[j] for j in some]):
                found[some[i]] = max(found[some[i]], score)
        return found

    def _judged(self, pairs: Sequence[Pair]) -> list[tuple[int, float]]:
        """Position of a pair and the score of one of its windows, for every window."""
        import torch

        longest = self._longest()
        windows = self._tokenizer(
            [pair.passage for pair in pairs],
            [" ".join(pair.claim.split()[: longest // 4]) for pair in pairs],
            truncation="only_first",
            max_length=longest,
            stride=min(_SHARED, longest // 8),
            return_overflowing_tokens=True,
            padding=True,
            return_tensors="pt",
        )
        owners = windows.pop("overflow_to_sample_mapping").tolist()
        found: list[tuple[int, float]] = []
        with torch.inference_mode():
            for start in range(0, len(owners), self._batch_size):
                part = {name: values[start : start + self._batch_size] for name, values in windows.items()}
                shares = self._model(**part).logits.softmax(dim=-1)[:, self._entails].tolist()
                found += zip(owners[start : start + self._batch_size], shares, strict=True)
        return found

    def _longest(self) -> int:
        """Tokens of a pair that the model takes."""
        places = getattr(self._model.config, "max_position_embeddings", None) or 512
        return int(min(self._tokenizer.model_max_length, places, 512))

    def _load(self) -> None:
        if self._model is not None:
            return
        from transformers import AutoModelForSequenceClassification, AutoTokenizer

        options = {"cache_dir": self._cache, "local_files_only": self._is_folder}
        try:
            model = AutoModelForSequenceClassification.from_pretrained(self._source, **options)
            tokenizer = AutoTokenizer.from_pretrained(self._source, use_fast=True, **options)
        except (OSError, ValueError) as error:
            raise MetricError(
                f"the entailment model {self._source!r} cannot be loaded ({str(error).splitlines()[0]}): give a folder "
                "with a sequence classifier and its tokenizer, or the name of one on the hub"
            ) from error
        self._entails = _place_of_entailment(self._source, model.config.id2label)
        self._tokenizer, self._model = tokenizer, model.eval()


def _place_of_entailment(model: str, labels: Mapping[int, str]) -> int:
    """Index of the one label that means entailment; ``not_entailment`` and its like do not."""
    found = [int(place) for place, label in labels.items() if _ENTAILS.fullmatch(label.strip())]
    if len(found) != 1:
        raise MetricError(
            f"none of the labels of {model!r}, or more than one, means entailment ({list(labels.values())}): "
            "name it so in id2label of the model's config.json"
        )
    return found[0]
