"""What cannot work is refused before the first call, and leaves no folder behind."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from llm import FakeModel
from test_pipeline import storm
from typer.testing import CliRunner

from storm_pipeline import Settings
from storm_pipeline.errors import SettingsError
from storm_pipeline.evidence.retrieval.embedder import HashingEmbedder
from storm_pipeline.interfaces.batch import Batch, TopicRequest
from storm_pipeline.interfaces.cli import app
from storm_pipeline.run.events import CallbackSink, Event, RunStopped
from storm_pipeline.storm import write_from

WRONG: dict[str, tuple[str, ...]] = {
    "--domain": ("", "http://x/y", "x.org/path"),
    "--exclude-url": ("javascript:alert(1)", "http://[", ""),
    "--exclude-title": (" ",),
    "--allow-source": ("",),
    "--api-base": ("", "http://[", "localhost:8000", "http://x:99999/v1"),
    "--api-key-env": ("", "sk-12 34"),
    "--out": ("",),
    "--cache": (" ",),
    "--lm": ("openai/", "openai/m@http://[", "nosuchprovider/m"),
    "--writer-lm": ("",),
    "--search-rate": ("1e-300", "nan"),
    "--max-cost": ("inf",),
    "--search": ("nosuch", "searxng:http://["),
    "--price": ("", "m=free"),
}


class Broken(HashingEmbedder):
    """An embedder that fails, or whose vectors are of no use."""

    def __init__(self, gives: Any) -> None:
        super().__init__()
        self.name = "broken"
        self.gives = gives

    def embed(self, texts: Any) -> Any:
        if isinstance(self.gives, BaseException):
            raise self.gives
        return self.gives


def runs(tmp_path: Path) -> list[Path]:
    return list(tmp_path.rglob("run.json")) + list(tmp_path.rglob("batch.json"))


@pytest.mark.parametrize("command", ["write", "outline", "batch"])
@pytest.mark.parametrize(("option", "value"), [(name, value) for name, values in WRONG.items() for value in values])
def test_a_bad_setting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str, option: str, value: str) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "topics.txt").write_text("Silk Road\nAmber Road\n")
    topic = "topics.txt" if command == "batch" else "Silk Road"
    usual = ["--lm", "openai/m", "--api-base", "http://127.0.0.1:9/v1", "--search", "searxng:http://127.0.0.1:9"]
    result = CliRunner(env={"OPENAI_API_KEY": "x"}).invoke(app, [command, topic, *usual, "--quiet", option, value])
    assert result.exit_code == 2, result.output
    assert result.stderr.count("\n") == 1
    assert "unexpected" not in result.stderr
    assert not runs(tmp_path)


@pytest.mark.parametrize("gives", [
    ValueError("out of order"),
    np.zeros((1, 7), dtype=np.float32),
    np.full((1, 128), np.nan, dtype=np.float32),
    [["a"]],
])  # fmt: skip
def test_an_embedder_that_does_not_work_costs_nothing(server: FakeModel, tmp_path: Path, gives: Any) -> None:
    events: list[Event] = []
    with pytest.raises(SettingsError, match="embedder 'broken'"):
        storm(server, tmp_path, embedder=Broken(gives), sinks=[CallbackSink(events.append)]).write("Silk Road")
    (stopped,) = (event for event in events if isinstance(event, RunStopped))
    assert not stopped.kept
    assert not server.asked
    assert not runs(tmp_path)


def test_a_period_that_ends_before_it_begins_is_refused() -> None:
    with pytest.raises(SettingsError, match=r"since \(2024-05-01\) is later than until"):
        Settings.build({"since": "2024-05-01", "until": "2020-01-01"})
    Settings.build({"since": "2020-01-01", "until": "2020-01-01"})


def test_a_continued_run_that_cannot_begin_leaves_the_old_one_alone(server: FakeModel, tmp_path: Path) -> None:
    storm(server, tmp_path).write("Silk Road")
    (run,) = (tmp_path / "runs").iterdir()
    names = {path.name for path in run.iterdir()}
    with pytest.raises(SettingsError):
        write_from(storm(server, tmp_path, embedder=Broken(ValueError())), "outline", run)
    (run / "article.md").unlink()
    with pytest.raises(SettingsError):
        storm(server, tmp_path, embedder=Broken(ValueError())).resume(run)
    assert names == {path.name for path in run.iterdir()} | {"article.md"}
    assert list((tmp_path / "runs").iterdir()) == [run]


@pytest.mark.parametrize("topics", [
    "topic\nSilk Road\nAmber Road\n",
    "topic,source_language\nSilk Road,de\nAmber Road,fr\n",
])  # fmt: skip
def test_a_batch_without_keys_makes_no_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, topics: str) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "topics.csv").write_text(topics)
    usual = ["--lm", "openai/m", "--search", "wikipedia", "--quiet"]
    result = CliRunner(env={"OPENAI_API_KEY": None, "ANTHROPIC_API_KEY": None}).invoke(
        app, ["batch", "topics.csv", *usual]
    )
    assert result.exit_code == 2, result.output
    assert result.stderr.count("\n") == 1
    assert "no key set for openai/m: set OPENAI_API_KEY" in result.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["topics.csv"]


def test_a_batch_without_the_key_of_one_topic_keeps_the_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    requests = [TopicRequest("Silk Road"), TopicRequest("Amber Road", {"lm": "anthropic/m"})]
    with Batch.create(requests, Settings(out=tmp_path / "runs")) as batch:
        assert batch.folder.is_dir()


@given(name=st.sampled_from(sorted(Settings.model_fields)), value=st.text(max_size=30) | st.floats() | st.integers())
def test_any_value_is_a_setting_or_refused(name: str, value: Any) -> None:
    many = "tuple" in str(Settings.model_fields[name].annotation)
    try:
        settings = Settings.build({name: (value,) if many else value})
    except SettingsError as error:
        assert name in str(error)
        return
    assert Settings.build(settings.model_dump(mode="json", exclude_unset=True)) == settings
