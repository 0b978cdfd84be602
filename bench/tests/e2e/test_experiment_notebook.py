"""The notebook that reads an experiment, executed whole."""

from pathlib import Path

import nbformat
import pytest
from experiment_cases import experiment
from nbclient import NotebookClient

from storm_bench.reporting import write_report

ROOT = Path(__file__).resolve().parents[3]


@pytest.mark.filterwarnings("default")
def test_read_an_experiment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_report(tmp_path / "report", experiment())
    monkeypatch.setenv("STORM_EXPERIMENT", str(tmp_path / "report"))
    book = nbformat.read(ROOT / "examples" / "03_read_an_experiment.ipynb", as_version=4)
    done = NotebookClient(
        book, timeout=120, kernel_name="python3", resources={"metadata": {"path": str(ROOT / "examples")}}
    ).execute()
    outputs = [output for cell in done.cells if cell.cell_type == "code" for output in cell.outputs]
    shown = "\n".join(o.get("text", "") + str(o.get("data", {}).get("text/markdown", "")) for o in outputs)
    assert "methods:  direct rr storm" in shown
    assert "**Article quality**" in shown
    assert "storm minus direct in rouge_1: +0.250" in shown
    assert "2/2^4 = 0.125" in shown
    assert sum("image/svg+xml" in o.get("data", {}) for o in outputs) == 1
