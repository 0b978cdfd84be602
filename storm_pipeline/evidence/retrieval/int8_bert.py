"""A BERT sentence encoder quantised to int8: the pinned MiniLM at less than half the cost of float32.

A vector depends on its text alone, bit for bit; torch's own quantisation scales by the whole batch.
"""

import json
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from storm_pipeline.evidence.retrieval import Vectors
from storm_pipeline.evidence.retrieval.model_files import loading
from storm_pipeline.run.concurrency import parallel_map
from storm_pipeline.text.words import encodable

if TYPE_CHECKING:
    from storm_pipeline.evidence.retrieval.int8_network import Int8Bert

_POOLING = {"word_embedding_dimension", "pooling_mode_mean_tokens"}
_BUCKET = 8  # texts are padded to a multiple of this many tokens, independently of the batch


class Int8BertEmbedder:
    """Mean-pooled BERT with int8 matrix products. Weights are loaded lazily.

    Cosine similarity to the float32 model's vectors is about 0.997; ``name`` differs from that model's. On CPUs without
    exact int8 multiplication the network stays float32 under the same name: retrieval is as good.

    Args:
        folder: a sentence-transformers folder that :meth:`fits`; no network access.
        batch_tokens: tokens per forward pass, >= 1, about 25 kB of memory each; twice as many are slower, since the
            C library returns such large arrays to the system after every operation.
    """

    def __init__(self, folder: Path, *, batch_tokens: int = 512) -> None:
        self._folder, self._config = folder, _json(folder / "config.json")
        self.name, self.dimension = f"{folder.name}+int8", int(self._config["hidden_size"])
        self.longest = int(_json(folder / "sentence_bert_config.json")["max_seq_length"])
        """Maximum input length in tokens, special tokens included."""
        self._batch_tokens = batch_tokens
        self._encoder: Int8Bert | None = None
        self._tokenizer: Any = None
        self._lock = threading.Lock()

    @staticmethod
    def fits(folder: Path) -> bool:
        """Return whether the folder holds a supported model: BERT with GELU, mean pooling, normalised output."""
        try:
            config = _json(folder / "config.json")
            modules = [module["type"].rsplit(".", 1)[-1] for module in _json(folder / "modules.json")]
            pooling = {key for key, value in _json(folder / "1_Pooling" / "config.json").items() if value}
        except (OSError, ValueError, LookupError, TypeError, AttributeError):
            return False  # missing or malformed
        return (
            config.get("architectures") == ["BertModel"]
            and config.get("hidden_act") == "gelu"
            and config.get("position_embedding_type", "absolute") == "absolute"
            and modules == ["Transformer", "Pooling", "Normalize"]
            and pooling - {"include_prompt"} == _POOLING
            and (folder / "model.safetensors").is_file()
            and (folder / "tokenizer.json").is_file()
        )

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return vectors of shape (texts, dimension); long texts are truncated, to 256 tokens for the pinned model."""
        encoder = self._load()
        ids = [encoding.ids for encoding in self._tokenizer.encode_batch([encodable(text) for text in texts])]
        vectors = np.empty((len(texts), self.dimension), dtype=np.float32)

        def fill(batch: tuple[list[int], int]) -> None:
            indices, length = batch
            vectors[indices] = encoder.embed([ids[i] for i in indices], length)

        batches = _batches([len(row) for row in ids], self._batch_tokens)
        if len(batches) == 1:
            fill(batches[0])
        else:
            parallel_map(fill, batches, workers=2)  # on one thread each: threads within an operation are slower
        return vectors

    def count_tokens(self, text: str) -> int:
        """Count the tokens of a text, without special tokens; at most ``longest``."""
        self._load()
        return len(self._tokenizer.encode(encodable(text), add_special_tokens=False).ids)

    def _load(self) -> "Int8Bert":
        with self._lock:
            if self._encoder is None:
                from safetensors.torch import load_file
                from tokenizers import Tokenizer

                from storm_pipeline.evidence.retrieval.int8_network import Int8Bert

                with loading(f"the embedder in {self._folder} cannot be read", "delete the folder and start again"):
                    weights = load_file(self._folder / "model.safetensors")
                self._tokenizer = Tokenizer.from_file(str(self._folder / "tokenizer.json"))
                self._tokenizer.enable_truncation(self.longest)
                self._tokenizer.no_padding()
                self._encoder = Int8Bert(weights, self._config)
            return self._encoder


def _json(path: Path) -> Any:
    return json.loads(path.read_text("utf-8"))


def _batches(lengths: Sequence[int], budget: int) -> list[tuple[list[int], int]]:
    """Return indices of texts of equal padded length and that length, up to ``budget`` tokens each, longest first."""
    buckets: dict[int, list[int]] = {}
    for i, length in enumerate(lengths):
        buckets.setdefault(-(-length // _BUCKET) * _BUCKET, []).append(i)
    batches = []
    for padded, indices in sorted(buckets.items(), reverse=True):
        size = max(1, budget // padded)
        batches += [(indices[i : i + size], padded) for i in range(0, len(indices), size)]
    return batches
