"""How many lines of Python the distributions may have, and how many modules writing an article may import.

A ceiling is the number when it was last decided, lines rounded up to the next 250, modules to the next 10. Growth is
decided, not drifted into: a commit that raises a ceiling does nothing else, and says what for. A commit that makes a
room smaller lowers it.
"""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
ROOMS = {
    "core": (("storm_pipeline", "signatures"), 50_250),
    "bench": (("bench/storm_bench", "bench/storm_benchmarks"), 20_000),
    "training": (("training/storm_training",), 3_500),
}
"""Room → its folders, and the most lines that their Python files may have together."""
MODULES = 190
"""The most modules of the package that ``storm_pipeline.storm`` may import; what a run chooses is opened by the run."""


def files(*folders: str) -> Iterator[Path]:
    for folder in folders:
        paths = (*(ROOT / folder).rglob("*.py"), *(ROOT / folder).rglob("*.pyi"))
        yield from (path for path in paths if "signatures" not in path.parts[:-1] or _own(path))


def _own(path: Path) -> bool:
    """Whether a file of signatures lies where it is, not behind the link in the package."""
    return path.resolve() == path


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_grows_by_decision(room: str) -> None:
    folders, ceiling = ROOMS[room]
    lines = sum(len(path.read_text(encoding="utf-8").splitlines()) for path in files(*folders))
    assert lines <= ceiling, f"{room} has {lines:,} lines of at most {ceiling:,}: make it smaller elsewhere"
    assert lines > ceiling - 1000, f"{room} has {lines:,} lines: lower its ceiling of {ceiling:,}"


def test_what_writing_an_article_imports_grows_by_decision() -> None:
    code = "import sys, storm_pipeline.storm\nprint(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    modules = [name for name in done.stdout.split() if name.partition(".")[0] == "storm_pipeline"]
    assert len(modules) <= MODULES, f"{len(modules)} modules of at most {MODULES}: open by name what only some runs use"
    assert len(modules) > MODULES - 20, f"{len(modules)} modules: lower the ceiling of {MODULES}"
