"""Choice of the model of each role and program of a run, and its origin.

Order: the predictor's model (``set_lm``, or ``lm=`` of a call), ``Storm(…)``, DSPy's settings, the default.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import dspy

from storm_pipeline.errors import SettingsError
from storm_pipeline.models.model_objects import Model, ModelObject, is_object, split_models
from storm_pipeline.models.open_models import object_model
from storm_pipeline.models.prices import parse_prices, require_prices
from storm_pipeline.models.programs import Programs
from storm_pipeline.settings import ROLES, Role, Settings
from storm_pipeline.types import ModelChoice

_FIELDS = frozenset({"lm", *(f"{role}_lm" for role in ROLES)})
_OF_PROGRAM, _OF_DSPY = "program", "dspy.settings.lm"
_ORIGINS = (_OF_PROGRAM, "Storm", "settings", _OF_DSPY, "run", "default")


@dataclass(frozen=True)
class GivenModels:
    """The explicitly chosen models."""

    objects: Mapping[str, ModelObject] = field(default_factory=dict)  # setting, such as ``lm`` → model object
    by: Mapping[str, str] = field(default_factory=dict)  # setting → who chose it, see :class:`ModelChoice`
    note: str = ""  # note for the user if the model of DSPy's settings is not used; else empty

    @property
    def chosen_by(self) -> dict[str, str]:
        """Map settings of models to the origin of their choice."""
        return {name: self.by.get(name, "default") for name in sorted(_FIELDS)}

    @classmethod
    def to_storm(
        cls, settings: Settings | None, keywords: Iterable[str], objects: Mapping[str, ModelObject]
    ) -> "GivenModels":
        """Return the models that code gave to ``Storm``, by settings and by keywords."""
        explicit = settings.model_fields_set if settings else frozenset()
        by = dict.fromkeys(_FIELDS & explicit, "settings") | dict.fromkeys(_FIELDS & {*keywords}, "Storm")
        return cls(objects, by)


def choose(
    settings: Settings, given: GivenModels, programs: Programs, begun: Mapping[str, Any] | None = None
) -> tuple[Settings, GivenModels]:
    """Return settings and models of a run; a resumed run, with ``run.json`` as ``begun``, keeps its models."""
    program_lms = [program.own_lm for program in programs.named().values()]
    if all(lm is not None for lm in program_lms):
        most = max(program_lms, key=lambda lm: sum(lm is other_lm for other_lm in program_lms))
        return _with_lm(settings.model_copy(update=dict.fromkeys(_FIELDS - {"lm"})), given, most)
    if programs.section.own_lm is not None and settings.writing == "auto":
        settings = settings.model_copy(update={"writing": "whole"})  # else an extract, which asks no model
    now = given.by  # by this object, not by the first session
    if begun is not None:
        saved = begun.get("chosen_by")
        known = {name: by for name, by in saved.items() if by in _ORIGINS} if isinstance(saved, dict) else {}
        given = replace(given, by=dict.fromkeys(_FIELDS, "run") | known | dict(given.by))
    lm = dspy.settings.lm
    if lm is None:
        return settings, given
    # A model other than the run's is refused when opened.
    if begun is not None and is_object(settings.lm) and "lm" not in given.objects:
        objects, by = {**given.objects, "lm": lm}, {**given.by, "lm": _OF_DSPY}
        return settings, replace(given, objects=objects, by=by)
    if "lm" not in given.by:
        settings, given = _with_lm(settings, given, lm, _OF_DSPY)
    return settings, replace(given, note=_overruling_note(settings, given, lm, now))


def _with_lm(
    settings: Settings, given: GivenModels, lm: ModelObject | None, by: str = _OF_PROGRAM
) -> tuple[Settings, GivenModels]:
    named, objects = split_models(lm, {})
    own_place = {"api_base": None, "api_key_env": None}  # they belong to the replaced model
    given = replace(given, objects={**given.objects, **objects}, by={**given.by, "lm": by})
    return settings.model_copy(update=own_place | named), given


def _overruling_note(settings: Settings, given: GivenModels, lm: object, now: Mapping[str, str]) -> str:
    """Return a note if DSPy's model is not used for some roles; ``now``: choices of this session."""
    fields = {role: settings.names_model_of(role) for role in ROLES}
    others = [role for role, name in fields.items() if given.by[name] != _OF_DSPY and given.objects.get(name) is not lm]
    if not others:
        return ""
    whom = "" if len(others) == len(ROLES) else f" for {', '.join(others)}"
    where = {"Storm": "Storm(…) was given", "settings": "the settings name"}
    chosen = settings.lm_of(others[0]).removeprefix("object:").partition("@")[0]
    who = where.get(now.get(fields[others[0]], ""), "the run was begun with")
    return (
        f"the model of dspy.settings, {getattr(lm, 'model', lm)}, is not used{whom}: "
        f"{who} {chosen}; to use it, give it as Storm(lm=…)"
    )


def own_models(programs: Programs, settings: Settings) -> dict[str, list[Model]]:
    """Map names of programs to the distinct models of their predictors.

    Raises SettingsError: a price is unknown although dollars are capped, or an object is not a model.
    """
    prices = parse_prices(settings.prices)
    by_program: dict[str, list[Model]] = {}
    for name, program in programs.named().items():
        lms = {id(lm): lm for predictor in program.predictors() if (lm := predictor.lm) is not None}
        if wrong := [lm for lm in lms.values() if not isinstance(lm, dspy.BaseLM)]:
            raise SettingsError(f"the model of {name} is a {type(wrong[0]).__name__}: give set_lm a dspy.LM")
        if lms:
            by_program[name] = [object_model(lm, settings, prices) for lm in lms.values()]
    require_prices(settings.max_cost, {model.name: model.price for models in by_program.values() for model in models})
    return by_program


def choices(
    settings: Settings, given: GivenModels, table: Mapping[Role, Model], program_models: Mapping[str, list[Model]]
) -> tuple[ModelChoice, ...]:
    """Return the model of each role, and of each program with another model; empty without models."""
    if not table:
        return ()
    by = {role: given.by.get(settings.names_model_of(role), "default") for role in ROLES}
    of_roles = [ModelChoice(role, table[role].name, by[role]) for role in ROLES]
    of_all = given.objects.get("lm") if given.by.get("lm") == _OF_PROGRAM else None
    of_programs = [
        ModelChoice(name, " + ".join(model.name for model in models), _OF_PROGRAM)
        for name, models in program_models.items()
        if any(model.lm is not of_all for model in models)
    ]
    return (*of_roles, *of_programs)


def may_differ(saved: object, settings: Settings, programs: Programs) -> bool:
    """Return whether a program has its own model that a run did not ask; ``saved``: see :func:`require_own`."""
    asked = {name.removeprefix("object:") for name in settings.models}
    asked |= {str(name) for name in saved.values()} if isinstance(saved, dict) else set()
    lms = (predictor.lm for program in programs.named().values() for predictor in program.predictors())
    return any(lm is not None and lm.model not in asked for lm in lms)


def require_own(saved: object, programs: Programs) -> None:
    """Check that programs that had their own models still have some, since models are not saved with a run.

    ``saved``: name of a program → name of its model, from ``run.json``. Raises SettingsError: a program has none.
    """
    named = programs.named()
    for name, model in saved.items() if isinstance(saved, dict) else ():
        if name in named and not any(predictor.lm for predictor in named[name].predictors()):
            raise SettingsError(
                f"{name} asked a model of its own, {model}, which is not saved with a run: give it again with "
                f"programs.{name}.set_lm(…) and Storm(programs=…)"
            )
