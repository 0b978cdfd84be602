"""The English of docstrings, comments and names."""

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("storm_pipeline", "signatures", "bench/storm_bench", "bench/storm_benchmarks", "training/storm_training")
PHRASES = re.compile(
    r"\bhand(?:s|ed|ing)? back\b|\b(?<!there )(?:is|are) no (?!longer\b|more\b)|\btells?\b|\buntold\b|\bwhoever\b"
    r"|\bin vain\b|\bby nobody\b|\bas it stands\b|^(?:Of|What|Whoever)\b|[.!?] (?:Of|What|Whoever)\b",
    re.M,
)
"""Riddles and archaisms: "is not a" for "is no", "returned" for "handed back", "states" for "tells"."""
NAMES = {"told", "untold", "resting", "apart", "settled", "leans", "bears", "whoever"}
"""Participles and pronouns that name nothing."""
VAGUE = NAMES | {"own", "one", "ones", "found", "said", "met"}
ROOMS = tuple(
    f"storm_pipeline/{room}" for room in ("interfaces", "models", "optimize", "output", "run", "sources", "text")
)


def files(*folders: str) -> list[Path]:
    return [
        path for folder in folders for path in sorted((ROOT / folder).rglob("*.py")) if "signatures" not in path.parts
    ]


def texts(source: str) -> Iterator[str]:
    """Yield docstrings and comments."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            yield node.value.value
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield token.string.lstrip("# ")


def bindings(source: str) -> set[str]:
    """Return the names that a module binds, without leading underscores."""
    names = set[str]()
    for node in ast.walk(ast.parse(source)):
        match node:
            case (
                ast.FunctionDef(name=name)
                | ast.AsyncFunctionDef(name=name)
                | ast.ClassDef(name=name)
                | ast.arg(arg=name)
            ):
                names.add(name)
            case ast.Name(id=name, ctx=ast.Store()) | ast.Attribute(attr=name, ctx=ast.Store()):
                names.add(name)
    return {name.lstrip("_") for name in names}


@pytest.mark.parametrize("folder", FOLDERS)
def test_docstrings_and_comments_are_plain(folder: str) -> None:
    odd = {
        f"{path.relative_to(ROOT)}: {match[0].strip()}"
        for path in files(folder)
        for text in texts(path.read_text())
        for match in PHRASES.finditer(text)
    }
    assert not odd


def test_names_name_something() -> None:
    odd = {f"{path.relative_to(ROOT)}: {name}" for path in files(*ROOMS) for name in bindings(path.read_text()) & VAGUE}
    assert not odd
