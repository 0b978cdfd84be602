"""The package's gauges, lines of Python, a room a line, and what writing an article imports, at one or more commits.

    python -m storm_benchmarks.sizes [COMMIT …]      # by default HEAD

A room is a folder of the package, or another distribution; lines are all lines of its Python files and their stubs,
blank ones and docstrings included, lines of code those without blank ones, comments and docstrings. Writing an article
imports what ``storm_pipeline.storm`` imports at the top of its modules, and they in turn. ``gauges.py`` defines the
gauges, which count the package's tables, too; ``tests/unit/test_budget.py`` holds them.
"""

import ast
import io
import subprocess
import tarfile
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

from storm_benchmarks.gauges import GAUGES, gauges
from storm_benchmarks.shared import ROOT, options, print_table

CORE, BESIDE = ("signatures", "storm_pipeline"), ("bench", "training")
_ENTRY = "storm_pipeline.storm"


def code_lines(text: str) -> int:
    """The lines of a module that are neither blank nor a comment's or a docstring's, as ``cloc`` counts them."""
    told: set[int] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            told.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    lines = enumerate(map(str.strip, text.split("\n")), 1)
    return sum(number not in told and line != "" and not line.startswith("#") for number, line in lines)


def rooms(tree: Path, lines_of: Callable[[str], int] = lambda text: len(text.splitlines())) -> Counter[str]:
    """Room → lines of its Python files and stubs, tests left out; ``core`` is the sum of the package's."""
    counts: Counter[str] = Counter()
    for top in (*CORE, *BESIDE):
        for path in (*(tree / top).rglob("*.py"), *(tree / top).rglob("*.pyi")):
            inside = path.relative_to(tree).parts
            if "tests" not in inside and not any(folder.is_symlink() for folder in path.parents):
                room = "/".join(inside[: 2 if top == "storm_pipeline" and len(inside) > 2 else 1])
                counts[room] += lines_of(path.read_text(encoding="utf-8"))
    counts["core"] = sum(lines for room, lines in counts.items() if room.startswith(CORE))
    return counts


def reached(tree: Path, entry: str = _ENTRY) -> frozenset[str]:
    """The package's modules that a module imports when it is imported, itself and their packages included."""
    known: set[str] = set()
    left = [entry]
    while left:
        module = left.pop()
        path = _file(tree, module)
        if path is None or module in known or not module.startswith("storm_pipeline"):
            continue
        known.add(module)
        left += [module.rpartition(".")[0], *_imported(ast.parse(path.read_text(encoding="utf-8")))]
    return frozenset(known)


def _file(tree: Path, module: str) -> Path | None:
    place = tree.joinpath(*module.split("."))
    return next((path for path in (place.with_suffix(".py"), place / "__init__.py") if path.is_file()), None)


def _imported(module: ast.Module) -> Iterator[str]:
    """The modules, and names that may be modules, which the top of a module imports."""
    for node in module.body:
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{name.name}" for name in node.names)


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
        return rooms(tree) + Counter(more | {"modules that writing an article imports": len(reached(tree))})


def main() -> None:
    """Print the table."""
    parser = options(__doc__)
    parser.add_argument("commits", nargs="*", default=["HEAD"])
    commits = parser.parse_args().commits
    sizes = [_sizes(commit) for commit in commits]
    names = sorted(set().union(*sizes))
    print_table(
        ("room", *commits),
        ([name, *(f"{size[name]:,}" for size in sizes)] for name in names),
        marks="<" + ">" * len(sizes),
    )


if __name__ == "__main__":
    main()
