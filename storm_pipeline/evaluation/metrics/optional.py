"""Libraries that only an evaluation needs: imported where a metric uses them, missed with a clear word."""

import threading
import warnings
from importlib import import_module
from typing import Any

from storm_pipeline.errors import MissingExtraError

_lock = threading.Lock()


def needed(module: str, extra: str = "eval") -> Any:
    """Import a module of an optional library; what the library warns of while it loads is not shown.

    Args:
        module: its full name, e.g. ``rouge_score.rouge_scorer``.
        extra: the extra of this package that brings it.

    Raises:
        MissingExtraError: it is not installed.
    """
    with _lock, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return import_module(module)
        except ModuleNotFoundError as error:
            raise MissingExtraError(
                f"this metric needs {module.partition('.')[0]} (no module {error.name!r}): "
                f"pip install 'storm-pipeline[{extra}]'"
            ) from error
