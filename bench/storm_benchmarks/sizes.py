"""The package's gauges, its layout, and lines of Python, a room a line, at one or more commits.

    python -m storm_benchmarks.sizes [COMMIT …]      # by default HEAD

A room is a folder of the package, or another distribution; lines are all lines of its Python files and their stubs,
blank ones and docstrings included, lines of code those without blank ones, comments and docstrings. ``gauges.py``
defines the gauges, which count the package's tables, too; ``tests/unit/test_budget.py`` holds them. ``layout.py``
defines floors and circles, which ``tests/unit/test_architecture.py`` holds; 0 is the floor of what a commit lacks.
"""

import ast
import io
import subprocess
import tarfile
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from storm_benchmarks.gauges import GAUGES, WEB, gauges
from storm_benchmarks.layout import circles, floors, module_imports, room_imports
from storm_benchmarks.shared import ROOT, options, print_table

CORE, BESIDE = ("signatures", "storm_pipeline"), ("bench", "training")


def code_lines(text: str) -> int:
    """Return the lines of a module that are neither blank nor a comment's or a docstring's, as ``cloc`` counts them."""
    counted: set[int] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            counted.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    lines = enumerate(map(str.strip, text.split("\n")), 1)
    return sum(number not in counted and line != "" and not line.startswith("#") for number, line in lines)


def rooms(tree: Path, lines_of: Callable[[str], int] = lambda text: len(text.splitlines())) -> Counter[str]:
    """Return room → lines of its Python files and stubs, tests left out.

    ``core`` is the sum of the package's rooms but ``web``.
    """
    counts: Counter[str] = Counter()
    for top in (*CORE, *BESIDE):
        for path in (*(tree / top).rglob("*.py"), *(tree / top).rglob("*.pyi")):
            inside = path.relative_to(tree).parts
            if "tests" not in inside and not any(folder.is_symlink() for folder in path.parents):
                is_page = path.is_relative_to(tree / WEB)
                room = "/".join(inside[: 2 if top == "storm_pipeline" and len(inside) > 2 else 1])
                counts["web" if is_page else room] += lines_of(path.read_text(encoding="utf-8"))
    counts["core"] = sum(lines for room, lines in counts.items() if room.startswith(CORE))
    return counts


def _sizes(commit: str) -> Counter[str]:
    archive = subprocess.run(["git", "archive", commit], cwd=ROOT, check=True, capture_output=True).stdout
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder)
        with tarfile.open(fileobj=io.BytesIO(archive)) as files:
            files.extractall(tree, filter="data")
        code = rooms(tree, code_lines)
        more = {f"{room}, lines of code": code[room] for room in ("core", "bench")}
        counted = gauges(tree)
        more |= {f"gauge: {gauge}": counted[gauge] for gauge in GAUGES}
        return rooms(tree) + Counter(more) + _layout(tree)


def _layout(tree: Path) -> Counter[str]:
    between = room_imports(graph := module_imports(tree))
    floor_of = floors(between)
    counts = Counter({f"floor: {name}": floor for name, floor in floor_of.items()})
    counts["layout: folders"] = sum(path.is_dir() for path in (tree / "storm_pipeline").glob("[a-z]*"))
    counts["layout: floors"] = max(floor_of.values())
    counts["layout: circles of rooms"] = len(circles(between))
    counts["layout: circles of modules"] = len(circles(graph))
    return counts


def main() -> None:
    """Print the table."""
    parser = options(__doc__)
    parser.add_argument("commits", nargs="*", default=["HEAD"])
    commits = parser.parse_args().commits
    sizes = [_sizes(commit) for commit in commits]
    names = sorted({*set().union(*sizes), "layout: circles of rooms", "layout: circles of modules"})
    print_table(
        ("room", *commits),
        ([name, *(f"{size[name]:,}" for size in sizes)] for name in names),
        marks="<" + ">" * len(sizes),
    )


if __name__ == "__main__":
    main()
