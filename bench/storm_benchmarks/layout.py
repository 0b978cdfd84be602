"""How the package is laid out: which module imports which, circles of modules, and the floors of its rooms.

Every import counts, also one within a function, and a name in a string that ``import_module`` gets; those for type
checkers alone do not. A name that a module passes on leads to the module that defines it. A room is a folder or a
module below ``storm_pipeline``; its floor is the length of the longest way down from it, itself included.
"""

import ast
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import networkx  # type: ignore[import-untyped]

PACKAGE = "storm_pipeline"
_BY_NAME = re.compile(r"import_module\(\s*f?\"([\w.]+)")
Graph = Mapping[str, set[str]]


def module_files(tree: Path) -> dict[str, Path]:
    """Return module → its file for the package in a checkout; ``storm_pipeline.signatures`` is a link."""
    named = {file: (PACKAGE, *file.relative_to(tree / PACKAGE).parts) for file in (tree / PACKAGE).rglob("*.py")}
    named |= {file: (PACKAGE, *file.relative_to(tree).parts) for file in (tree / "signatures").rglob("*.py")}
    return {".".join(parts).removesuffix(".py").removesuffix(".__init__"): file for file, parts in named.items()}


def module_imports(tree: Path) -> dict[str, set[str]]:
    """Return module → the modules of the package that it imports."""
    files = module_files(tree)
    trees = {module: ast.parse(file.read_text(encoding="utf-8")) for module, file in files.items()}
    passed_on = {
        module: {alias.asname or alias.name: f"{node.module}.{alias.name}" for node in tree.body
                 if isinstance(node, ast.ImportFrom) for alias in node.names}
        for module, tree in trees.items() if files[module].name == "__init__.py"
    }  # fmt: skip

    def owner(name: str) -> str:
        """Return the module that a dotted name is, or is defined in."""
        module, _, last = name.rpartition(".")
        if name in files or not module:
            return name
        return owner(passed_on[module][last]) if last in passed_on.get(module, ()) else owner(module)

    graph = {}
    for module, parsed in trees.items():
        names = {name for name in _imported(parsed) if name.split(".")[0] == PACKAGE}
        for name in _BY_NAME.findall(files[module].read_text(encoding="utf-8")):
            inside = [other for other in files if other.startswith(name)] if name.endswith(".") else [name]
            names.update(one for one in inside if one.startswith(PACKAGE))
        graph[module] = {owner(name) for name in names} - {module, PACKAGE}
    return graph


def _imported(node: ast.AST) -> Iterator[str]:
    """Yield the dotted names that a tree imports."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and ast.unparse(child.test).endswith("TYPE_CHECKING"):
            continue
        if isinstance(child, ast.Import):
            yield from (alias.name for alias in child.names)
        elif isinstance(child, ast.ImportFrom):
            yield from (f"{child.module}.{alias.name}" for alias in child.names)
        yield from _imported(child)


def room(module: str) -> str:
    """Return the room of a module; ``__main__`` belongs to the interfaces."""
    name = module.split(".")[1] if "." in module else ""
    return "interfaces" if name == "__main__" else name


def room_imports(graph: Graph) -> dict[str, set[str]]:
    """Return room → the rooms that its modules import; the package itself, which lists names only, is left out."""
    rooms: dict[str, set[str]] = {room(module): set() for module in graph}
    for module, used in graph.items():
        rooms[room(module)] |= set(map(room, used)) - {room(module), ""}
    rooms.pop("", None)
    return rooms


def circles(graph: Graph) -> list[list[str]]:
    """Return the largest groups of nodes each of which leads to all others of its group."""
    groups = networkx.strongly_connected_components(networkx.DiGraph(graph))
    return sorted(sorted(group) for group in groups if len(group) > 1)


def floors(rooms: Graph) -> dict[str, int]:
    """Return room → its floor, from 1; rooms in a circle share a floor."""
    groups = networkx.condensation(networkx.DiGraph(rooms))
    floor: dict[int, int] = {}
    for group in reversed(list(networkx.topological_sort(groups))):
        floor[group] = 1 + max((floor[below] for below in groups[group]), default=0)
    return {name: floor[group] for name, group in groups.graph["mapping"].items()}
