"""A model's plain name is one of the model hub, whatever the current folder holds."""

from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner

from storm_pipeline.errors import SettingsError
from storm_pipeline.evidence.judges.cross_encoder import CrossEncoderJudge
from storm_pipeline.evidence.retrieval.embedder import SentenceTransformerEmbedder, is_here, open_embedder
from storm_pipeline.evidence.retrieval.model_files import local_folder, options_without_code
from storm_pipeline.interfaces.cli import app

LOADERS: list[Callable[[str], object]] = [
    SentenceTransformerEmbedder,
    CrossEncoderJudge,
    options_without_code,
    lambda name: open_embedder(name, Path("cache")),
    lambda name: is_here(name, Path("cache")),
]


@pytest.mark.parametrize("load", LOADERS)
@pytest.mark.parametrize(
    ("name", "folder"),
    [
        ("sentence-transformers/gtr", "sentence-transformers/gtr"),
        ("gtr", "sentence-transformers/gtr"),
        ("gtr", "gtr"),
        ("models", "models"),
    ],
)
def test_a_folder_in_the_current_one_is_not_taken_for_a_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, load: Callable[[str], object], name: str, folder: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / folder).mkdir(parents=True)
    with pytest.raises(SettingsError, match=f"write ./{folder} if you mean that"):
        load(name)


def test_a_folder_is_written_as_a_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "gtr").mkdir()
    for written in ("./gtr", f"../{tmp_path.name}/gtr", "~/gtr", str(tmp_path / "gtr"), Path("gtr")):
        found = local_folder(written)
        assert found and found.is_absolute() and found.samefile(tmp_path / "gtr")
        assert is_here(str(found), tmp_path)
    with pytest.raises(FileNotFoundError, match="there is no folder"):
        options_without_code("./absent")


def test_a_run_does_not_begin_with_a_strangers_encoder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "intfloat" / "e5").mkdir(parents=True)
    command = ["write", "Silk Road", "--search", "wiki-leads", "--embedder", "intfloat/e5"]
    result = CliRunner().invoke(app, command)
    assert result.exit_code == 2 and "write ./intfloat/e5" in " ".join(result.output.split())
