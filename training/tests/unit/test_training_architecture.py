"""The house rules of the training that a machine can check: who imports whom."""

import ast
from pathlib import Path

import pytest

import storm_pipeline
from storm_pipeline import api

PACKAGE = Path(__file__).resolve().parents[2] / "storm_training"
FILES = sorted(PACKAGE.rglob("*.py"))
BENCH = {
    *("storm_bench.judges.base", "storm_bench.judges.open_judge", "storm_bench.datasets.closed_corpus"),
    *("storm_bench.datasets.expertqa", "storm_bench.datasets.wikigenbench", "storm_bench.types"),
    *("storm_bench.reporting.plots", "storm_bench.folders"),
}
"""What the bench promises to the training: the seam of its judges, readers, and the guards of its files and plots."""
ORDER = [
    {"costs", "errors", "files", "losses", "world", "tiny", "curves", "returns", "published"},
    *({"articles", "batches", "checkpoints", "truth", "export"}, {"loop", "sampling", "segments"}),
    *({"fine_tuning", "reward_data", "evaluation", "lfqa"}, {"reward_model", "ppo"}),
    *({"settings", "writers", "teachers"}, {"laboratory", "languages", "reinforcement"}, {"tables"}, {"__main__"}),
]
RANK = {name: rank for rank, names in enumerate(ORDER) for name in names}


def imported(path: Path) -> list[tuple[str, str]]:
    """(module, name) of every import of a file."""
    tree = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
    names = [(alias.name, "") for node in tree if isinstance(node, ast.Import) for alias in node.names]
    froms = [node for node in tree if isinstance(node, ast.ImportFrom)]
    return names + [(str(node.module), alias.name) for node in froms for alias in node.names]


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_of_package_and_bench_only_their_surface_is_imported(path: Path) -> None:
    surface = {
        "storm_pipeline": set(storm_pipeline.__all__),
        "storm_pipeline.api": set(api.__all__),
        # documented in the reference
        "storm_pipeline.interfaces.estimate": {"estimate"},
        "storm_pipeline.types": {"Range"},
        "storm_pipeline.evidence.judges.base": {"Judge", "Question"},
    }
    for module, name in imported(path):
        if module.split(".")[0] == "storm_pipeline":
            assert name in surface.get(module, ()), f"{module}.{name}"
        if module.split(".")[0] == "storm_bench":
            assert module in BENCH, module


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_run_one_way(path: Path) -> None:
    own = path.relative_to(PACKAGE).with_suffix("").parts[0]
    used = {module.split(".")[1] for module, _ in imported(path) if module.startswith("storm_training.")}
    assert own == "__init__" or not {other for other in used if RANK[other] > RANK[own]}


def test_every_module_has_a_place_in_the_order() -> None:
    assert {path.relative_to(PACKAGE).with_suffix("").parts[0] for path in FILES} - {"__init__"} == set(RANK)
