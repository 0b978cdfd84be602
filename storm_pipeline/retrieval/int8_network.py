"""The network of :mod:`storm_pipeline.retrieval.int8_bert`: BERT with int8 dense layers.

Weights are quantised per output row on loading, activations per token at run time. Attention, normalisation and GELU
stay in float32.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from storm_pipeline.concurrency import torch_threads
from storm_pipeline.retrieval.embedder import Vectors

if TYPE_CHECKING:
    import torch

    _Layered = Callable[[torch.Tensor], torch.Tensor]
    _Dense = Callable[[torch.Tensor, torch.Tensor], _Layered]


def _int8_dense(weight: "torch.Tensor", bias: "torch.Tensor") -> "_Layered":
    """A dense layer in int8: one scale per output row of the weights, one per row of the input."""
    import torch

    weights, per_row = _quantised(weight)
    transposed, weight_scales = weights.t().contiguous(), per_row.squeeze(1)

    def dense(x: "torch.Tensor") -> "torch.Tensor":
        values, scales = _quantised(x)
        scaled = torch._int_mm(values, transposed).to(torch.float32).mul_(scales)
        return torch.addcmul(bias, scaled, weight_scales, out=scaled)

    return dense


def _float_dense(weight: "torch.Tensor", bias: "torch.Tensor") -> "_Layered":
    """The same layer in float32, for CPUs without exact int8 multiplication."""
    from torch.nn.functional import linear

    return lambda x: linear(x, weight, bias)


def _quantised(x: "torch.Tensor") -> "tuple[torch.Tensor, torch.Tensor]":
    """``x`` as int8, and the scale of each row, of shape (n, 1)."""
    import torch

    largest = torch.maximum(x.amax(-1, keepdim=True), x.amin(-1, keepdim=True).neg_())
    scales = largest.clamp_min_(1e-8).div_(127)
    return torch.mul(x, scales.reciprocal()).round_().to(torch.int8), scales


def _norm(weights: "dict[str, torch.Tensor]", prefix: str, epsilon: float) -> "_Layered":
    from torch.nn.functional import layer_norm

    weight, bias = weights[f"{prefix}.weight"], weights[f"{prefix}.bias"]
    return lambda x: layer_norm(x, weight.shape, weight, bias, epsilon)


class _Layer:
    """One transformer block: attention, then the feed-forward layers, each with residual connection and layer norm."""

    def __init__(
        self, weights: "dict[str, torch.Tensor]", prefix: str, heads: int, epsilon: float, dense: "_Dense"
    ) -> None:
        import torch

        def parameters(name: str) -> "tuple[torch.Tensor, torch.Tensor]":
            return weights[f"{prefix}.{name}.weight"], weights[f"{prefix}.{name}.bias"]

        qkv = [parameters(f"attention.self.{name}") for name in ("query", "key", "value")]
        self._heads = heads
        self._qkv = dense(torch.cat([weight for weight, _ in qkv]), torch.cat([bias for _, bias in qkv]))
        self._attention_output = dense(*parameters("attention.output.dense"))
        self._attention_norm = _norm(weights, f"{prefix}.attention.output.LayerNorm", epsilon)
        self._up = dense(*parameters("intermediate.dense"))
        self._down = dense(*parameters("output.dense"))
        self._output_norm = _norm(weights, f"{prefix}.output.LayerNorm", epsilon)

    def __call__(self, x: "torch.Tensor", mask: "torch.Tensor") -> "torch.Tensor":
        from torch.nn.functional import gelu, scaled_dot_product_attention

        texts, length = mask.shape[0], mask.shape[-1]
        split = self._qkv(x).view(texts, length, 3, self._heads, -1).permute(2, 0, 3, 1, 4)
        attention = scaled_dot_product_attention(split[0], split[1], split[2], attn_mask=mask)
        x = self._attention_norm(self._attention_output(attention.transpose(1, 2).reshape(x.shape)).add_(x))
        return self._output_norm(self._down(gelu(self._up(x))).add_(x))


class Int8Bert:
    """Embeddings, transformer blocks, mean over the tokens, unit length.

    Args:
        config: the model's ``config.json``.
        int8: whether to quantise; else this is the float32 model.
    """

    def __init__(self, weights: "dict[str, torch.Tensor]", config: dict[str, Any], *, int8: bool) -> None:
        epsilon, heads = float(config["layer_norm_eps"]), int(config["num_attention_heads"])
        self._word_embeddings = weights["embeddings.word_embeddings.weight"]
        token_type = weights["embeddings.token_type_embeddings.weight"][0]
        self._position_embeddings = weights["embeddings.position_embeddings.weight"] + token_type
        self._norm = _norm(weights, "embeddings.LayerNorm", epsilon)
        dense = _int8_dense if int8 else _float_dense
        count = int(config["num_hidden_layers"])
        self._layers = [_Layer(weights, f"encoder.layer.{i}", heads, epsilon, dense) for i in range(count)]

    def embed(self, ids: Sequence[Sequence[int]], length: int) -> Vectors:
        """Unit vectors (texts, dimension) of token ids, each text padded to ``length`` tokens."""
        import torch

        tokens = torch.zeros(len(ids), length, dtype=torch.int64)
        for row, text in zip(tokens, ids, strict=True):
            row[: len(text)] = torch.tensor(text)
        with torch_threads.limited_to(1), torch.inference_mode():
            vectors: Vectors = self._forward(tokens, torch.tensor([len(text) for text in ids])).numpy()
        return vectors

    def _forward(self, tokens: "torch.Tensor", lengths: "torch.Tensor") -> "torch.Tensor":
        """Forward pass over padded token ids (texts, length) with true lengths (texts,)."""
        import torch
        from torch.nn.functional import normalize

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
