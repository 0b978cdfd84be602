"""Models that a user gives as objects, and the names by which the settings of a run remember them."""

from collections.abc import Mapping
from typing import TypeAlias

import dspy

from storm_pipeline.errors import SettingsError
from storm_pipeline.models.model import Model
from storm_pipeline.settings import ROLES, Role

GivenModel: TypeAlias = Model | dspy.BaseLM
_OBJECT = "object:"
"""Begins the name of a model that was an object: the settings of a run are saved without it, and without its key."""


def sort_given(
    lm: str | GivenModel | None, models: Mapping[Role, str | GivenModel]
) -> tuple[dict[str, str], dict[str, GivenModel]]:
    """What a user gives as models, as settings.

    Args:
        lm: for every role that has none of its own; None if none is given.
        models: by role.

    Returns:
        Settings, such as ``lm`` and ``writer_lm``, with names of models; and the objects among these, by setting.

    Raises:
        SettingsError: there is no such role, or a value is no model.
    """
    unknown = next((role for role in models if role not in ROLES), None)
    if unknown is not None:
        raise SettingsError(f"there is no role {unknown!r} for a model: choose among {', '.join(ROLES)}")
    given: dict[str, str | GivenModel] = {"lm": lm} if lm is not None else {}
    given |= {f"{role}_lm": model for role, model in models.items()}
    objects = {field: model for field, model in given.items() if not isinstance(model, str)}
    for field, model in objects.items():
        if not isinstance(model, Model | dspy.BaseLM):
            raise SettingsError(f"{field} is a {type(model).__name__}: give a model's name, a dspy.LM or a Model")
    return {field: _name_of(model) for field, model in given.items()}, objects


def is_object(name: str) -> bool:
    """Whether a name in the settings stands for an object that the user gave."""
    return name.startswith(_OBJECT)


def object_named(name: str, field: str, given: Mapping[str, GivenModel]) -> GivenModel:
    """The object that a setting stands for.

    Raises:
        SettingsError: it, or another one, was not given.
    """
    model = given.get(field)
    if model is None or _name_of(model) != name:
        role = field.removesuffix("_lm")
        how = "Storm(lm=…)" if field == "lm" else f'Storm(models={{"{role}": …}})'
        raise SettingsError(
            f"{field} was an object, {name.removeprefix(_OBJECT)}, which is not saved with a run: give it again with "
            f"{how}, or name a model in its place"
        )
    return model


def _name_of(model: str | GivenModel) -> str:
    if isinstance(model, str):
        return model
    return _OBJECT + (model.name if isinstance(model, Model) else str(model.model))
