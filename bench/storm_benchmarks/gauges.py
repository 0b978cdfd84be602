"""Count what the package holds besides its subject: lines, regular expressions, word lists, numeric thresholds.

The counting is mechanical, on syntax trees and parsed tables, so that two people count the same:

- a line: any line of a ``.py``, ``.pyi``, ``.toml``, ``.json`` or ``.txt`` file, but for those of `APART`;
- a regular expression: a call of ``re.compile`` or of a function of ``re`` that searches, whose pattern is not a name;
- a word list: five or more lower-case words in one list, tuple or set, in one string that is split, or in one value of
  a table, be it a list or a string;
- a threshold: a statement at the top of a module that binds a name to a number;
- a threshold in a tuple: a number in a tuple that such a statement binds;
- a pattern in a table: a string of a TOML or JSON file that has what only regular expressions have, such as ``\\b``.
"""

import ast
import json
import re
import tomllib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

PACKAGE = ("signatures", "storm_pipeline")
WEB = "storm_pipeline/interfaces/web"
"""The folder of the pages, a room of its own."""
APART = (
    *("signatures/examples.toml", "storm_pipeline/models/sets/", "storm_pipeline/run/assets/assets.json", "LICENSE"),
    f"{WEB}/",
)
"""Beginnings of the paths that no gauge counts: worked examples, pinned downloads, licences, pages."""
GAUGES = ("lines", "regular expressions", "word lists", "thresholds", "thresholds in tuples", "patterns in tables")
_SUFFIXES = {".py", ".pyi", ".toml", ".json", ".txt"}
_SEARCHES = {"compile", "match", "fullmatch", "search", "sub", "subn", "split", "findall", "finditer"}
_PATTERN = re.compile(r"\(\?|\\[bdswBDSW]|\[\^|\.\*|[)\]][?*+]")


def package_files(tree: Path) -> Iterator[Path]:
    """Yield the files of the package that are counted, in the order of their paths; links are not followed."""
    for top in PACKAGE:
        for path in sorted((tree / top).rglob("*")):
            linked = any(folder.is_symlink() for folder in (path, *path.parents))
            if path.suffix in _SUFFIXES and not linked and not path.relative_to(tree).as_posix().startswith(APART):
                yield path


def gauges(tree: Path) -> Counter[str]:
    """Return gauge → its count in the package of a checkout."""
    counts: Counter[str] = Counter()
    for path in package_files(tree):
        text = path.read_text(encoding="utf-8")
        counts["lines"] += len(text.splitlines())
        counts += _of_table(table_values(path)) if path.suffix in {".toml", ".json"} else _of_module(ast.parse(text))
    return counts


def table_values(path: Path) -> list[Any]:
    """Return every string and list that is a value in a TOML or JSON file."""
    text = path.read_text(encoding="utf-8")
    left, values = [tomllib.loads(text) if path.suffix == ".toml" else json.loads(text)], []
    while left:
        value = left.pop()
        values += [value] if isinstance(value, str | list) else []
        left += value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return values


def patterns(values: list[Any]) -> list[str]:
    """Return the strings that have what only regular expressions have."""
    return [value for value in values if isinstance(value, str) and _PATTERN.search(value)]


def _of_table(values: list[Any]) -> Counter[str]:
    lists = sum(_are_words(value.split() if isinstance(value, str) else value) for value in values)
    return Counter({"word lists": lists, "patterns in tables": len(patterns(values))})


def _of_module(module: ast.Module) -> Counter[str]:
    nodes = list(ast.walk(module))
    bound = [node.value for node in module.body if isinstance(node, ast.Assign | ast.AnnAssign)]
    in_tuples = [elt for value in bound if isinstance(value, ast.Tuple) for elt in value.elts]
    return Counter(
        {
            "regular expressions": sum(map(_is_search, nodes)),
            "word lists": sum(_are_words(_words(node)) for node in nodes),
            "thresholds": sum(map(_is_number, bound)),
            "thresholds in tuples": sum(map(_is_number, in_tuples)),
        }
    )


def _is_search(node: ast.AST) -> bool:
    match node:
        case ast.Call(func=ast.Attribute(value=ast.Name(id="re"), attr=name), args=[pattern, *_]):
            return name in _SEARCHES and not isinstance(pattern, ast.Name | ast.Attribute)
    return False


def _words(node: ast.AST) -> list[Any]:
    """Return the elements of a list, a tuple, a set, or a string that is split at white space."""
    match node:
        case ast.List(elts=ones) | ast.Tuple(elts=ones) | ast.Set(elts=ones):
            return [one.value if isinstance(one, ast.Constant) else None for one in ones]
        case ast.Call(func=ast.Attribute(value=ast.Constant(value=str(text)), attr="split"), args=[]):
            return text.split()
    return []


def _are_words(values: list[Any]) -> bool:
    """Return whether values are five or more words in lower case: letters, with apostrophes, hyphens and spaces."""
    return len(values) >= 5 and all(isinstance(value, str) and _is_word(value) for value in values)


def _is_word(text: str) -> bool:
    letters = [char for char in text if char not in "'’- "]
    return text == text.lower() and letters != [] and all(map(str.isalpha, letters))


def _is_number(node: ast.AST | None) -> bool:
    match node:
        case ast.UnaryOp(operand=operand):
            return _is_number(operand)
        case ast.BinOp(left=left, right=right):
            return _is_number(left) and _is_number(right)
        case ast.Constant(value=value):
            return isinstance(value, int | float) and not isinstance(value, bool)
    return False
