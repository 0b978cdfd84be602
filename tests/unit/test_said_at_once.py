"""What a user hears at once: models that must be fetched, headings in leads, sections that miss the topic."""

import time
from pathlib import Path

import pytest
from servers import closed_port
from typer.testing import CliRunner

from storm_pipeline.errors import SettingsError
from storm_pipeline.evidence.retrieval.embedder import hub_folder, is_here, open_embedder
from storm_pipeline.interfaces.cli import app
from storm_pipeline.interfaces.configuration.diagnosis import diagnose
from storm_pipeline.settings import Settings

NAME = "paraphrase-multilingual-MiniLM-L12-v2"


@pytest.mark.parametrize("is_forbidden", [True, False], ids=["HF_HUB_OFFLINE", "no network"])
def test_a_model_out_of_reach_fails_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_forbidden: bool
) -> None:
    with closed_port() as address:
        monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", is_forbidden)
        monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", address)
        slept = list[float]()
        monkeypatch.setattr(time, "sleep", slept.append)
        with pytest.raises(SettingsError, match="not on this machine, and the model hub cannot be reached"):
            open_embedder(NAME, tmp_path)
        assert sum(slept) < 20  # the library tries for 75 seconds


def test_models_that_are_here_are_not_fetched(tmp_path: Path) -> None:
    assert not is_here(NAME, tmp_path)
    assert not is_here("no name of a model!", tmp_path)
    assert is_here(str(tmp_path), tmp_path)
    cached = hub_folder(tmp_path) / f"models--sentence-transformers--{NAME}"
    (cached / "refs").mkdir(parents=True)
    (cached / "refs" / "main").write_text("abc")
    (cached / "snapshots" / "abc").mkdir(parents=True)
    (cached / "snapshots" / "abc" / "modules.json").write_text("[]")
    assert is_here(NAME, tmp_path)


def test_it_is_listed_under_downloads_and_by_the_doctor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STORM_EMBEDDER", NAME)
    monkeypatch.setenv("COLUMNS", "300")
    output = CliRunner().invoke(app, ["assets", "list", "--cache", str(tmp_path)]).output
    assert NAME in output
    assert "from the model hub" in output
    found = diagnose(Settings.build({"lm": "openai/x", "embedder": NAME, "cache": tmp_path, "search": "wiki-leads"}))
    assert "the first run fetches it from the model hub" in next(
        one.detail for one in found if one.subject == f"sentence encoder {NAME}"
    )
