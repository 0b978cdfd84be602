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
ROOMS = [
    f"storm_pipeline/{name}" for name in "evidence interfaces method models optimize output run sources text".split()
]
PHRASES = re.compile(
    r"\bhand(?:s|ed|ing)? back\b|(?<![Tt]here )\b(?:is|are) no (?!longer\b|more\b)|\btells?\b|\buntold\b|\bwhoever\b"
    r"|\bin vain\b|\bas it stands\b|^(?:Of|What|Whoever)\b|[.!?] (?:Of|What|Whoever)\b",
    re.M,
)
"""Better: returned, is not a, states, whoever → the noun, unchanged, a sentence that begins with its subject."""
NAMES = set("apart bears found leans met one ones own resting said settled told untold whoever".split())
"""Participles and pronouns in place of a noun or a verb."""


def files(folder: str) -> list[Path]:
    return sorted((ROOT / folder).rglob("*.py"))


def texts(path: Path) -> Iterator[str]:
    """Yield docstrings and comments; of signatures, whose docstrings are prompts, comments alone."""
    source = path.read_text()
    for node in ast.walk(ast.parse(source)) if "signatures" not in path.parts else ():
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            yield node.value.value
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield token.string.lstrip("# ")


def bindings(path: Path) -> set[str]:
    """Return the names that a module binds, without leading underscores."""
    names = set[str]()
    for node in ast.walk(ast.parse(path.read_text())):
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                names.add(name)
            case ast.arg(arg=name) | ast.Name(id=name, ctx=ast.Store()) | ast.Attribute(attr=name, ctx=ast.Store()):
                names.add(name)
    return {name.lstrip("_") for name in names}


@pytest.mark.parametrize("folder", FOLDERS)
def test_docstrings_and_comments_are_plain(folder: str) -> None:
    found = {(path, match[0]) for path in files(folder) for text in texts(path) for match in PHRASES.finditer(text)}
    assert not found


@pytest.mark.parametrize("room", ROOMS)
def test_names_are_nouns_and_verbs(room: str) -> None:
    found = {(path, name) for path in files(room) for name in bindings(path) & NAMES}
    assert not found
