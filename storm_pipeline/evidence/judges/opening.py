"""Opens judges by name; libraries that only other judges need are not imported."""

from collections.abc import Callable
from functools import partial

from storm_pipeline.evidence.judges.base import Judge, Question
from storm_pipeline.evidence.judges.language_model import LanguageModelJudge
from storm_pipeline.evidence.judges.spans import ExplainingJudge
from storm_pipeline.evidence.retrieval.embedder import CachingEmbedder, hub_folder, shared_embedder
from storm_pipeline.models.asking import LanguageModels
from storm_pipeline.models.programs import Programs, programs_of
from storm_pipeline.run.events import Events
from storm_pipeline.settings import ROLES, Settings


def open_judge(
    name: str, settings: Settings, *, announce: Callable[[str], None] | None = None, events: Events | None = None
) -> Judge:
    """Open a judge of articles by name.

    ``name``: ``screen``, which alone does not read for support; ``model``, the settings' language model for judging,
    within ``max_cost``, by default :data:`.capped.MAX_COST`; else the folder or the hub name of a cross-encoder, which
    is loaded when first needed. ``Settings.judge_of_articles`` is the default one.
    ``announce``: gets the expected cost of a language model. ``events``: get its calls.

    Raises SettingsError, AssetError, MissingExtraError, ModelError: a model cannot be opened.
    """
    if name == "screen":
        from storm_pipeline.evidence.judges.screen import ScreenJudge

        return ScreenJudge(CachingEmbedder(shared_embedder(settings.embedder, settings.cache)))
    if name == "model":
        return ExplainingJudge(_capped(settings, announce, events))
    from storm_pipeline.evidence.judges.cross_encoder import CrossEncoderJudge

    return ExplainingJudge(CrossEncoderJudge(name, cache=hub_folder(settings.cache)))


def _capped(settings: Settings, announce: Callable[[str], None] | None, events: Events | None) -> Judge:
    """Open the language model for judging alone, with its replies kept in the cache."""
    from storm_pipeline.evidence.judges.capped import MAX_COST, CappedJudge, ReplyCache
    from storm_pipeline.models.open_models import open_models

    address = {} if settings.names_model_of("judge") == "lm" else {"api_base": None, "api_key_env": None}
    alone = address | dict.fromkeys(f"{role}_lm" for role in ROLES) | {"lm": settings.lm_of("judge")}
    settings = settings.model_copy(update=alone)
    table = open_models(settings)
    model = table["judge"]
    if settings.max_cost is None and model.price is not None:
        settings = settings.model_copy(update={"max_cost": MAX_COST})
    replies = ReplyCache(settings.cache, f"{settings.lm} {settings.api_base or ''}")
    models = LanguageModels.outside_a_run(table, settings, events, journal=replies)
    judge = _language_model(settings, models, programs_of(settings.compiled_set))
    return CappedJudge(judge, settings, model.price, announce)


def judge_of_run(settings: Settings, models: LanguageModels, programs: Programs) -> Judge | None:
    """Return the judge that a run asks besides the screen, if any.

    A cross-encoder is loaded at once, before anything is paid for. Raises SettingsError: it cannot be loaded.
    """
    if settings.judge_of_run == "screen":
        return None
    if settings.judge_of_run == "model":
        return _language_model(settings, models, programs)
    judge = open_judge(settings.judge_of_run, settings)
    judge.judge([Question("This is a sentence.", ("This is a sentence.",))])
    return judge


def _language_model(settings: Settings, models: LanguageModels, programs: Programs) -> LanguageModelJudge:
    program_model = programs.check.own_lm
    name = settings.lm_of("judge") if program_model is None else str(program_model.model)
    return LanguageModelJudge(partial(models.ask, "judge"), name.partition("@")[0], programs.check)  # no address
