"""Recipes and metrics of the user's own, which an experiment names as ``module:name``; loading one runs its code."""

import hashlib
import importlib
import importlib.util
import re
import sys
from collections.abc import Callable
from functools import lru_cache
from importlib.abc import Loader
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any, cast

from storm_bench.metrics.base import BatchMetric, CaseMetric, Metric
from storm_pipeline import Article, SettingsError

Recipe = Callable[[Any], Article]
"""From a run's context and a topic to an article."""
_NAME = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*:[A-Za-z_]\w*")


def is_own(name: str) -> bool:
    """Return whether a name of a recipe or metric is of the user's own code."""
    return _NAME.fullmatch(name) is not None


def run_name(recipe: str) -> str:
    """Return the name of an own recipe in a run's folder: ``methods:mine`` → ``methods-mine``."""
    return re.sub(r"\W+", "-", recipe)


def own_recipe(name: str, folder: Path) -> Recipe:
    """Return a recipe, from a module in the folder of the experiment's file, else an installed one.

    Raises SettingsError: there is none, or it is not a function.
    """
    found = _load(name, folder)
    if not callable(found):
        raise SettingsError(f"{name} is not a recipe: expected a function of a run's context and a topic")
    return cast("Recipe", found)


def own_metric(name: str, folder: Path) -> Metric:
    """Load a metric from a module as for :func:`own_recipe`. Raises SettingsError: there is none, or it is not one."""
    found = _load(name, folder)
    if not isinstance(found, CaseMetric | BatchMetric):
        raise SettingsError(f"{name} is not a metric: declare one as storm_bench.metrics.base.CaseMetric")
    return found


def source_hash(name: str, folder: Path) -> str:
    """Hash of the module's file, so that articles of other code are not taken for its own; empty if it is installed."""
    module = name.partition(":")[0]
    file = _file(module, folder)
    return hashlib.sha256(file.read_bytes()).hexdigest()[:32] if file.is_file() else ""


def _load(name: str, folder: Path) -> Any:
    module, _, attribute = name.partition(":")
    try:
        return getattr(_module(module, folder), attribute)
    except AttributeError as error:
        raise SettingsError(f"the module {module} has no {attribute!r}") from error


def _file(module: str, folder: Path) -> Path:
    return folder.joinpath(*module.split(".")).with_suffix(".py")


@lru_cache(32)
def _module(name: str, folder: Path) -> ModuleType:
    file = _file(name, folder)
    try:
        if not file.is_file():
            return importlib.import_module(name)
        known = f"storm_bench_own_{hashlib.sha256(str(file).encode()).hexdigest()[:12]}"
        spec = cast("ModuleSpec", importlib.util.spec_from_file_location(known, file))
        module = importlib.util.module_from_spec(spec)
        sys.modules[known] = module  # dataclasses look it up
        cast("Loader", spec.loader).exec_module(module)
    except Exception as error:  # the user's code may raise anything
        raise SettingsError(f"{name} cannot be imported: {type(error).__name__}: {error}") from error
    return module
