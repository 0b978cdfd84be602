"""A BERT sentence encoder in 8-bit integers: the pinned MiniLM at less than half the cost of float32.

Weights are rounded per output row when they are loaded, activations per token as they pass. A text's vector therefore
depends on that text alone, bit for bit, never on what it shares a batch with; that is why this is not torch's own
dynamic quantisation, which scales by the whole batch, loses more, and is on its way out. Attention, normalisation and
GELU stay in float32.
"""

import json
import platform
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from storm_pipeline.concurrency import parallel_map
from storm_pipeline.errors import SettingsError
from storm_pipeline.references.embedder import Vectors, encodable

if TYPE_CHECKING:
    import torch

_POOLING = {
    "word_embedding_dimension",
    "pooling_mode_mean_tokens",
}
_BUCKET = 8
"""Texts are padded to a multiple of this many tokens, whatever else is in the batch."""


class Int8BertEmbedder:
    """Mean-pooled BERT over int8 matrix products. Weights are loaded when they are first needed.

    Vectors lie within a cosine of about 0.997 of the float32 model's; ``name`` says that they are not the same.

    Args:
        folder: a sentence-transformers folder that :meth:`fits`; the network is never touched.
        threads: batches computed side by side, >= 1, each on one thread. torch is held to one thread an operation,
            a setting that it keeps for the process: threads that wait for each other within every operation
            cost several times as much once something else wants a core.
        batch_tokens: tokens a forward pass, >= 1; about 25 kB of memory each.
    """

    def __init__(self, folder: Path, *, threads: int = 2, batch_tokens: int = 2048) -> None:
        config = _json(folder / "config.json")
        self.name = f"{folder.name}+int8"
        self.dimension = int(config["hidden_size"])
        self._folder = folder
        self._config = config
        self._longest = int(_json(folder / "sentence_bert_config.json")["max_seq_length"])
        self._threads = threads
        self._batch_tokens = batch_tokens
        self._encoder: _Encoder | None = None
        self._tokenizer: Any = None
        self._lock = threading.Lock()

    @staticmethod
    def fits(folder: Path) -> bool:
        """Whether the folder holds what this class computes: BERT with GELU, mean pooling, unit length."""
        try:
            config = _json(folder / "config.json")
            modules = [module["type"].rsplit(".", 1)[-1] for module in _json(folder / "modules.json")]
            pooling = {key for key, value in _json(folder / "1_Pooling" / "config.json").items() if value}
        except (OSError, ValueError):
            return False
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

    def _loaded(self) -> "_Encoder":
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
                self._encoder = _Encoder(weights, self._config)
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


@dataclass(frozen=True)
class _Rows:
    """Rows of 8-bit integers and what each row is to be multiplied by; shapes (n, width) and (n, 1)."""

    values: "torch.Tensor"
    scales: "torch.Tensor"

    @classmethod
    def of(cls, x: "torch.Tensor") -> "_Rows":
        import torch

        scales = x.abs().amax(-1, keepdim=True).clamp_min_(1e-8).div_(127)
        return cls(torch.div(x, scales).round_().to(torch.int8), scales)


class _Linear:
    """A dense layer whose weights are integers with one scale per output."""

    def __init__(self, weight: "torch.Tensor", bias: "torch.Tensor") -> None:
        rows = _Rows.of(weight)
        self._weight = rows.values.t().contiguous()
        self._scales = rows.scales.squeeze(1)
        self._bias = bias

    def __call__(self, rows: _Rows) -> "torch.Tensor":
        import torch

        product = torch._int_mm(rows.values, self._weight)
        return torch.addcmul(self._bias, product.to(torch.float32).mul_(rows.scales), self._scales)


class _Norm:
    """Layer normalisation."""

    def __init__(self, weights: "dict[str, torch.Tensor]", prefix: str, epsilon: float) -> None:
        self._weight, self._bias = weights[f"{prefix}.weight"], weights[f"{prefix}.bias"]
        self._epsilon = epsilon

    def __call__(self, x: "torch.Tensor") -> "torch.Tensor":
        from torch.nn.functional import layer_norm

        return layer_norm(x, self._weight.shape, self._weight, self._bias, self._epsilon)


class _Layer:
    """One transformer block: attention, then the feed-forward pair, each added to its input and normalised."""

    def __init__(self, weights: "dict[str, torch.Tensor]", prefix: str, heads: int, epsilon: float) -> None:
        import torch

        def parameters(name: str) -> "tuple[torch.Tensor, torch.Tensor]":
            return weights[f"{prefix}.{name}.weight"], weights[f"{prefix}.{name}.bias"]

        three = [parameters(f"attention.self.{name}") for name in ("query", "key", "value")]
        self._heads = heads
        self._inward = _Linear(torch.cat([weight for weight, _ in three]), torch.cat([bias for _, bias in three]))
        self._outward = _Linear(*parameters("attention.output.dense"))
        self._attended = _Norm(weights, f"{prefix}.attention.output.LayerNorm", epsilon)
        self._up = _Linear(*parameters("intermediate.dense"))
        self._down = _Linear(*parameters("output.dense"))
        self._done = _Norm(weights, f"{prefix}.output.LayerNorm", epsilon)

    def __call__(self, x: "torch.Tensor", mask: "torch.Tensor") -> "torch.Tensor":
        from torch.nn.functional import gelu, scaled_dot_product_attention

        texts, length = mask.shape[0], mask.shape[-1]
        split = self._inward(_Rows.of(x)).view(texts, length, 3, self._heads, -1).permute(2, 0, 3, 1, 4)
        attention = scaled_dot_product_attention(split[0], split[1], split[2], attn_mask=mask)
        x = self._attended(x + self._outward(_Rows.of(attention.transpose(1, 2).reshape(x.shape))))
        return self._done(x + self._down(_Rows.of(gelu(self._up(_Rows.of(x))))))


class _Encoder:
    """Embeddings, transformer blocks, mean over the tokens, unit length."""

    def __init__(self, weights: "dict[str, torch.Tensor]", config: dict[str, Any]) -> None:
        epsilon, heads = float(config["layer_norm_eps"]), int(config["num_attention_heads"])
        self._words = weights["embeddings.word_embeddings.weight"]
        kind = weights["embeddings.token_type_embeddings.weight"][0]
        self._places = weights["embeddings.position_embeddings.weight"] + kind
        self._norm = _Norm(weights, "embeddings.LayerNorm", epsilon)
        count = int(config["num_hidden_layers"])
        self._layers = [_Layer(weights, f"encoder.layer.{i}", heads, epsilon) for i in range(count)]

    def embed(self, ids: Sequence[Sequence[int]], length: int) -> Vectors:
        """Unit vectors (texts, dimension) of token ids, each text padded to ``length`` tokens."""
        import torch

        torch.set_num_threads(1)
        tokens = torch.zeros(len(ids), length, dtype=torch.int64)
        for row, text in zip(tokens, ids, strict=True):
            row[: len(text)] = torch.tensor(text)
        with torch.inference_mode():
            vectors: Vectors = self._forward(tokens, torch.tensor([len(text) for text in ids])).numpy()
        return vectors

    def _forward(self, tokens: "torch.Tensor", lengths: "torch.Tensor") -> "torch.Tensor":
        """Of padded token ids (texts, length) and the true lengths (texts,)."""
        import torch
        from torch.nn.functional import normalize

        texts, length = tokens.shape
        real = torch.arange(length) < lengths[:, None]
        mask = torch.zeros(texts, 1, 1, length).masked_fill_(~real[:, None, None, :], float("-inf"))
        # Always masked, even where nothing is padded: the kernel may not depend on the neighbours.
        mask = mask.expand(texts, 1, length, length)
        x = self._norm(self._words[tokens] + self._places[:length]).view(texts * length, -1)
        for layer in self._layers:
            x = layer(x, mask)
        kept = x.view(texts, length, -1) * real[..., None]
        return normalize(kept.sum(1) / lengths[:, None])
