"""The notebooks, executed whole.

The first is the suite's true end-to-end run: embedded model, corpus and encoder. In the others a scripted model writes.
"""

import re
from pathlib import Path

import nbformat
import pytest
from llm import FakeModel
from nbclient import NotebookClient

from storm_pipeline.assets import EMBEDDED_MODELS, EMBEDDER, LEADS, fetch
from storm_pipeline.models.compiled_sets import read_set
from storm_pipeline.models.programs import Programs

ROOT = Path(__file__).resolve().parents[2]


def execute(name: str, runs: Path) -> None:
    """Execute a notebook with its runs in another folder."""
    book = nbformat.read(ROOT / "examples" / name, as_version=4)
    book.cells[1].source = book.cells[1].source.replace('root / "runs"', f"Path({str(runs)!r})")
    NotebookClient(
        book, timeout=1500, kernel_name="python3", resources={"metadata": {"path": str(ROOT / "examples")}}
    ).execute()


def executed(name: str, runs: Path) -> Path:
    """Execute a notebook; the folder of the article that it wrote."""
    execute(name, runs)
    (article,) = runs.glob("*/article.md")
    return article.parent


@pytest.mark.assets
@pytest.mark.model
@pytest.mark.filterwarnings("default")  # warnings of the kernel's own machinery are not ours to forbid
def test_write_an_article(tmp_path: Path) -> None:
    for asset in (EMBEDDED_MODELS["embedded"], EMBEDDER, LEADS):
        fetch(asset, ROOT / "cache")
    run = executed("01_write_an_article.ipynb", tmp_path)
    text = (run / "article.md").read_text(encoding="utf-8")
    assert text.startswith("# Renaissance\n")
    assert text.count("\n## ") >= 2
    assert "[1]" in text.split("## References")[0]


@pytest.mark.assets
@pytest.mark.filterwarnings("default")
def test_your_own_documents(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fetch(EMBEDDER, ROOT / "cache")
    with FakeModel() as model:
        monkeypatch.setenv("STORM_LM", model.lm)
        run = executed("02_your_own_documents.ipynb", tmp_path)
    assert model.asked
    text, references = (run / "article.md").read_text(encoding="utf-8").split("## References")
    assert text.startswith("# Orsund Harbour\n")
    assert "[1]" in text
    assert re.search(r"— (history\.pdf|trade\.docx), pp?\. \d", references), "own files by name, without their folders"
    assert "file://" not in references
    assert re.search(r"· pp?\. \d", (run / "article.html").read_text(encoding="utf-8"))


@pytest.mark.assets
@pytest.mark.filterwarnings("default")
def test_compile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fetch(EMBEDDER, ROOT / "cache")
    with FakeModel() as model:
        monkeypatch.setenv("STORM_LM", model.lm)
        execute("04_compile.ipynb", tmp_path)
    made = read_set(tmp_path / "town-set")
    assert len(made.programs["draft"].held_back) == 4
    assert made.apply(Programs()).draft.predict.demos
