"""Log-probabilities by any causal language model that transformers loads, GGUF files included."""

import inspect
import shutil
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from storm_bench.errors import MetricError
from storm_bench.judges.pretrained import load_trained
from storm_bench.metrics.optional_imports import import_optional
from storm_pipeline.api import cannot_write, loading, local_folder, options_without_code, torch_threads


class CausalModel:
    """A causal language model in float32 on the CPU; one text a pass, so that its values depend on it alone.

    Context and text become tokens apart, and every token of the text counts. Without a context the text follows the
    model's start token (its end token where it has no other, as GPT-2 was trained); without either, the first token
    is not scored. A context that does not fit the model's window loses its beginning, a text its end.

    A GGUF file is unpacked once, to a folder beside it (about two minutes and 4 bytes a weight), and needs the
    package ``gguf``. The model is loaded when it is first needed.

    Args:
        model: a folder, which is never looked for on the network, a ``.gguf`` file, or a name on the model hub.
        threads: processor threads, >= 1. torch is held to so many.
        cache: where a model from the hub is kept; default: the library's own place.
    """

    def __init__(self, model: str | Path, *, threads: int = 2, cache: Path | None = None) -> None:
        self._source = str(model if str(model).endswith(".gguf") else local_folder(model) or model)
        self._threads = threads
        self._cache = cache
        self._loaded: tuple[Any, Any] | None = None

    @property
    def name(self) -> str:
        """Name of the model, or of its file or folder."""
        own = Path(self._source)
        return own.stem if own.suffix == ".gguf" else own.name if own.is_absolute() else self._source

    def log_probabilities(self, context: str, text: str) -> list[float]:
        """As :class:`~storm_bench.conner.perspectives.LogProbabilities`.

        Raises:
            MetricError: the model cannot be loaded, or lacks weights.
            MissingExtraError: it is a GGUF file, and the package ``gguf`` is not installed.
        """
        import torch

        model, tokenizer = self._model()
        before, scored = self._tokens(model, tokenizer, context, text)
        if not scored:
            return []
        keeps = "logits_to_keep" in inspect.signature(model.forward).parameters  # saves most of the output layer
        options = {"logits_to_keep": len(scored) + 1} if keeps else {}
        with torch_threads.limited_to(self._threads), torch.inference_mode():
            logits = model(input_ids=torch.tensor([[*before, *scored]]), use_cache=False, **options).logits[0]
            shares = logits[-len(scored) - 1 : -1].double().log_softmax(dim=-1)
            found = shares.gather(1, torch.tensor(scored)[:, None])[:, 0]
        return [min(0.0, float(value)) for value in found]

    def _tokens(self, model: Any, tokenizer: Any, context: str, text: str) -> tuple[list[int], list[int]]:
        """What stands before the scored tokens, one token or more, and the scored tokens."""
        scored = tokenizer.encode(text, add_special_tokens=False, verbose=False)
        before = tokenizer.encode(context, add_special_tokens=False, verbose=False)
        start = tokenizer.bos_token_id if tokenizer.bos_token_id is not None else tokenizer.eos_token_id
        if start is not None:
            before = [start, *before] if tokenizer.bos_token_id is not None or not before else before
        elif not before:
            before, scored = scored[:1], scored[1:]
        window = getattr(model.config, "max_position_embeddings", None) or len(before) + len(scored)
        scored = scored[: window - 1]
        return before[-(window - len(scored)) :], scored

    def _model(self) -> tuple[Any, Any]:
        if self._loaded is None:
            source = unpacked(Path(self._source)) if self._source.endswith(".gguf") else self._source
            self._loaded = _opened(source, self._cache)
        return self._loaded


def unpacked(gguf: Path) -> Path:
    """The folder with a GGUF model in the form of transformers, made when it is absent: ``NAME.transformers``.

    Raises:
        MetricError: the file cannot be read as a model, or lacks weights.
        MissingExtraError: the package ``gguf`` is not installed.
    """
    folder = gguf.with_suffix(".transformers")
    if not folder.is_dir():
        import_optional("gguf")
        model, tokenizer = _opened(gguf.parent, gguf_file=gguf.name)
        unfinished = Path(mkdtemp(prefix=f".{folder.name}-", dir=gguf.parent))
        try:
            model.save_pretrained(unfinished)
            tokenizer.save_pretrained(unfinished)
            unfinished.rename(folder)
        except OSError as error:
            shutil.rmtree(unfinished, ignore_errors=True)
            raise MetricError(f"{gguf} cannot be unpacked: {cannot_write(folder, error)}") from error
    return folder


def _opened(source: Path | str, cache: Path | None = None, **gguf: str) -> tuple[Any, Any]:
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    remedy = "give a folder with a causal model and its tokenizer, a .gguf file, or the name of one on the hub"
    with loading(f"the language model {str(source)!r} cannot be loaded", remedy, MetricError):
        options = options_without_code(source, cache) | gguf
        tokenizer = AutoTokenizer.from_pretrained(source, **options)
        model = load_trained(
            AutoModelForCausalLM,
            str(source),
            "language model",
            "to predict the next token",
            dtype=torch.float32,
            **options,
        )
        return model, tokenizer
