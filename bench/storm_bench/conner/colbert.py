"""The evidence retriever of Table 14: ColBERTv2 (Santhanam et al. 2021), late interaction over BERT's token vectors."""

import string
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from storm_bench.conner.evidence_source import EvidenceSource
from storm_bench.errors import MetricError
from storm_bench.judges.pretrained import load_trained
from storm_pipeline.api import LOAD_ERRORS, first_line, options_without_code

NAME = "colbert-ir/colbertv2.0"
_QUERY_TOKENS = 32
_PASSAGE_TOKENS = 180
_QUERY_MARK, _PASSAGE_MARK = "[unused0]", "[unused1]"


class LateInteraction:
    """ColBERTv2's score of a query and a passage: the sum over query tokens of the best match with a passage token.

    The model is loaded when it is first needed.

    Args:
        model: a folder with the checkpoint, which is never looked for on the network, or a name on the model hub.
        cache: where a model from the hub is kept; default: the library's own place.
    """

    def __init__(self, model: str | Path = NAME, *, cache: Path | None = None) -> None:
        self._source = str(model)
        self._cache = cache
        self._loaded: tuple[Any, Any, Any] | None = None

    @property
    def name(self) -> str:
        """Name of the model, or of its folder."""
        return Path(self._source).name if Path(self._source).is_dir() else self._source

    def scores(self, query: str, passages: Sequence[str]) -> list[float]:
        """Scores of a query with each passage, in order; in [-32, 32].

        Raises:
            MetricError: the model cannot be loaded, or lacks weights.
        """
        _, _, tokenizer = self._model()
        asked = self._vectors(_QUERY_MARK, query, _QUERY_TOKENS)
        marks = {tokenizer.convert_tokens_to_ids(mark) for mark in string.punctuation}
        found = []
        for passage in passages:
            vectors = self._vectors(_PASSAGE_MARK, passage, _PASSAGE_TOKENS, skipped=marks)
            found.append(float((asked @ vectors.T).max(dim=1).values.sum()))
        return found

    def _vectors(self, mark: str, text: str, longest: int, skipped: set[int] | None = None) -> Any:
        """Unit vectors of a text's tokens; a query (nothing skipped) is filled up with mask tokens."""
        import torch

        encoder, linear, tokenizer = self._model()
        own = tokenizer.encode(text, add_special_tokens=False, verbose=False)[: longest - 3]
        mark_id = tokenizer.convert_tokens_to_ids(mark)
        tokens = [tokenizer.cls_token_id, mark_id, *own, tokenizer.sep_token_id]
        attended = len(tokens)
        if skipped is None:
            tokens += [tokenizer.mask_token_id] * (longest - len(tokens))
        mask = [int(place < attended) for place in range(len(tokens))]
        with torch.inference_mode():
            states = encoder(input_ids=torch.tensor([tokens]), attention_mask=torch.tensor([mask])).last_hidden_state
            vectors = torch.nn.functional.normalize(states[0] @ linear.T, dim=-1)
        kept = [place for place, token in enumerate(tokens) if token not in (skipped or set())]
        return vectors[kept]

    def _model(self) -> tuple[Any, Any, Any]:
        if self._loaded is None:
            try:
                self._loaded = self._opened()
            except LOAD_ERRORS as error:
                raise MetricError(
                    f"the retriever {self._source!r} cannot be loaded ({first_line(error)}): give a folder "
                    f"with the files of {NAME}, or its name on the hub"
                ) from error
        return self._loaded

    def _opened(self) -> tuple[Any, Any, Any]:
        from safetensors.torch import load_file
        from transformers import AutoTokenizer, BertModel
        from transformers.utils import cached_file

        options = options_without_code(self._source, self._cache)
        encoder = load_trained(
            BertModel, self._source, "retriever", "for late interaction", add_pooling_layer=False, **options
        )
        weights = load_file(cached_file(self._source, "model.safetensors", **options))
        return encoder, weights["linear.weight"], AutoTokenizer.from_pretrained(self._source, **options)


class ColbertEvidence:
    """Reorders the best passages of a first search by late interaction.

    Departure: ColBERTv2 searches its own compressed index; here it scores exactly the passages that ``first`` proposes.

    Args:
        first: proposes candidates, such as BM25.
        model: scores them; several collections may share it.
        candidates: how many passages are scored, >= 1.
    """

    def __init__(self, first: EvidenceSource, model: LateInteraction, *, candidates: int = 50) -> None:
        self._first = first
        self._model = model
        self._candidates = candidates

    @property
    def name(self) -> str:
        """Names of the model and of the first search."""
        return f"colbert:{self._model.name} over {self._first.name}"

    def find(self, query: str, k: int) -> list[str]:
        """See :class:`~storm_bench.conner.evidence_source.EvidenceSource`.

        Raises:
            MetricError: the model cannot be loaded, or lacks weights.
        """
        some = self._first.find(query, max(k, self._candidates)) if k > 0 else []
        scores = dict(zip(range(len(some)), self._model.scores(query, some), strict=True)) if some else {}
        return [some[place] for place in sorted(scores, key=lambda place: -scores[place])[:k]]
