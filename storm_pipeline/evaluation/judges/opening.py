"""Judges by name, and what an evaluation offers to the metrics that need them."""

from collections.abc import Callable
from functools import partial
from typing import Protocol

from storm_pipeline.errors import SettingsError
from storm_pipeline.evaluation.judges.base import SupportJudge
from storm_pipeline.evaluation.judges.entailment import EntailmentJudge
from storm_pipeline.evaluation.judges.grading import GradingJudge
from storm_pipeline.evaluation.judges.language_model import LanguageModelJudge
from storm_pipeline.evaluation.judges.model import JudgeModel, open_judge
from storm_pipeline.evaluation.judges.screen import ScreenJudge
from storm_pipeline.retrieval.embedder import CachingEmbedder, open_embedder
from storm_pipeline.settings import Settings


class Judging(Protocol):
    """The judges of an evaluation, opened when the first metric needs them.

    ``support_judge`` says what citations support, ``judge_model`` answers the questions of single metrics, and
    ``grader`` gives grades by rubrics.
    """

    @property
    def support_judge(self) -> SupportJudge: ...  # noqa: D102

    @property
    def judge_model(self) -> JudgeModel: ...  # noqa: D102

    @property
    def grader(self) -> GradingJudge: ...  # noqa: D102


def open_support_judge(
    name: str, settings: Settings, *, threshold: float | None = None, probabilities: bool = False
) -> SupportJudge:
    """The support judge of a name.

    Args:
        name: ``screen``; ``nli:`` and a folder or hub name of an entailment model; or ``lm:`` and a language model's
            name as in the settings, such as ``lm:embedded``.
        settings: embedder, cache, and how language models are reached.
        threshold: least score of a supported claim; None: the judge's own.
        probabilities: score by the probabilities of a language model's tokens.

    Raises:
        SettingsError: no judge has this name, or its model cannot be opened.
        MissingExtraError, AssetError, ModelError: its model cannot be opened.
    """
    kind, _, model = name.partition(":")
    make: Callable[..., SupportJudge]
    if name == "screen":
        make = partial(ScreenJudge, CachingEmbedder(open_embedder(settings.embedder, settings.cache)))
    elif kind == "nli" and model:
        make = partial(EntailmentJudge, model, cache=settings.cache / "models" / "hub")
    elif kind == "lm" and model:
        make = partial(LanguageModelJudge, open_judge(model, settings, probabilities=probabilities))
    else:
        raise SettingsError(f"there is no judge {name!r}: write screen, nli:FOLDER-OR-NAME, or lm:MODEL")
    return make() if threshold is None else make(threshold=threshold)
