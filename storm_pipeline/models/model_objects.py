"""A language model with its adapter, name and price; models passed as objects, and their placeholder names."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import dspy

from storm_pipeline.errors import SettingsError
from storm_pipeline.models.prompt_adapter import PromptAdapter
from storm_pipeline.settings import ROLES, Role
from storm_pipeline.types import Price

_OBJECT = "object:"
"""Prefix of a model object's name: saved settings contain only the name, never the object or its key."""


@dataclass(frozen=True)
class Model:
    """A language model, its adapter, its name and its endpoint."""

    lm: dspy.BaseLM  # called with its own parameters
    adapter: PromptAdapter  # formats signatures as messages and parses replies
    name: str  # name in reports
    where: str  # endpoint for error messages and for the limit of concurrent calls
    price: Price | None = None  # None if unknown
    bounded: bool = False  # whether a program's ``token_limit`` also limits replies
    greedy: bool = False  # whether ``greedy`` programs decode their first sample greedily

    @property
    def timeout(self) -> float | None:
        """Seconds within which a reply must be complete; None if the model's object sets none."""
        seconds = self.connection("timeout")
        return float(seconds) if isinstance(seconds, int | float) else None

    def connection(self, name: str) -> Any:
        """Return a parameter of the connection, such as ``api_key``, from the model or its engine."""
        return getattr(getattr(self.lm, "engine", None), name, None) or self.lm.kwargs.get(name)


class StatelessLM(dspy.LM):
    """A ``dspy.LM`` without history; DSPy would keep the last 10,000 prompts and replies of the process."""

    def update_history(self, entry: dict[str, Any]) -> None:
        """Pass the call to :func:`call_log` instead of keeping it."""
        for module in dspy.settings.caller_modules or ():
            if isinstance(module, _Listener):
                module.history.append(entry)


@dataclass
class _Listener:
    """Entry in DSPy's list of calling modules, which receive each call."""

    history: list[dict[str, Any]] = field(default_factory=list)


@contextmanager
def call_log() -> Iterator[list[dict[str, Any]]]:
    """Collect the calls of the block in the form of DSPy's history; none if the user disabled it."""
    listener = _Listener()
    with dspy.context(caller_modules=[*(dspy.settings.caller_modules or ()), listener]):
        yield listener.history


ModelObject: TypeAlias = Model | dspy.BaseLM


def split_models(
    lm: str | ModelObject | None, models: Mapping[Role, str | ModelObject]
) -> tuple[dict[str, str], dict[str, ModelObject]]:
    """Split models into settings → names and settings → objects. Raises SettingsError: bad role, or not a model."""
    unknown = next((role for role in models if role not in ROLES), None)
    if unknown is not None:
        raise SettingsError(f"there is no role {unknown!r} for a model: choose among {', '.join(ROLES)}")
    by_field: dict[str, str | ModelObject] = {"lm": lm} if lm is not None else {}
    by_field |= {f"{role}_lm": model for role, model in models.items()}
    objects = {name: model for name, model in by_field.items() if not isinstance(model, str)}
    for name, model in objects.items():
        if not isinstance(model, Model | dspy.BaseLM):
            raise SettingsError(f"{name} is a {type(model).__name__}: give a model's name, a dspy.LM or a Model")
    return {name: _name_of(model) for name, model in by_field.items()}, objects


def is_object(name: str) -> bool:
    """Return whether a name in the settings is a placeholder for an object passed by the user."""
    return name.startswith(_OBJECT)


def model_object(name: str, field: str, objects: Mapping[str, ModelObject]) -> ModelObject:
    """Return the object of a setting. Raises SettingsError: no object, or a different one, was passed."""
    model = objects.get(field)
    if model is None or _name_of(model) != name:
        role = field.removesuffix("_lm")
        how = "Storm(lm=…) or dspy.context(lm=…)" if field == "lm" else f'Storm(models={{"{role}": …}})'
        raise SettingsError(
            f"{field} was an object, {name.removeprefix(_OBJECT)}, which is not saved with a run: pass it again with "
            f"{how}, or name a model instead"
        )
    return model


def _name_of(model: str | ModelObject) -> str:
    if isinstance(model, str):
        return model
    return _OBJECT + (model.name if isinstance(model, Model) else str(model.model))
