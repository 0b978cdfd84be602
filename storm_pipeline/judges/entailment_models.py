"""Entailment models from transformers: sequence classifiers, and sequence-to-sequence models such as TRUE.

Both split a premise that does not fit into overlapping windows and return the probability of entailment per window.
Known by their names, for their own prompts and unnamed labels: MiniCheck (Tang et al. 2024; as a classifier, and with
T5) and FactCG (Lei et al. 2025). A model with one label, such as HHEM 1.0, is a cross-encoder: the logistic function of
its logit.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from storm_pipeline.documents.chunks import chunks
from storm_pipeline.errors import SettingsError
from storm_pipeline.judges.pretrained import load_trained
from storm_pipeline.retrieval.model_files import loading, options_without_code

_ENTAILS = re.compile(r"entail(?:s|ed|ment)?|supports?|supported|yes|true", re.I)
_OVERLAP = 32
"""Tokens shared by neighbouring windows of a long premise."""
_LONGEST = 512
"""Maximum tokens of a premise and a claim."""
_OWN_LABELS = re.compile(r"minicheck|factcg", re.I)
"""Models whose two labels have no names: the second one is support."""
_FACTCG = re.compile("factcg", re.I)
_FACTCG_PROMPT = (
    '{}\n\nChoose your answer: based on the paragraph above can we conclude that "{}"?\n\nOPTIONS:\n- Yes\n- No\n'
    "I think the answer is "
)
_FACTCG_WORDS = 320  # words of a premise in FactCG's prompt
_MINICHECK = re.compile("minicheck", re.I)
_ANSWERS = ("1", "0")
"""What TRUE answers for entailment and for none (Honovich et al. 2022)."""


@dataclass(frozen=True)
class Premise:
    """A text, and the claim that may follow from it."""

    passage: str
    claim: str


class EntailmentModel(Protocol):
    """Judges windows of premises."""

    def windows(self, pairs: Sequence[Premise], batch_size: int) -> list[tuple[int, float]]:
        """(index of a pair, probability of entailment) for each window of each pair's passage."""


def load_entailment_model(source: str, *, cache: Path | None = None) -> EntailmentModel:
    """Load the model of a folder or a hub name.

    Raises:
        SettingsError: it cannot be loaded, has no trained head, or its labels do not name entailment.
    """
    from transformers import AutoConfig, AutoModelForSeq2SeqLM, AutoModelForSequenceClassification, AutoTokenizer

    remedy = "give the folder or hub name of a sequence classifier or a sequence-to-sequence model, with its tokenizer"
    with loading(f"the entailment model {source!r} cannot be loaded", remedy):
        options = options_without_code(source, cache)
        config = AutoConfig.from_pretrained(source, **options)
        classifies = any("SequenceClassification" in name for name in config.architectures or ())
        generates = config.is_encoder_decoder and not classifies
        kind = AutoModelForSeq2SeqLM if generates else AutoModelForSequenceClassification
        model = load_trained(kind, source, "entailment model", "on natural language inference", **options)
        tokenizer = AutoTokenizer.from_pretrained(source, use_fast=True, **options)
    if generates:
        return Seq2SeqModel(source, model, tokenizer)
    probability = _probability(source, model.config.id2label)
    kind = PromptedClassifier if _FACTCG.search(source) else Classifier
    return kind(model, tokenizer, probability)


class Classifier:
    """A sequence classifier; ``probability`` turns its logits, shape (windows, labels), into those of entailment."""

    def __init__(self, model: Any, tokenizer: Any, probability: Callable[[Any], Any]) -> None:
        self._model = model
        self._tokenizer = tokenizer
        self._probability = probability

    def windows(self, pairs: Sequence[Premise], batch_size: int) -> list[tuple[int, float]]:
        """As :class:`EntailmentModel`."""
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
        return list(zip(owners, self._scores(encoded, batch_size), strict=True))

    def _scores(self, encoded: Any, batch_size: int) -> list[float]:
        import torch

        found: list[float] = []
        with torch.inference_mode():
            for start in range(0, len(encoded["input_ids"]), batch_size):
                batch = {name: values[start : start + batch_size] for name, values in encoded.items()}
                found += self._probability(self._model(**batch).logits).tolist()
        return found

    def _longest(self) -> int:
        positions = getattr(self._model.config, "max_position_embeddings", None) or _LONGEST
        return int(min(self._tokenizer.model_max_length, positions, _LONGEST))


class PromptedClassifier(Classifier):
    """A classifier that reads premise and claim in one prompt, as FactCG does."""

    def windows(self, pairs: Sequence[Premise], batch_size: int) -> list[tuple[int, float]]:
        """As :class:`EntailmentModel`."""
        parts = [(i, part, pair.claim) for i, pair in enumerate(pairs) for part in chunks(pair.passage, _FACTCG_WORDS)]
        encoded = self._tokenizer(
            [_FACTCG_PROMPT.format(part, claim) for _, part, claim in parts],
            truncation=True,
            max_length=self._longest(),
            padding=True,
            return_tensors="pt",
        )
        return list(zip((i for i, _, _ in parts), self._scores(encoded, batch_size), strict=True))


class Seq2SeqModel:
    """A model asked as TRUE is: ``premise: … hypothesis: …``, answered by ``1`` or ``0``; or as MiniCheck's T5 is.

    The probability is that of the token in which ``1`` first differs from ``0``, among these two.
    """

    def __init__(self, source: str, model: Any, tokenizer: Any) -> None:
        self._model = model
        self._tokenizer = tokenizer
        yes, no = (self._ids(answer) for answer in _ANSWERS)
        common = next((i for i, (a, b) in enumerate(zip(yes, no, strict=False)) if a != b), -1)
        if common < 0 or tokenizer.unk_token_id in (yes[common], no[common]):
            raise SettingsError(f"the tokenizer of {source!r} cannot distinguish the answers {' and '.join(_ANSWERS)}")
        self._answers = yes[common], no[common]
        self._prompt = (
            ("predict:", f"{tokenizer.eos_token}") if _MINICHECK.search(source) else ("premise:", "hypothesis: ")
        )
        self._decoder_start = [model.config.decoder_start_token_id, *yes[:common]]

    def windows(self, pairs: Sequence[Premise], batch_size: int) -> list[tuple[int, float]]:
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

    def _prompts(self, pair: Premise) -> Iterator[list[int]]:
        """The prompt's tokens for each window of the passage."""
        longest = int(min(self._tokenizer.model_max_length, _LONGEST))
        claim = " ".join(pair.claim.split()[: longest // 4])
        begin, then = self._prompt
        before, passage, after = self._ids(begin), self._ids(pair.passage), self._ids(f"{then}{claim}")
        end = [] if self._tokenizer.eos_token_id is None else [self._tokenizer.eos_token_id]
        room = max(1, longest - len(before) - len(after) - len(end))
        step = max(1, room - min(_OVERLAP, room // 8))
        for start in range(0, max(1, len(passage) - room + step), step):
            yield [*before, *passage[start : start + room], *after, *end]

    def _ids(self, text: str) -> list[int]:
        return list(self._tokenizer(text, add_special_tokens=False)["input_ids"])


def _probability(model: str, labels: Mapping[int, str]) -> Callable[[Any], Any]:
    """How a model's logits become the probability of entailment."""
    if len(labels) == 1:
        return lambda logits: logits[:, 0].sigmoid()
    entails = 1 if _OWN_LABELS.search(model) and len(labels) == 2 else _entailment_index(model, labels)
    return lambda logits: logits.softmax(dim=-1)[:, entails]


def _entailment_index(model: str, labels: Mapping[int, str]) -> int:
    """Index of the only label that means entailment; ``not_entailment`` and the like do not match."""
    found = [int(index) for index, label in labels.items() if _ENTAILS.fullmatch(label.strip())]
    if len(found) != 1:
        raise SettingsError(
            f"{len(found)} of the labels of {model!r} mean entailment, not one ({list(labels.values())}): "
            "name it in id2label of the model's config.json"
        )
    return found[0]
