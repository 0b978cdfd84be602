"""Entailment models from transformers: sequence classifiers, and sequence-to-sequence models such as TRUE.

Both split a premise that does not fit into overlapping windows and return the probability of entailment per window.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from storm_bench.errors import MetricError
from storm_bench.judges.base import Pair
from storm_bench.judges.pretrained import load_trained
from storm_pipeline.api import loading, options_without_code

_ENTAILS = re.compile(r"entail(?:s|ed|ment)?|supports?|supported|yes|true", re.I)
_OVERLAP = 32
"""Tokens shared by neighbouring windows of a long premise."""
_LONGEST = 512
"""Maximum tokens of a premise and a claim."""
_ANSWERS = ("1", "0")
"""What TRUE answers for entailment and for none (Honovich et al. 2022)."""


class EntailmentModel(Protocol):
    """Judges windows of premises."""

    def windows(self, pairs: Sequence[Pair], batch_size: int) -> list[tuple[int, float]]:
        """(index of a pair, probability of entailment) for each window of each pair's passage."""


def load_entailment_model(source: str, *, cache: Path | None = None) -> EntailmentModel:
    """Load the model of a folder or a hub name.

    Raises:
        MetricError: it cannot be loaded, has no trained head, or its labels do not name entailment.
    """
    from transformers import AutoConfig, AutoModelForSeq2SeqLM, AutoModelForSequenceClassification, AutoTokenizer

    remedy = "give the folder or hub name of a sequence classifier or a sequence-to-sequence model, with its tokenizer"
    with loading(f"the entailment model {source!r} cannot be loaded", remedy, MetricError):
        options = options_without_code(source, cache)
        config = AutoConfig.from_pretrained(source, **options)
        classifies = any("SequenceClassification" in name for name in config.architectures or ())
        generates = config.is_encoder_decoder and not classifies
        kind = AutoModelForSeq2SeqLM if generates else AutoModelForSequenceClassification
        model = load_trained(kind, source, "entailment model", "on natural language inference", **options)
        tokenizer = AutoTokenizer.from_pretrained(source, use_fast=True, **options)
    if generates:
        return Seq2SeqModel(source, model, tokenizer)
    return Classifier(model, tokenizer, _entailment_index(source, model.config.id2label))


class Classifier:
    """A sequence classifier; ``entails`` is the index of its label for entailment."""

    def __init__(self, model: Any, tokenizer: Any, entails: int) -> None:
        self._model = model
        self._tokenizer = tokenizer
        self._entails = entails

    def windows(self, pairs: Sequence[Pair], batch_size: int) -> list[tuple[int, float]]:
        """As :class:`EntailmentModel`."""
        import torch

        longest = self._longest()
        encoded = self._tokenizer(
            [pair.passage for pair in pairs],
            [" ".join(pair.claim.split()[: longest // 4]) for pair in pairs],
            truncation="only_first",
            max_length=longest,
            stride=min(_OVERLAP, longest // 8),
            return_overflowing_tokens=True,
            padding=True,
            return_tensors="pt",
        )
        owners = encoded.pop("overflow_to_sample_mapping").tolist()
        found: list[tuple[int, float]] = []
        with torch.inference_mode():
            for start in range(0, len(owners), batch_size):
                batch = {name: values[start : start + batch_size] for name, values in encoded.items()}
                scores = self._model(**batch).logits.softmax(dim=-1)[:, self._entails].tolist()
                found += zip(owners[start : start + batch_size], scores, strict=True)
        return found

    def _longest(self) -> int:
        positions = getattr(self._model.config, "max_position_embeddings", None) or _LONGEST
        return int(min(self._tokenizer.model_max_length, positions, _LONGEST))


class Seq2SeqModel:
    """A model asked as TRUE is: ``premise: … hypothesis: …``, answered by ``1`` or ``0``.

    The probability is that of the token in which ``1`` first differs from ``0``, among these two.
    """

    def __init__(self, source: str, model: Any, tokenizer: Any) -> None:
        self._model = model
        self._tokenizer = tokenizer
        yes, no = (self._ids(answer) for answer in _ANSWERS)
        common = next((i for i, (a, b) in enumerate(zip(yes, no, strict=False)) if a != b), -1)
        if common < 0 or tokenizer.unk_token_id in (yes[common], no[common]):
            raise MetricError(f"the tokenizer of {source!r} cannot distinguish the answers {' and '.join(_ANSWERS)}")
        self._answers = yes[common], no[common]
        self._decoder_start = [model.config.decoder_start_token_id, *yes[:common]]

    def windows(self, pairs: Sequence[Pair], batch_size: int) -> list[tuple[int, float]]:
        """As :class:`EntailmentModel`."""
        import torch

        encoded = [(i, ids) for i, pair in enumerate(pairs) for ids in self._prompts(pair)]
        found: list[tuple[int, float]] = []
        with torch.inference_mode():
            for start in range(0, len(encoded), batch_size):
                batch = encoded[start : start + batch_size]
                inputs = self._tokenizer.pad({"input_ids": [ids for _, ids in batch]}, return_tensors="pt")
                logits = self._model(
                    input_ids=inputs["input_ids"],
                    attention_mask=inputs["attention_mask"],
                    decoder_input_ids=torch.tensor([self._decoder_start] * len(batch)),
                ).logits[:, -1, list(self._answers)]
                found += zip((i for i, _ in batch), logits.softmax(dim=-1)[:, 0].tolist(), strict=True)
        return found

    def _prompts(self, pair: Pair) -> Iterator[list[int]]:
        """The prompt's tokens for each window of the passage."""
        longest = int(min(self._tokenizer.model_max_length, _LONGEST))
        claim = " ".join(pair.claim.split()[: longest // 4])
        before, passage, after = self._ids("premise:"), self._ids(pair.passage), self._ids(f"hypothesis: {claim}")
        end = [] if self._tokenizer.eos_token_id is None else [self._tokenizer.eos_token_id]
        room = max(1, longest - len(before) - len(after) - len(end))
        step = max(1, room - min(_OVERLAP, room // 8))
        for start in range(0, max(1, len(passage) - room + step), step):
            yield [*before, *passage[start : start + room], *after, *end]

    def _ids(self, text: str) -> list[int]:
        return list(self._tokenizer(text, add_special_tokens=False)["input_ids"])


def _entailment_index(model: str, labels: Mapping[int, str]) -> int:
    """Index of the only label that means entailment; ``not_entailment`` and the like do not match."""
    found = [int(index) for index, label in labels.items() if _ENTAILS.fullmatch(label.strip())]
    if len(found) != 1:
        raise MetricError(
            f"{len(found)} of the labels of {model!r} mean entailment, not one ({list(labels.values())}): "
            "name it in id2label of the model's config.json"
        )
    return found[0]
