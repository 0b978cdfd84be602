"""Log-probabilities by any causal language model that transformers loads, GGUF files included."""

import inspect
from functools import cached_property
from pathlib import Path
from typing import Any

from storm_bench.errors import MetricError
from storm_bench.judges.pretrained import load_trained, model_name
from storm_pipeline.api import loading, options_without_code, torch_threads

_THREADS = 2


class CausalModel:
    """A causal language model in float32 on the CPU, loaded on first use; one text a pass.

    Context and text become tokens apart, and every token of the text counts. Without a context the text follows the
    model's start token (its end token where it has no other, as GPT-2 was trained); without either, the first token
    is not scored. A context that does not fit the model's window loses its beginning, a text its end.

    Args:
        model: a folder, which is never looked for on the network, a ``.gguf`` file (unpacked at each loading, which
            takes minutes, by the package ``gguf``), or a name on the model hub.
        cache: where a model from the hub is kept; default: the library's own place.
    """

    def __init__(self, model: str | Path, *, cache: Path | None = None) -> None:
        self._source = str(model)
        self._cache = cache

    @property
    def name(self) -> str:
        """Name of the model, or of its file or folder."""
        return Path(self._source).stem if Path(self._source).is_file() else model_name(self._source)

    def log_probabilities(self, context: str, text: str) -> list[float]:
        """The natural logarithm of P(token | context, tokens before) for each token of the text, each <= 0.

        Raises MetricError: the model cannot be loaded, or lacks weights.
        """
        import torch

        model, _ = self._loaded
        before, scored = self._tokens(context, text)
        if not scored:
            return []
        keeps = "logits_to_keep" in inspect.signature(model.forward).parameters  # saves most of the output layer
        options = {"logits_to_keep": len(scored) + 1} if keeps else {}
        with torch_threads.limited_to(_THREADS), torch.inference_mode():
            logits = model(input_ids=torch.tensor([[*before, *scored]]), use_cache=False, **options).logits[0]
            shares = logits[-len(scored) - 1 : -1].double().log_softmax(dim=-1)
            found = shares.gather(1, torch.tensor(scored)[:, None])[:, 0]
        return [min(0.0, float(value)) for value in found]

    def _tokens(self, context: str, text: str) -> tuple[list[int], list[int]]:
        """Return what stands before the scored tokens, one token or more, and the scored tokens."""
        model, tokenizer = self._loaded
        before, scored = (tokenizer.encode(own, add_special_tokens=False, verbose=False) for own in (context, text))
        if tokenizer.bos_token_id is not None:
            before = [tokenizer.bos_token_id, *before]
        elif not before and tokenizer.eos_token_id is not None:
            before = [tokenizer.eos_token_id]
        elif not before:
            before, scored = scored[:1], scored[1:]
        window = getattr(model.config, "max_position_embeddings", None) or len(before) + len(scored)
        scored = scored[: window - 1]
        return before[-(window - len(scored)) :], scored

    @cached_property
    def _loaded(self) -> tuple[Any, Any]:
        import torch
        from transformers import AutoModelForCausalLM, AutoTokenizer

        file = Path(self._source) if self._source.endswith(".gguf") else None
        source = str(file.parent) if file else self._source
        remedy = "give a folder with a causal model and its tokenizer, a .gguf file, or the name of one on the hub"
        with loading(f"the language model {self._source!r} cannot be loaded", remedy, MetricError):
            options = options_without_code(source, self._cache) | ({"gguf_file": file.name} if file else {})
            tokenizer = AutoTokenizer.from_pretrained(source, **options)
            called = "language model", "to predict the next token"
            model = load_trained(AutoModelForCausalLM, source, *called, dtype=torch.float32, **options)
            return model, tokenizer
