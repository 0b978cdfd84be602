"""CONNER's models by name: those of Table 14, and those that work offline."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path

from storm_bench.conner.causal_model import CausalModel
from storm_bench.conner.evidence_source import LEADS
from storm_bench.conner.pair_models import CosineMatching, CrossEncoder, NliModel, SupportInference
from storm_bench.conner.perspectives import DiscourseModel, Inference, LogProbabilities, Matching
from storm_bench.conner.sentence_order import trained_order
from storm_pipeline import SettingsError
from storm_pipeline.api import EMBEDDED_MODELS, fetch
from storm_pipeline.judges.base import CachingJudge
from storm_pipeline.judges.screen import ScreenJudge
from storm_pipeline.retrieval.embedder import Embedder


@dataclass(frozen=True)
class ModelNames:
    """Which model a perspective is scored with; a model is a folder or a hub name.

    Evidence is found by BM25, and paragraph coherence scored by sentence order.
    """

    inference: str = "screen"  # ``screen`` (stand-in), or ``nli:MODEL`` with three labels
    matching: str = "cosine"  # ``cosine`` (stand-in), or ``ranker:MODEL``
    # of eq. 3 and 5: ``embedded:0.5b`` (stand-in) or ``embedded:1.5b``, a ``.gguf`` file, or a model
    lm: str = "embedded:0.5b"
    downstream: str = "embedded:0.5b"  # of eq. 6, likewise


TABLE_14 = ModelNames(
    inference="nli:FacebookAI/roberta-large-mnli",
    matching="ranker:castorini/monobert-large-msmarco",
    lm="EleutherAI/gpt-neo-2.7B",
    downstream="huggyllama/llama-65b",
)
"""The paper's models, but for ColBERTv2 (evidence) and Coherence-Momentum (paragraphs).

Two stand in other places than Table 14 says: its ``nli-roberta-large`` is published without the classifier that eq. 1
needs, so here is RoBERTa-large with one; its BERT ranker is a TensorFlow checkpoint, here in the form of transformers,
which the paper's released code uses too.
"""


def model_names(given: Mapping[str, str]) -> ModelNames:
    """The offline models, but for those that are given by the names of :class:`ModelNames`.

    Raises SettingsError: there is no such seam.
    """
    known = [field.name for field in fields(ModelNames)]
    if unknown := sorted(given.keys() - set(known)):
        raise SettingsError(f"CONNER has no model {unknown[0]!r}: choose of {', '.join(known)}")
    return ModelNames(**given)


@dataclass(frozen=True)
class Models:
    """The opened models, each loaded when it is first asked."""

    inference: Inference
    matching: Matching
    discourse: DiscourseModel
    lm: LogProbabilities
    downstream: LogProbabilities


def open_models(names: ModelNames, cache: Path, embedder: Embedder) -> Models:
    """Open the models of their names.

    Args:
        names: one a perspective.
        cache: the cache folder; what is fetched or trained goes below it.
        embedder: what the stand-ins rest on; sentence order must have been trained with it.

    Raises:
        SettingsError: there is no such kind of model.
        AssetError: a pinned model is absent and cannot be fetched.
        MetricError: sentence order was trained with another embedder.
    """
    lm = open_lm(names.lm, cache)
    return Models(
        inference=open_inference(names.inference, cache, embedder),
        matching=open_matching(names.matching, cache, embedder),
        discourse=trained_order(cache, embedder, fetch(LEADS, cache)),
        lm=lm,
        downstream=lm if names.downstream == names.lm else open_lm(names.downstream, cache),
    )


def open_inference(name: str, cache: Path, embedder: Embedder) -> Inference:
    """``screen`` or ``nli:MODEL``; errors as :func:`open_models`."""
    if name == "screen":
        return SupportInference(CachingJudge(ScreenJudge(embedder)))
    return NliModel(_model(name, "nli", "screen"), cache=_hub(cache))


def open_matching(name: str, cache: Path, embedder: Embedder) -> Matching:
    """``cosine`` or ``ranker:MODEL``; errors as :func:`open_models`."""
    if name == "cosine":
        return CosineMatching(embedder)
    return CrossEncoder(_model(name, "ranker", "cosine"), cache=_hub(cache))


def open_lm(name: str, cache: Path) -> LogProbabilities:
    """An embedded model, a ``.gguf`` file, a folder or a hub name; errors as :func:`open_models`."""
    model = fetch(EMBEDDED_MODELS[name], cache) if name in EMBEDDED_MODELS else name
    return CausalModel(model, cache=_hub(cache))


def _model(name: str, kind: str, offline: str) -> str:
    given, _, model = name.partition(":")
    if given != kind or not model:
        raise SettingsError(f"there is no model {name!r} here: write {offline}, or {kind}:FOLDER-OR-NAME")
    return model


def _hub(cache: Path) -> Path:
    return cache / "models" / "hub"
