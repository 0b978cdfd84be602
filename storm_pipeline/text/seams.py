"""Seams: what a lower room gets of a higher one that it does not know; the package's ``__init__`` fills them."""

from importlib import import_module
from typing import Any

_FILLERS: dict[str, str] = {}


def fill(**fillers: str) -> None:
    """Say which module fills a seam; it is imported when something is asked of it."""
    _FILLERS.update(fillers)


def filled(seam: str) -> Any:
    """Return the module that fills a seam. Raises KeyError: there is none."""
    return import_module(_FILLERS[seam])
