"""The network of :mod:`storm_pipeline.evidence.retrieval.int8_bert`: BERT with int8 dense layers, all else in float32.

Weights are quantised per output row on loading, activations per token at run time. Imports torch: import it late.
"""

import platform
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import gelu, layer_norm, linear, normalize, scaled_dot_product_attention

from storm_pipeline.evidence.retrieval import Vectors
from storm_pipeline.run.concurrency import torch_threads

_Weights = dict[str, Tensor]
_Layered = Callable[[Tensor], Tensor]


def has_exact_int8() -> bool:
    """Return whether int8 multiplication is fast and free of overflow here: x86-64 with VNNI, and oneDNN in torch.

    Without AVX-512 a reference routine multiplies int8, exactly, but twenty times slower than float32.
    """
    onednn: Any = torch.backends.mkldnn
    has_avx512 = torch.backends.cpu.get_cpu_capability().startswith("AVX512")
    is_x86 = platform.machine().lower() in {"x86_64", "amd64"}
    if not (is_x86 and has_avx512 and hasattr(torch, "_int_mm") and onednn.is_available()):
        return False
    # CPUs without VNNI add pairs of products in 16 bits, which overflows at the largest values.
    largest = torch.full((32, 1536), 127, dtype=torch.int8)
    return bool((torch._int_mm(largest, largest.t().contiguous()) == 1536 * 127 * 127).all())


def _int8_dense(weight: Tensor, bias: Tensor) -> _Layered:
    """Make a dense layer in int8: one scale per output row of the weights, one per row of the input."""
    weights, per_row = _quantise(weight)
    transposed, weight_scales = weights.t().contiguous(), per_row.squeeze(1)

    def dense(x: Tensor) -> Tensor:
        values, scales = _quantise(x)
        scaled = torch._int_mm(values, transposed).to(torch.float32).mul_(scales)
        return torch.addcmul(bias, scaled, weight_scales, out=scaled)

    return dense


def _float_dense(weight: Tensor, bias: Tensor) -> _Layered:
    """Make the same layer in float32, for CPUs without exact int8 multiplication."""
    return lambda x: linear(x, weight, bias)


def _quantise(x: Tensor) -> tuple[Tensor, Tensor]:
    """Return ``x`` as int8, and the scale of each row, of shape (n, 1)."""
    largest = torch.maximum(x.amax(-1, keepdim=True), x.amin(-1, keepdim=True).neg_())
    scales = largest.clamp_min_(1e-8).div_(127)
    return torch.mul(x, scales.reciprocal()).round_().to(torch.int8), scales


def _norm(weights: _Weights, prefix: str, epsilon: float) -> _Layered:
    weight, bias = weights[f"{prefix}.weight"], weights[f"{prefix}.bias"]
    return lambda x: layer_norm(x, weight.shape, weight, bias, epsilon)


class _Layer:
    """One transformer block: attention, then the feed-forward layers, each with residual connection and layer norm."""

    def __init__(
        self, weights: _Weights, prefix: str, heads: int, epsilon: float, dense: Callable[[Tensor, Tensor], _Layered]
    ) -> None:
        def parameters(name: str) -> tuple[Tensor, Tensor]:
            return weights[f"{prefix}.{name}.weight"], weights[f"{prefix}.{name}.bias"]

        qkv = [parameters(f"attention.self.{name}") for name in ("query", "key", "value")]
        self._heads = heads
        self._qkv = dense(torch.cat([weight for weight, _ in qkv]), torch.cat([bias for _, bias in qkv]))
        self._attention_output = dense(*parameters("attention.output.dense"))
        self._attention_norm = _norm(weights, f"{prefix}.attention.output.LayerNorm", epsilon)
        self._up, self._down = dense(*parameters("intermediate.dense")), dense(*parameters("output.dense"))
        self._output_norm = _norm(weights, f"{prefix}.output.LayerNorm", epsilon)

    def __call__(self, x: Tensor, mask: Tensor) -> Tensor:
        texts, length = mask.shape[0], mask.shape[-1]
        split = self._qkv(x).view(texts, length, 3, self._heads, -1).permute(2, 0, 3, 1, 4)
        attention = scaled_dot_product_attention(split[0], split[1], split[2], attn_mask=mask)
        x = self._attention_norm(self._attention_output(attention.transpose(1, 2).reshape(x.shape)).add_(x))
        return self._output_norm(self._down(gelu(self._up(x))).add_(x))


class Int8Bert:
    """Embeddings, transformer blocks, mean over the tokens, unit length; float32 where int8 is not exact.

    ``config``: the model's ``config.json``.
    """

    def __init__(self, weights: _Weights, config: dict[str, Any]) -> None:
        epsilon, heads = float(config["layer_norm_eps"]), int(config["num_attention_heads"])
        self._word_embeddings = weights["embeddings.word_embeddings.weight"]
        token_type = weights["embeddings.token_type_embeddings.weight"][0]
        self._position_embeddings = weights["embeddings.position_embeddings.weight"] + token_type
        self._norm = _norm(weights, "embeddings.LayerNorm", epsilon)
        dense = _int8_dense if has_exact_int8() else _float_dense
        count = int(config["num_hidden_layers"])
        self._layers = [_Layer(weights, f"encoder.layer.{i}", heads, epsilon, dense) for i in range(count)]

    def embed(self, ids: Sequence[Sequence[int]], length: int) -> Vectors:
        """Return unit vectors (texts, dimension) of token ids, each text padded to ``length`` tokens."""
        tokens = torch.zeros(len(ids), length, dtype=torch.int64)
        for row, text in zip(tokens, ids, strict=True):
            row[: len(text)] = torch.tensor(text)
        with torch_threads.limited_to(1), torch.inference_mode():
            vectors: Vectors = self._forward(tokens, torch.tensor([len(text) for text in ids])).numpy()
        return vectors

    def _forward(self, tokens: Tensor, lengths: Tensor) -> Tensor:
        """Run a forward pass over padded token ids (texts, length) with true lengths (texts,)."""
        texts, length = tokens.shape
        real = torch.arange(length) < lengths[:, None]
        mask = torch.zeros(texts, 1, 1, length).masked_fill_(~real[:, None, None, :], float("-inf"))
        # Always masked, even without padding: the choice of kernel must not depend on the batch.
        mask = mask.expand(texts, 1, length, length)
        x = self._norm(self._word_embeddings[tokens] + self._position_embeddings[:length]).view(texts * length, -1)
        for layer in self._layers:
            x = layer(x, mask)
        kept = x.view(texts, length, -1) * real[..., None]
        return normalize(kept.sum(1) / lengths[:, None])
