"""The notebooks, executed whole.

Each runs in an empty folder, as outside a checkout. The first is the suite's true end-to-end run: embedded corpus and
encoder. In the others a scripted model writes.
"""

import re
from pathlib import Path
from typing import Any

import nbformat
import pytest
from llm import FakeModel
from nbclient import NotebookClient

from storm_pipeline.models.programs import Programs, read_set
from storm_pipeline.run.assets import EMBEDDER, LEADS, fetch

ROOT = Path(__file__).resolve().parents[2]


def execute(name: str, folder: Path) -> Any:
    """Execute a notebook as whoever copied it to a folder of their own does; its runs are made there."""
    book = nbformat.read(ROOT / "examples" / name, as_version=4)
    return NotebookClient(
        book, timeout=1500, kernel_name="python3", resources={"metadata": {"path": str(folder)}}
    ).execute()


def article_of(folder: Path) -> Path:
    """The folder of the article that a notebook wrote."""
    (article,) = (folder / "runs").glob("*/article.md")
    return article.parent


@pytest.mark.assets
@pytest.mark.filterwarnings("default")  # warnings of the kernel's own machinery are not ours to forbid
def test_write_an_article(tmp_path: Path) -> None:
    for asset in (EMBEDDER, LEADS):
        fetch(asset, ROOT / "cache")
    execute("01_write_an_article.ipynb", tmp_path)
    run = article_of(tmp_path)
    text = (run / "article.md").read_text("utf-8")
    assert text.startswith("# Renaissance\n")
    assert text.count("\n## ") >= 2
    assert "[1]" in text.split("## References")[0]


@pytest.mark.assets
@pytest.mark.filterwarnings("default")
def test_your_own_documents(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fetch(EMBEDDER, ROOT / "cache")
    with FakeModel() as model:
        monkeypatch.setenv("STORM_LM", model.lm)
        done = execute("02_your_own_documents.ipynb", tmp_path)
    assert model.asked
    shown = [str(out.get("data", {}).get("text/plain", "")) for cell in done.cells for out in cell.get("outputs", [])]
    assert any("researching Orsund Harbour" in text for text in shown), "a run in a notebook shows its progress"
    run = article_of(tmp_path)
    text, references = (run / "article.md").read_text("utf-8").split("## References")
    assert text.startswith("# Orsund Harbour\n")
    assert "[1]" in text
    assert re.search(r"— (history\.pdf|trade\.docx), pp?\. \d", references), "own files by name, without their folders"
    assert "file://" not in references
    assert re.search(r"· pp?\. \d", (run / "article.html").read_text("utf-8"))


@pytest.mark.assets
@pytest.mark.filterwarnings("default")
def test_compile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fetch(EMBEDDER, ROOT / "cache")
    with FakeModel() as model:
        monkeypatch.setenv("STORM_LM", model.lm)
        execute("04_compile.ipynb", tmp_path)
    made = read_set(tmp_path / "runs" / "town-set")
    assert len(made.programs["draft"].held_back) == 4
    assert made.apply(Programs()).draft.predict.demos
