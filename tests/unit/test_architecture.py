"""The house rules that a machine can check: who imports whom, and what is public."""

import ast
from pathlib import Path

import pytest

import storm_pipeline

ROOT = Path(__file__).resolve().parents[2]
ORDER = [
    {"errors", "identity", "types", "text", "sentences", "display", "concurrency", "outlines", "sqlite_cache", "files"},
    {"quantities", "languages"},
    {"events", "settings", "keywords", "assets"},
    {"prices", "journal", "folders"},
    {"documents"},
    {"search", "references", "render"},
    {"pages", "sources"},
    {"adapter", "programs", "local", "control", "runs"},
    {"ledger"},
    {"models", "timeline"},
    {"finding"},
    {"recording"},
    {"context"},
    {"writers"},
    {"steps"},
    {"recipes"},
    {"sessions", "streaming"},
    {"estimate"},
    {"storm"},
    {"batch"},
    {"evaluation"},
    {"experiments"},
    {"progress", "progress_board", "run_list"},
    {"cli", "__main__"},
]
RANK = {name: rank for rank, names in enumerate(ORDER) for name in names}
# `article.to_markdown()` is the promised interface: the value offers what render does, importing it when it is called.
ALLOWED = {("types", "render"), ("references", "search"), ("languages", "search")}


def imports(path: Path) -> set[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    found = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    found |= {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    return found


def room(path: Path) -> str:
    return path.relative_to(ROOT / "storm_pipeline").parts[0].removesuffix(".py")


@pytest.mark.parametrize(
    "path", sorted((ROOT / "storm_pipeline").rglob("*.py")), ids=lambda p: str(p.relative_to(ROOT))
)
def test_imports_run_one_way(path: Path) -> None:
    own = room(path)
    if own == "__init__":
        return
    used = {name.split(".")[1] for name in imports(path) if name.startswith("storm_pipeline.")}
    upward = {other for other in used - {own} if RANK[other] > RANK[own] and (own, other) not in ALLOWED}
    assert not upward, f"{path.name} imports {upward}, which are built upon it"


@pytest.mark.parametrize("path", sorted((ROOT / "signatures").glob("*.py")), ids=lambda p: p.name)
def test_signatures_import_only_dspy_and_pydantic(path: Path) -> None:
    roots = {name.split(".")[0] for name in imports(path)}
    assert roots <= {"dspy", "pydantic", "typing", "signatures"}


def test_every_module_has_a_place_in_the_order() -> None:
    rooms = {room(path) for path in (ROOT / "storm_pipeline").rglob("*.py")} - {"__init__"}
    assert rooms == set(RANK)


def test_public_names() -> None:
    assert sorted(storm_pipeline.__all__) == [
        "Article",
        "Outline",
        "SearchEngine",
        "Settings",
        "Snippet",
        "Storm",
        "StormError",
        "__version__",
        "resume",
        "write",
    ]
    for name in storm_pipeline.__all__:
        assert getattr(storm_pipeline, name) is not None


def test_unknown_public_name() -> None:
    with pytest.raises(AttributeError, match="no attribute 'Stormm'"):
        storm_pipeline.Stormm  # noqa: B018


def test_the_memory_of_the_process_is_changed_by_programs_alone() -> None:
    """A library that its host imports does not choose how the C library keeps memory."""
    users = {
        room(path)
        for path in (ROOT / "storm_pipeline").rglob("*.py")
        if "few_arenas" in path.read_text(encoding="utf-8")
    }
    assert users == {"concurrency", "cli", "experiments"}
