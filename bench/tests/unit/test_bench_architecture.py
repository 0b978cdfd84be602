"""The house rules of the bench that a machine can check: who imports whom."""

import ast
import re
from importlib import import_module
from pathlib import Path

import pytest

import storm_pipeline
from storm_pipeline import api

ROOT = Path(__file__).resolve().parents[3]
PACKAGE = ROOT / "bench" / "storm_bench"
FILES = sorted(PACKAGE.rglob("*.py"))
ORDER = [
    {"caching", "errors", "folders", "sections", "signatures", "types"},
    {"cited_sentences", "trimming", "significance"},
    {"articles", "datasets"},
    {"judges"},
    {"calibration"},
    {"metrics"},
    {"reporting"},
    {"judge_calls"},
    {"experiments"},
    {"raters"},
    {"commands"},
]
REFERENCE = {
    module
    for page in (ROOT / "docs" / "reference").glob("*.md")
    for module in re.findall(r"^::: (storm_pipeline\.[a-z_.]+)$", page.read_text(encoding="utf-8"), re.M)
    if module.partition(".")[2] not in storm_pipeline.__all__
}
RANK = {name: rank for rank, names in enumerate(ORDER) for name in names}


def imported(path: Path) -> list[tuple[str, str]]:
    """(module, name) of every import of a file."""
    tree = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
    names = [(alias.name, "") for node in tree if isinstance(node, ast.Import) for alias in node.names]
    froms = [node for node in tree if isinstance(node, ast.ImportFrom)]
    return names + [(str(node.module), alias.name) for node in froms for alias in node.names]


def room(module: str) -> str:
    return module.split(".")[1] if "." in module else ""


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_of_the_package_only_its_surface_is_imported(path: Path) -> None:
    """Public names come from the package itself, or from a module of the reference; all else from the surface."""
    surface = {"storm_pipeline": set(storm_pipeline.__all__), "storm_pipeline.api": set(api.__all__)}
    surface |= {module: {name for name in vars(import_module(module)) if name[0] != "_"} for module in REFERENCE}
    used = {(module, name) for module, name in imported(path) if module.split(".")[0] == "storm_pipeline"}
    assert all(name in surface.get(module, ()) for module, name in used)


def test_the_surface_repeats_no_public_name() -> None:
    assert not set(api.__all__) & set(storm_pipeline.__all__)


def test_the_surface_holds_nothing_that_is_not_used() -> None:
    used = {name for path in FILES for module, name in imported(path) if module == "storm_pipeline.api"}
    assert used == set(api.__all__)


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_run_one_way(path: Path) -> None:
    own = path.relative_to(PACKAGE).with_suffix("").parts[0]
    if own == "__init__":
        return
    modules = [f"{module}.{name}" if module == "storm_bench" else module for module, name in imported(path)]
    used = {room(module) for module in modules if module.startswith("storm_bench.")}
    assert not {other for other in used if RANK[other] > RANK[own]}


def test_every_module_has_a_place_in_the_order() -> None:
    assert {path.relative_to(PACKAGE).with_suffix("").parts[0] for path in FILES} - {"__init__"} == set(RANK)
