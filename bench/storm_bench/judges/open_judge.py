"""Opens judges of support by name."""

from collections.abc import Callable
from functools import partial

from storm_bench.judges.model_judge import open_judge
from storm_pipeline import Settings, SettingsError
from storm_pipeline.judges.base import Judge
from storm_pipeline.judges.entailment import EntailmentJudge
from storm_pipeline.judges.probability import ProbabilityJudge
from storm_pipeline.judges.screen import ScreenJudge
from storm_pipeline.judges.small import SmallJudge
from storm_pipeline.retrieval.embedder import CachingEmbedder, shared_embedder


def open_support_judge(
    name: str, settings: Settings, *, threshold: float | None = None, probabilities: bool = False
) -> Judge:
    """Open a support judge by name.

    Args:
        name: ``screen``; ``small``; ``nli:`` and the folder or hub name of an entailment model; or ``lm:`` and a
            language model as in the settings, such as ``lm:embedded``.
        settings: embedder, cache, and how to call language models.
        threshold: minimum score of a supported claim; None: the judge's default.
        probabilities: score by the token probabilities of a language model.

    Raises:
        SettingsError: the name is unknown, or the model cannot be opened.
        MissingExtraError, AssetError, ModelError: its model cannot be opened.
    """
    kind, _, model = name.partition(":")
    open_: Callable[..., Judge]
    if name == "screen":
        open_ = partial(ScreenJudge, CachingEmbedder(shared_embedder(settings.embedder, settings.cache)))
    elif name == "small":
        open_ = SmallJudge
    elif kind == "nli" and model:
        open_ = partial(EntailmentJudge, model, cache=settings.cache / "models" / "hub")
    elif kind == "lm" and model:
        open_ = partial(ProbabilityJudge, open_judge(model, settings, probabilities=probabilities))
    else:
        raise SettingsError(f"unknown judge {name!r}: use screen, small, nli:FOLDER-OR-NAME, or lm:MODEL")
    return open_() if threshold is None else open_(threshold=threshold)
