"""Opens judges by name; libraries that only other judges need are not imported."""

from functools import partial

from storm_pipeline.evidence.judges.base import CachingJudge, Judge, Question
from storm_pipeline.evidence.judges.language_model import LanguageModelJudge
from storm_pipeline.evidence.judges.spans import ExplainingJudge
from storm_pipeline.evidence.retrieval.embedder import CachingEmbedder, Embedder, hub_folder, shared_embedder
from storm_pipeline.models.asking import LanguageModels
from storm_pipeline.models.compiled_sets import programs_of
from storm_pipeline.models.programs import Programs
from storm_pipeline.settings import Settings


def open_judge(
    name: str, settings: Settings, *, threshold: float | None = None, embedder: Embedder | None = None
) -> CachingJudge:
    """Open a judge by name; it caches verdicts and adds the deciding words to them.

    ``name``: ``screen``, as ``auto``; ``model``, the settings' language model for judging; else the folder or the hub
    name of a cross-encoder, which is loaded when first needed. ``threshold``: minimum probability of a supported
    claim, in [0, 1]; by default the judge's, and of ``model`` always. ``embedder``: by default that of the settings.

    Raises SettingsError, AssetError, MissingExtraError, ModelError: a model cannot be opened.
    """
    judge: Judge
    given: dict[str, float] = {} if threshold is None else {"threshold": threshold}
    if name == "model":
        from storm_pipeline.models.open_models import open_models

        models = LanguageModels.outside_a_run(open_models(settings), settings)
        judge = _language_model(settings, models, programs_of(settings.compiled_set))
    elif name in {"screen", "auto"}:
        from storm_pipeline.evidence.judges.screen import ScreenJudge

        embedder = embedder or CachingEmbedder(shared_embedder(settings.embedder, settings.cache))
        judge = ScreenJudge(embedder, **given)
    else:
        from storm_pipeline.evidence.judges.cross_encoder import CrossEncoderJudge

        judge = CrossEncoderJudge(name, cache=hub_folder(settings.cache), **given)
    return CachingJudge(ExplainingJudge(judge))


def judge_of_run(settings: Settings, models: LanguageModels, programs: Programs) -> Judge | None:
    """Return the judge that a run asks besides the screen, if any.

    A cross-encoder is loaded at once, before anything is paid for. Raises SettingsError: it cannot be loaded.
    """
    if settings.judge_of_run == "screen":
        return None
    if settings.judge_of_run == "model":
        return _language_model(settings, models, programs)
    judge = open_judge(settings.judge, settings)
    judge.judge([Question("This is a sentence.", ("This is a sentence.",))])
    return judge


def _language_model(settings: Settings, models: LanguageModels, programs: Programs) -> LanguageModelJudge:
    program_model = programs.check.own_lm
    name = settings.lm_of("judge") if program_model is None else str(program_model.model)
    return LanguageModelJudge(partial(models.ask, "judge"), name.partition("@")[0], programs.check)  # no address
