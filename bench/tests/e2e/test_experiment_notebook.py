"""The notebook that reads an experiment, executed whole."""

from pathlib import Path

import nbformat
import pytest
from experiment_cases import experiment
from nbclient import NotebookClient

from storm_bench.reporting import ExperimentResults, write_report

NOTEBOOK = Path(__file__).resolve().parents[3] / "examples" / "03_read_an_experiment.ipynb"


@pytest.mark.filterwarnings("default")
def test_read_an_experiment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_report(tmp_path / "report", experiment())
    monkeypatch.setenv("STORM_EXPERIMENT", str(tmp_path / "report"))
    book = nbformat.read(NOTEBOOK, as_version=4)
    done = NotebookClient(
        book, timeout=120, kernel_name="python3", resources={"metadata": {"path": str(tmp_path)}}
    ).execute()
    outputs = [output for cell in done.cells if cell.cell_type == "code" for output in cell.outputs]
    shown = "\n".join(o.get("text", "") + str(o.get("data", {}).get("text/markdown", "")) for o in outputs)
    assert "methods:  direct rr storm" in shown
    assert "**Article quality**" in shown
    assert "storm minus direct in rouge_1: +0.250" in shown
    assert "2/2^4 = 0.125" in shown
    assert sum("image/svg+xml" in o.get("data", {}) for o in outputs) == 1


def test_without_an_experiment_it_reads_invented_numbers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("STORM_EXPERIMENT", raising=False)
    monkeypatch.chdir(tmp_path)
    cells = [cell.source for cell in nbformat.read(NOTEBOOK, as_version=4).cells if cell.cell_type == "code"]
    names: dict[str, object] = {}
    for cell in cells:
        exec(cell, names)
    results = names["results"]
    assert isinstance(results, ExperimentResults)
    assert (results.title, results.methods) == ("Invented numbers", ("direct", "storm"))
    assert names["figure"] is not None
