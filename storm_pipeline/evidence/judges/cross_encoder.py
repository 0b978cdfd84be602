"""A judge that is a cross-encoder of sentence-transformers: it reads a passage and a claim together."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from storm_pipeline.errors import SettingsError
from storm_pipeline.evidence.judges.base import Question, Verdict, label_of
from storm_pipeline.evidence.retrieval.model_files import loading, local_folder, options_without_code
from storm_pipeline.run.concurrency import TurnLock
from storm_pipeline.text.chunks import token_chunks
from storm_pipeline.text.words import encodable

_LONGEST = 512  # tokens of a window and a claim
_BATCH = 16  # windows in one forward pass


class CrossEncoderJudge:
    """Any cross-encoder with one score, or with a label (``id2label``) for entailment.

    The probability is the logistic function of the score, or the softmax share of entailment. Long passages are read in
    windows of whole sentences, of which the best one counts. The ``model``, a folder or a name on the hub, is loaded on
    first use, from safetensors alone; nothing that its files name is run.
    """

    def __init__(self, model: str | Path, *, threshold: float = 0.5, cache: Path | None = None) -> None:
        self.threshold, self.parameters = threshold, {"threshold": threshold}
        folder = local_folder(model)
        self.name = f"cross-encoder:{folder.name if folder else model}"
        self._source = str(folder or model)
        self._cache = cache
        self._model: _Model | None = None
        self._lock = TurnLock()  # fast tokenizers cannot change their padding while another thread uses them

    def judge(self, questions: Sequence[Question]) -> list[Verdict]:
        """Judge the questions. Raises SettingsError: the model cannot be loaded, is untrained or has no such label."""
        scores, windows = [0.0] * len(questions), list[tuple[int, tuple[str, str]]]()
        for i, question in enumerate(questions):
            if question.has_words:
                with self._lock:
                    model = self._model = self._model or _load(self._source, self._cache)
                    windows += [(i, pair) for pair in model.windows(question)]
        windows.sort(key=lambda window: -sum(map(len, window[1])))  # those of a batch need little padding
        for at in range(0, len(windows), _BATCH):  # calls of others get theirs in between
            batch = windows[at : at + _BATCH]
            with self._lock:
                batch_scores = model.scores([pair for _, pair in batch])
            for (i, _), score in zip(batch, batch_scores, strict=True):
                scores[i] = max(scores[i], score)
        return [Verdict(label_of(score, self.threshold), score) for score in scores]


@dataclass(frozen=True)
class _Model:
    """A loaded model, its maximum tokens, and the index of entailment; None: it has one score."""

    encoder: Any
    longest: int
    entailment: int | None

    def windows(self, question: Question) -> Iterator[tuple[str, str]]:
        """Return the claim paired with each part of the passages that fits into a window."""
        tokenizer, claim = self.encoder.tokenizer, encodable(question.claim)

        def count(text: str) -> int:
            return len(tokenizer.encode(text, add_special_tokens=False, verbose=False))

        room = self.longest - tokenizer.num_special_tokens_to_add(pair=True) - count(claim)
        text = encodable("\n".join(question.passages))
        return ((part, claim) for part in token_chunks(text, max(room, self.longest // 4), count))

    def scores(self, pairs: list[tuple[str, str]]) -> list[float]:
        """Return the probability of entailment of each pair, truncated if too long."""
        values = np.asarray(self.encoder.predict(pairs, batch_size=_BATCH, show_progress_bar=False), np.float64)
        if self.entailment is None:
            return list(map(float, 1 / (1 + np.exp(-values))))
        shares = np.exp(values - values.max(axis=1, keepdims=True))
        return list(map(float, shares[:, self.entailment] / shares.sum(axis=1)))


def _load(source: str, cache: Path | None) -> _Model:
    """Load the model of a folder or a hub name; errors as :meth:`CrossEncoderJudge.judge`."""
    from sentence_transformers import CrossEncoder
    from torch.nn import Identity
    from transformers import AutoConfig

    remedy = "give the folder or hub name of a cross-encoder of sentence-transformers, with weights in safetensors"
    with loading(f"the judge {source!r} cannot be loaded as a cross-encoder", remedy):
        options = options_without_code(source, cache)
        config = AutoConfig.from_pretrained(source, **options)
        if not any("SequenceClassification" in name for name in config.architectures or ()):
            raise ValueError(f"{', '.join(config.architectures or ['a model of unknown kind'])} has no trained scores")
        entailment = None if config.num_labels == 1 else _entailment(source, config.id2label)
        longest = min(_LONGEST, getattr(config, "max_position_embeddings", None) or _LONGEST)
        folder = options.pop("cache_dir")
        options |= {"cache_folder": None if options["local_files_only"] else folder}
        options |= {"model_kwargs": {"use_safetensors": True}}
        encoder = CrossEncoder(source, device="cpu", max_length=longest, activation_fn=Identity(), **options)
    return _Model(encoder, longest, entailment)


def _entailment(source: str, labels: Mapping[int, str]) -> int:
    """Return the index of the only label that names entailment; ``not_entailment`` does not count."""
    indices = [int(index) for index, label in labels.items() if label.strip().casefold().startswith("entail")]
    if len(indices) != 1:
        raise SettingsError(
            f"{len(indices)} of the labels of the judge {source!r} name entailment, not one ({list(labels.values())}): "
            "name it in id2label of the model's config.json"
        )
    return indices[0]
