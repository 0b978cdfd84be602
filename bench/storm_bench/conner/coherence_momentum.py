"""The discourse model of Table 14: Coherence-Momentum (Jwalapuram et al. 2021), an XLNet with a linear head."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from storm_bench.errors import MetricError
from storm_pipeline.api import LOAD_ERRORS, first_line, options_without_code

NAME = "aisingapore/coherence-momentum"
_ENCODER = "main_encoder."
_HEAD = "conlinear."
_WEIGHTS = ("model.safetensors", "pytorch_model.bin")


class CoherenceMomentum:
    """Scores a paragraph by the logistic function of the model's score, in [0, 1].

    The checkpoint holds two encoders and a head; the main encoder and the head make the score. As the model was
    trained, a text is padded to ``max_len`` tokens without a mask, and the last position's state is read.

    Departure: the paper normalises the score without saying how, and its released scores range from -26 to 20.

    Args:
        model: a folder with the checkpoint, or its name on the model hub.
        encoder: folder or hub name with the XLNet's configuration and tokenizer; default: ``xlnet-base-cased`` or
            ``xlnet-large-cased``, as the checkpoint's configuration says.
        cache: where models from the hub are kept; default: the library's own place.
    """

    def __init__(self, model: str | Path = NAME, *, encoder: str | Path = "", cache: Path | None = None) -> None:
        self._source = str(model)
        self._encoder = str(encoder)
        self._cache = cache
        self._loaded: tuple[Any, Any, Any, int] | None = None

    @property
    def name(self) -> str:
        """Name of the model, or of its folder."""
        return f"momentum:{Path(self._source).name if Path(self._source).is_dir() else self._source}"

    def coherences(self, paragraphs: Sequence[Sequence[str]]) -> list[float]:
        """As :class:`~storm_bench.conner.paragraph_coherence.DiscourseModel`.

        Raises:
            MetricError: the model cannot be loaded.
        """
        import torch

        return [float(torch.tensor(score, dtype=torch.double).sigmoid()) for score in self.raw_scores(paragraphs)]

    def raw_scores(self, paragraphs: Sequence[Sequence[str]]) -> list[float]:
        """The model's own scores, unbounded; errors as :meth:`coherences`."""
        import torch

        encoder, head, tokenizer, longest = self._model()
        found = []
        for sentences in paragraphs:
            own = tokenizer.encode(" ".join(sentences), add_special_tokens=False, verbose=False)[:longest]
            padded = [*own, *[tokenizer.pad_token_id] * (longest - len(own))]
            before, after = _special_tokens(tokenizer)
            tokens = torch.tensor([[*before, *padded, *after]])
            with torch.inference_mode():
                found.append(float(head(encoder(input_ids=tokens).last_hidden_state[:, -1, :])))
        return found

    def _model(self) -> tuple[Any, Any, Any, int]:
        if self._loaded is None:
            try:
                self._loaded = self._opened()
            except LOAD_ERRORS as error:
                raise MetricError(
                    f"the discourse model {self._source!r} cannot be loaded ({first_line(error)}): give a "
                    f"folder with the files of {NAME}, and beside it --encoder with an XLNet, or their hub names"
                ) from error
        return self._loaded

    def _opened(self) -> tuple[Any, Any, Any, int]:
        import torch
        from transformers import AutoTokenizer, XLNetConfig, XLNetModel

        config = json.loads(Path(self._file("config.json")).read_text(encoding="utf-8"))
        source = self._encoder or f"xlnet-{config.get('model_size', 'base')}-cased"
        options = options_without_code(source, self._cache)
        shape = XLNetConfig.from_pretrained(source, **options)
        encoder, head = XLNetModel(shape), torch.nn.Linear(shape.d_model, 1)
        weights = self._weights()
        encoder.load_state_dict(_below(weights, _ENCODER))
        head.load_state_dict(_below(weights, _HEAD))
        tokenizer = AutoTokenizer.from_pretrained(source, **options)
        return encoder.eval(), head.eval(), tokenizer, int(config.get("max_len", 600))

    def _weights(self) -> dict[str, Any]:
        """All tensors of the checkpoint, in whichever of the two forms it has."""
        import torch
        from safetensors.torch import load_file

        path = next((found for name in _WEIGHTS if (found := self._file(name, required=False))), None)
        if path is None:
            raise OSError(f"it has none of {' and '.join(_WEIGHTS)}")
        if path.endswith(".safetensors"):
            return dict(load_file(path))
        return dict(torch.load(path, map_location="cpu", weights_only=True))

    def _file(self, name: str, *, required: bool = True) -> str:
        from transformers.utils import cached_file

        found = cached_file(
            self._source,
            name,
            cache_dir=self._cache,
            local_files_only=Path(self._source).is_dir(),
            _raise_exceptions_for_missing_entries=required,
        )
        return str(found or "")


def _special_tokens(tokenizer: Any) -> tuple[list[int], list[int]]:
    """What a tokenizer of any version of transformers puts before and after a text."""
    bare = tokenizer.encode("a", add_special_tokens=False)
    whole = tokenizer.encode("a")
    start = next(i for i in range(len(whole)) if whole[i : i + len(bare)] == bare)
    return whole[:start], whole[start + len(bare) :]


def _below(weights: dict[str, Any], prefix: str) -> dict[str, Any]:
    return {name.removeprefix(prefix): value for name, value in weights.items() if name.startswith(prefix)}
