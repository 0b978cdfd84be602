"""Lazy imports: re-exported names, which a module's stub (``.pyi``) lists, and seams.

A seam lets a lower room call a higher one without importing it: the package's ``__init__`` fills it.
"""

import ast
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

_FILLERS: dict[str, str] = {}


def names_of(file: str) -> dict[str, str]:
    """Return name → defining module for all imports of the stub beside a module's file."""
    tree = ast.parse(Path(file).with_suffix(".pyi").read_text(encoding="utf-8"))
    imports = [node for node in tree.body if isinstance(node, ast.ImportFrom)]
    return {alias.name: str(node.module) for node in imports for alias in node.names}


def lazy_getattr(module: str, names: dict[str, str]) -> Callable[[str], object]:
    """Return a module's ``__getattr__``, which imports a name's module; AttributeError for unknown names."""

    def look_up(name: str) -> object:
        if name not in names:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        return getattr(import_module(names[name]), name)

    return look_up


def fill(**fillers: str) -> None:
    """Register the modules that fill seams; each is imported at first use."""
    _FILLERS.update(fillers)


def open_seam(seam: str) -> Any:
    """Return the module that fills a seam. Raises KeyError: no module does."""
    return import_module(_FILLERS[seam])
