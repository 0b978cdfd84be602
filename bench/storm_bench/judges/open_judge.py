"""Opens judges of support by name."""

from storm_bench.judges.base import ScoringJudge
from storm_bench.judges.model_judge import LanguageModelJudge, open_judge
from storm_bench.judges.pretrained import TrueJudge
from storm_bench.judges.screen import SimilarityJudge
from storm_pipeline import Settings, SettingsError
from storm_pipeline.evidence.judges.capped import JudgingAccount
from storm_pipeline.evidence.judges.cross_encoder import CrossEncoderJudge
from storm_pipeline.evidence.retrieval.embedder import CachingEmbedder, shared_embedder


def open_support_judge(name: str, settings: Settings, account: JudgingAccount | None = None) -> ScoringJudge:
    """Open a support judge by name.

    ``name``: ``screen``; ``nli:`` and the folder or hub name of a cross-encoder, ``true:`` and that of a model such as
    TRUE's (:class:`.pretrained.TrueJudge`); or ``lm:`` and a language model as in the settings, such as
    ``lm:embedded``; ``settings``: embedder, cache, and how to call language models; ``account``: as for
    :func:`storm_bench.judges.model_judge.open_judge`. Raises SettingsError: the name is unknown, or the model cannot be
    opened; MissingExtraError, AssetError, ModelError: its model cannot be opened.
    """
    kind, _, model = name.partition(":")
    hub = settings.cache / "models" / "hub"
    if name == "screen":
        return SimilarityJudge(CachingEmbedder(shared_embedder(settings.embedder, settings.cache)))
    if kind in {"nli", "true"} and model:
        return (CrossEncoderJudge if kind == "nli" else TrueJudge)(model, cache=hub)
    if kind == "lm" and model:
        return LanguageModelJudge(open_judge(model, settings, account))
    raise SettingsError(f"unknown judge {name!r}: use screen, nli:FOLDER-OR-NAME, true:FOLDER-OR-NAME, or lm:MODEL")
