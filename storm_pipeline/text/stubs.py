"""Imports at first use: names that a module passes on (its stub, ``.pyi``, lists them), and seams.

A seam is what a lower room gets of a higher one, which it does not know: the package's ``__init__`` fills it.
"""

import ast
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

_FILLERS: dict[str, str] = {}


def names_of(file: str) -> dict[str, str]:
    """Return name → the module that defines it, for all that the stub beside a module's file imports."""
    tree = ast.parse(Path(file).with_suffix(".pyi").read_text(encoding="utf-8"))
    imports = [node for node in tree.body if isinstance(node, ast.ImportFrom)]
    return {alias.name: str(node.module) for node in imports for alias in node.names}


def looked_up(module: str, names: dict[str, str]) -> Callable[[str], object]:
    """Return a module's ``__getattr__``, which imports what defines a name; AttributeError for any other name."""

    def look_up(name: str) -> object:
        if name not in names:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        return getattr(import_module(names[name]), name)

    return look_up


def fill(**fillers: str) -> None:
    """Register the modules that fill seams; each is imported when something is asked of it."""
    _FILLERS.update(fillers)


def filled(seam: str) -> Any:
    """Return the module that fills a seam. Raises KeyError: there is none."""
    return import_module(_FILLERS[seam])
