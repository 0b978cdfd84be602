"""A BERT sentence encoder in 8-bit integers: the pinned MiniLM at less than half the cost of float32.

Activations are rounded token by token, and texts are padded to a length of their own. A text's vector therefore depends
on that text alone, bit for bit, never on what it shares a batch with; that is why this is not torch's own dynamic
quantisation, which scales by the whole batch, loses more, and is on its way out.
"""

import json
import platform
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from storm_pipeline.concurrency import parallel_map
from storm_pipeline.errors import SettingsError
from storm_pipeline.retrieval.embedder import Vectors, encodable
from storm_pipeline.retrieval.int8_network import Int8Bert

_POOLING = {"word_embedding_dimension", "pooling_mode_mean_tokens"}
_BUCKET = 8
"""Texts are padded to a multiple of this many tokens, whatever else is in the batch."""


class Int8BertEmbedder:
    """Mean-pooled BERT over int8 matrix products. Weights are loaded when they are first needed.

    Vectors lie within a cosine of about 0.997 of the float32 model's; ``name`` says that they are not the same. On a
    processor that cannot multiply 8-bit integers exactly the network stays float32 under the same name, because
    retrieval from a store of either kind is as good.

    Args:
        folder: a sentence-transformers folder that :meth:`fits`; the network is never touched.
        threads: batches computed side by side, >= 1, each on one thread. torch is held to one thread an operation
            meanwhile: threads that wait for each other within every operation cost several times as much once
            something else wants a core.
        batch_tokens: tokens a forward pass, >= 1; about 25 kB of memory each.
    """

    def __init__(self, folder: Path, *, threads: int = 2, batch_tokens: int = 1024) -> None:
        config = _json(folder / "config.json")
        self.name = f"{folder.name}+int8"
        self.dimension = int(config["hidden_size"])
        self._folder = folder
        self._config = config
        self._longest = int(_json(folder / "sentence_bert_config.json")["max_seq_length"])
        self._threads = threads
        self._batch_tokens = batch_tokens
        self._encoder: Int8Bert | None = None
        self._tokenizer: Any = None
        self._lock = threading.Lock()

    @staticmethod
    def fits(folder: Path) -> bool:
        """Whether the folder holds what this class computes: BERT with GELU, mean pooling, unit length."""
        try:
            config = _json(folder / "config.json")
            modules = [module["type"].rsplit(".", 1)[-1] for module in _json(folder / "modules.json")]
            pooling = {key for key, value in _json(folder / "1_Pooling" / "config.json").items() if value}
        except (OSError, ValueError, LookupError, TypeError, AttributeError):
            return False  # not there, or of another form
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
        """Vectors of shape (texts, dimension); of a long text the first tokens count, 256 for the pinned model."""
        encoder = self._loaded()
        ids = [encoding.ids for encoding in self._tokenizer.encode_batch([encodable(text) for text in texts])]
        vectors = np.empty((len(texts), self.dimension), dtype=np.float32)

        def fill(batch: _Batch) -> None:
            vectors[batch.members] = encoder.embed([ids[i] for i in batch.members], batch.length)

        batches = _batches([len(row) for row in ids], self._batch_tokens)
        parallel_map(fill, batches, workers=self._threads)
        return vectors

    @property
    def longest(self) -> int:
        """Tokens of a text that count, those that mark its ends included."""
        return self._longest

    def count_tokens(self, text: str) -> int:
        """Tokens of a text, without those that mark its ends; at most :attr:`longest`."""
        self._loaded()
        return len(self._tokenizer.encode(encodable(text), add_special_tokens=False).ids)

    def _loaded(self) -> Int8Bert:
        with self._lock:
            if self._encoder is None:
                from safetensors import SafetensorError
                from safetensors.torch import load_file
                from tokenizers import Tokenizer

                try:
                    weights = load_file(self._folder / "model.safetensors")
                except (OSError, SafetensorError) as error:
                    raise SettingsError(
                        f"the embedder in {self._folder} cannot be read ({error}): delete the folder and start again"
                    ) from error
                self._tokenizer = Tokenizer.from_file(str(self._folder / "tokenizer.json"))
                self._tokenizer.enable_truncation(self._longest)
                self._tokenizer.no_padding()
                self._encoder = Int8Bert(weights, self._config, int8=has_exact_int8())
            return self._encoder


def has_exact_int8() -> bool:
    """Whether this machine multiplies 8-bit integers fast and without overflow: x86-64 with VNNI, oneDNN in torch."""
    if platform.machine().lower() not in {"x86_64", "amd64"}:
        return False
    import torch

    onednn: Any = torch.backends.mkldnn
    if not hasattr(torch, "_int_mm") or not onednn.is_available():
        return False
    # Processors without VNNI add pairs of products in 16 bits, which the largest values overflow.
    largest = torch.full((32, 1536), 127, dtype=torch.int8)
    return bool((torch._int_mm(largest, largest.t().contiguous()) == 1536 * 127 * 127).all())


def _json(path: Path) -> Any:
    return json.loads(path.read_text("utf-8"))


@dataclass(frozen=True)
class _Batch:
    """Positions of texts that are padded to one length."""

    members: list[int]
    length: int


def _batches(lengths: Sequence[int], budget: int) -> list[_Batch]:
    """Texts of one padded length, together at most ``budget`` tokens; long ones first."""
    buckets: dict[int, list[int]] = {}
    for i, length in enumerate(lengths):
        buckets.setdefault(-(-length // _BUCKET) * _BUCKET, []).append(i)
    batches = []
    for padded, members in sorted(buckets.items(), reverse=True):
        size = max(1, budget // padded)
        batches += [_Batch(members[i : i + size], padded) for i in range(0, len(members), size)]
    return batches
