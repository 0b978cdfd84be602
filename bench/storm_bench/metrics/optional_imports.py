"""Imports of optional libraries that only evaluations need."""

import threading
import warnings
from importlib import import_module
from typing import Any

from storm_pipeline import MissingExtraError

_lock = threading.Lock()


def import_optional(module: str) -> Any:
    """Import a module of an optional library, with import-time warnings suppressed.

    Raises MissingExtraError: it is not installed.
    """
    with _lock, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return import_module(module)
        except ModuleNotFoundError as error:
            raise MissingExtraError(
                f"this metric needs {module.partition('.')[0]} (no module {error.name!r}): "
                "pip install 'storm-bench[eval]'"
            ) from error
