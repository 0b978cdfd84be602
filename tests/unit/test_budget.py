"""What the distributions may hold: lines, rules about language, and modules that writing an article imports.

A ceiling is the number when it was last decided, lines rounded up to the next 250, modules to the next 10. Growth is
decided, not drifted into: a commit that raises a ceiling does nothing else, and says what for. A commit that makes a
gauge smaller lowers its ceiling. ``storm_benchmarks.gauges`` says how the package's gauges are counted, and
``python -m storm_benchmarks.sizes`` prints them.
"""

import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from storm_benchmarks.gauges import WEB, gauges, package_files, patterns, table_values

ROOT = Path(__file__).resolve().parents[2]
CORE = {"lines": 43_990, "regular expressions": 176, "word lists": 70, "thresholds": 289, "thresholds in tuples": 63}
"""Gauge of the package → the most that it may be."""
SLACK = {"lines": 1000, "regular expressions": 5, "word lists": 5, "thresholds": 5, "thresholds in tuples": 5}
"""Gauge → how far below its ceiling it may be before the ceiling is lowered."""
ROOMS = {
    "bench": (("bench/storm_bench", "bench/storm_benchmarks"), 15_270),
    "training": (("training/storm_training",), 3_290),
    "tests": (("tests",), 33_660),
    "web": ((WEB,), 900),
}
"""Room → its folders, and the most lines that their Python files may have together."""
PAGES = {".html": 1_000, ".js": 200, ".css": 500}
"""Ending of the files of the pages → the most lines that those of our own may have together."""
FOREIGN = ("htmx", "hx-")
"""Beginnings of the names of files of the pages that are another project's."""
MODULES = 130
"""The most modules of the package that ``storm_pipeline.storm`` may import; what a run chooses is opened by the run."""


@pytest.fixture(scope="module")
def counted() -> Counter[str]:
    return gauges(ROOT)


@pytest.mark.parametrize("gauge", CORE)
def test_a_gauge_of_the_package_rises_by_decision(gauge: str, counted: Counter[str]) -> None:
    ceiling, now = CORE[gauge], counted[gauge]
    assert now <= ceiling, f"{now:,} {gauge} of at most {ceiling:,}: remove others, or let a model or a library decide"
    assert now > ceiling - SLACK[gauge], f"{now:,} {gauge}: lower the ceiling of {ceiling:,}"


def test_tables_hold_data_not_regular_expressions() -> None:
    tables = [path for path in package_files(ROOT) if path.suffix in {".toml", ".json"}]
    found = {path.relative_to(ROOT).as_posix() for path in tables if patterns(table_values(path))}
    assert found == set()


def files(*folders: str) -> Iterator[Path]:
    for folder in folders:
        yield from (*(ROOT / folder).rglob("*.py"), *(ROOT / folder).rglob("*.pyi"))


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_grows_by_decision(room: str) -> None:
    folders, ceiling = ROOMS[room]
    lines = sum(len(path.read_text(encoding="utf-8").splitlines()) for path in files(*folders))
    assert lines <= ceiling, f"{room} has {lines:,} lines of at most {ceiling:,}: make it smaller elsewhere"
    assert lines > ceiling - 1000, f"{room} has {lines:,} lines: lower its ceiling of {ceiling:,}"


@pytest.mark.parametrize("ending", PAGES)
def test_the_pages_grow_by_decision(ending: str) -> None:
    own = [path for path in (ROOT / WEB).rglob(f"*{ending}") if not path.name.startswith(FOREIGN)]
    lines = sum(len(path.read_text(encoding="utf-8").splitlines()) for path in own)
    assert lines <= PAGES[ending], f"{lines:,} lines of at most {PAGES[ending]:,}: make them smaller elsewhere"


def test_what_writing_an_article_imports_grows_by_decision() -> None:
    code = "import sys, storm_pipeline.storm\nprint(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    modules = [name for name in done.stdout.split() if name.partition(".")[0] == "storm_pipeline"]
    assert len(modules) <= MODULES, f"{len(modules)} modules of at most {MODULES}: open by name what only some runs use"
    assert len(modules) > MODULES - 20, f"{len(modules)} modules: lower the ceiling of {MODULES}"
