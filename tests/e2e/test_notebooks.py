"""The notebooks, executed whole. The first is the suite's true end-to-end run: embedded model, corpus and encoder."""

from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

from storm_pipeline.assets import EMBEDDED_MODELS, EMBEDDER, LEADS, fetch

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.assets
@pytest.mark.model
@pytest.mark.filterwarnings("default")  # warnings of the kernel's own machinery are not ours to forbid
def test_write_an_article(tmp_path: Path) -> None:
    for asset in (EMBEDDED_MODELS["embedded"], EMBEDDER, LEADS):
        fetch(asset, ROOT / "cache")
    book = nbformat.read(ROOT / "examples" / "01_write_an_article.ipynb", as_version=4)
    book.cells[1].source = book.cells[1].source.replace('root / "runs"', f"Path({str(tmp_path)!r})")
    NotebookClient(
        book, timeout=1500, kernel_name="python3", resources={"metadata": {"path": str(ROOT / "examples")}}
    ).execute()
    (run,) = tmp_path.iterdir()
    text = (run / "article.md").read_text(encoding="utf-8")
    assert text.startswith("# Renaissance\n")
    assert text.count("\n## ") >= 2
    assert "[1]" in text.split("## References")[0]
