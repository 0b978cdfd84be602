"""Names that a module passes on: its stub (``.pyi``) lists them, and each is imported when it is first used."""

import ast
from collections.abc import Callable
from importlib import import_module
from pathlib import Path


def names_of(file: str) -> dict[str, str]:
    """Name → the module that defines it, of all that the stub beside a module's file imports."""
    tree = ast.parse(Path(file).with_suffix(".pyi").read_text(encoding="utf-8"))
    imports = [node for node in tree.body if isinstance(node, ast.ImportFrom)]
    return {alias.name: str(node.module) for node in imports for alias in node.names}


def looked_up(module: str, names: dict[str, str]) -> Callable[[str], object]:
    """The ``__getattr__`` of a module: imports what defines a name; ``AttributeError`` for any other name."""

    def look_up(name: str) -> object:
        if name not in names:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        return getattr(import_module(names[name]), name)

    return look_up
