"""The notebooks' stored outputs: they are there, of the cells that stand there, and name no place of a machine."""

import json
import re
from pathlib import Path

import pytest

from storm_benchmarks.notebooks import MARK, fingerprint, without_places

ROOT = Path(__file__).resolve().parents[3]
NOTEBOOKS = sorted((ROOT / "examples").glob("*.ipynb"))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_outputs_are_of_the_cells_that_stand_there(path: Path) -> None:
    book = json.loads(path.read_text(encoding="utf-8"))
    assert book["metadata"].get(MARK, {}).get("cells") == fingerprint(book), f"make notebooks: {path.name} was changed"
    assert any(cell.get("outputs") for cell in book["cells"])
    text = json.dumps([cell.get("outputs", []) for cell in book["cells"]])
    assert not re.search(r"/(?:root|home|work|tmp|Users)/", text), "a path of a machine"
    assert "Traceback" not in text


def test_the_fingerprint_changes_with_code_alone() -> None:
    code, text = {"cell_type": "code", "source": ["a\n", "b"]}, {"cell_type": "markdown", "source": "c"}
    assert fingerprint({"cells": [code, text]}) == fingerprint({"cells": [{**code, "source": "a\nb"}]})
    assert fingerprint({"cells": [code]}) != fingerprint({"cells": [{**code, "source": "a\nc"}]})


def test_paths_of_the_checkout_are_relative() -> None:
    root = Path("/place/of/checkout")
    said = without_places(f"{root}/runs/a.md, file://{root}/runs/b.md, {root}, {Path.home()}/.cache", root)
    assert said == "runs/a.md, file:///…/runs/b.md, ., ~/.cache"
