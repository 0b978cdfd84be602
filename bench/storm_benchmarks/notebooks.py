"""Executes the notebooks in ``examples/`` and stores what they print, with a fingerprint of the cells that printed it.

    python -m storm_benchmarks.notebooks examples/01_write_an_article.ipynb

A test compares the fingerprint: outputs of other cells than the current ones are refused.
"""

import argparse
import hashlib
import json
import re
from pathlib import Path
from typing import Any

MARK = "storm_pipeline"
"""Key of a notebook's metadata that holds the fingerprint."""


def fingerprint(book: Any) -> str:
    """Return 16 hexadecimal digits that change with any code cell of a notebook (of nbformat, or JSON)."""
    cells = ["".join(cell["source"]) for cell in book["cells"] if cell["cell_type"] == "code"]
    return hashlib.sha256(json.dumps(cells).encode()).hexdigest()[:16]


def without_places(text: str, root: Path) -> str:
    """Return the text without the machine's paths: those of the checkout become relative."""
    text = text.replace(f"file://{root}/", "file:///…/").replace(f"{root}/", "").replace(str(root), ".")
    return re.sub(re.escape(str(Path.home())) + r"(?=/|\b)", "~", text)


def execute(path: Path, root: Path, *, timeout: int = 1800) -> None:
    """Execute a notebook in the checkout's folder and store its outputs in it."""
    import nbformat
    from nbclient import NotebookClient

    book = nbformat.read(path, as_version=4)
    NotebookClient(book, timeout=timeout, resources={"metadata": {"path": str(root)}}).execute()
    for cell in book.cells:
        cell.get("metadata", {}).pop("execution", None)  # when it ran: another in every run
    book.metadata.pop("widgets", None)
    book.metadata[MARK] = {"cells": fingerprint(book)}
    book.metadata["language_info"] = {"name": "python"}
    stored = json.loads(nbformat.writes(book))
    for cell in stored["cells"]:
        if "outputs" in cell:
            cell["outputs"] = json.loads(without_places(json.dumps(_kept(cell["outputs"])), root))
    path.write_text(json.dumps(stored, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


def _kept(outputs: list[Any]) -> list[Any]:
    """Return the outputs without lines of progress, which rich prints, and warnings in the stream of errors."""
    progress = '<pre style="white-space:pre;overflow-x'
    shown = (output for output in outputs if output.get("name") != "stderr")
    return [one for one in shown if not "".join(one.get("data", {}).get("text/html", "")).startswith(progress)]


def main() -> None:
    """Execute the notebooks that are named."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("notebooks", nargs="+", type=Path)
    for path in parser.parse_args().notebooks:
        execute(path.resolve(), Path.cwd())
        print(path)


if __name__ == "__main__":
    main()
