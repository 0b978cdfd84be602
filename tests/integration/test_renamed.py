"""Names of earlier versions: refused where people write them, read where runs and batches recorded them."""

import json
from pathlib import Path

import pytest
from llm import FakeModel
from test_pipeline import folder
from test_resume import stopped, storm, text
from typer.testing import CliRunner

from storm_pipeline import Storm
from storm_pipeline.errors import SettingsError
from storm_pipeline.evidence.recorded_search import RecordedSearch
from storm_pipeline.interfaces.batch.batch_folder import read_batch
from storm_pipeline.interfaces.cli import app
from storm_pipeline.interfaces.configuration.layers import configured
from storm_pipeline.interfaces.estimate import estimate
from storm_pipeline.interfaces.server.remote_settings import RemoteSettings
from storm_pipeline.run.integrity import FILE
from storm_pipeline.run.journal import fingerprint
from storm_pipeline.settings import Settings
from storm_pipeline.text.configuration.renamed import SETTINGS, IgnoredSettingWarning


def before(text: str) -> str:
    """JSON with the names of earlier versions."""
    for old, now in SETTINGS.items():
        text = text.replace(f'"{now}"', f'"{old}"')
    return text.replace('"storm-iterative"', '"storm+gaps"')


def with_names_of_before(run: Path) -> None:
    """Write the settings and the recipe of a run, in its files and its journal, as earlier versions named them."""
    for file in ("settings.json", "run.json"):
        (run / file).write_text(before((run / file).read_text("utf-8")), "utf-8")
    records = [json.loads(line) for line in (run / "journal.jsonl").read_text("utf-8").splitlines()]
    for one in records:
        if one["kind"] == FILE:
            one["value"] = json.loads(before(json.dumps(one["value"])))
            one["sum"] = fingerprint(one["kind"], one["key"], one["value"])
    (run / "journal.jsonl").write_text("".join(f"{json.dumps(one)}\n" for one in records), "utf-8")


@pytest.mark.parametrize("calls", [3, 9])
def test_a_run_of_an_earlier_version_goes_on(steady: FakeModel, tmp_path: Path, calls: int) -> None:
    given = {"parse_attempts": 2, "source_policy": "any"}
    whole = storm(steady, tmp_path / "whole", **given).write("Silk Road")
    asked = len(steady.asked)
    with_names_of_before(run := stopped(steady, tmp_path, calls, **given))
    assert '"storm+gaps"' in (run / "run.json").read_text("utf-8")
    article = storm(steady, tmp_path, parse_attempts=2).resume(run)
    assert len(steady.asked) == 2 * asked, "nothing is bought twice"
    assert text(article) == text(whole)
    assert json.loads((run / "settings.json").read_text("utf-8"))["parse_attempts"] == 2


def test_a_batch_of_an_earlier_version_is_read(tmp_path: Path) -> None:
    topic = {"number": 1, "request": {"topic": "Silk", "settings": {"samples": 2}}}
    state = {"format": 1, "settings": {"attempts": 3}, "at_once": 1, "repeated": 0, "topics": [topic]}
    (tmp_path / "batch.json").write_text(json.dumps(state), "utf-8")
    batch = read_batch(tmp_path)
    assert batch["settings"] == {"call_attempts": 3}
    assert batch["topics"][0].request.settings == {"parse_attempts": 2}


@pytest.mark.parametrize(("old", "now"), SETTINGS.items())
def test_old_names_are_answered_with_new(old: str, now: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    says = f"'{old}' is called '{now}' now"
    with pytest.raises(SettingsError, match=says):
        Storm(**{old: "2"})  # type: ignore[arg-type]
    with pytest.raises(SettingsError, match=says):
        Settings.build({old: "2"})
    with pytest.raises(SettingsError, match=says):
        RemoteSettings.build(Settings(), [old])
    with pytest.raises(SettingsError, match=says):
        RemoteSettings(Settings()).for_new_run({old: "2"})
    (tmp_path / "storm.toml").write_text(f'{old} = "2"\n', "utf-8")
    with pytest.raises(SettingsError, match=rf"storm.toml: .*{says}"):
        configured()
    (tmp_path / "storm.toml").unlink()
    monkeypatch.setenv(f"STORM_{old.upper()}", "2")
    with pytest.raises(SettingsError, match=rf"STORM_{old.upper()}: .*{says}"):
        configured()
    for command in ("write", "estimate", "doctor", "outline", "batch"):
        result = CliRunner().invoke(app, [command, "x", f"--{old}", "2"])
        assert result.exit_code == 2
        assert f"--{old} is called --{now.replace('_', '-')} now" in result.stderr.replace("\n", " ")


def test_a_setting_that_is_gone_is_refused_or_ignored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for ask in (lambda: Storm(rounds=2), lambda: RemoteSettings(Settings()).for_new_run({"rounds": 2})):  # type: ignore[call-arg]
        with pytest.raises(SettingsError, match="'rounds' is gone, leave it out: open questions are looked up once"):
            ask()
    (tmp_path / "storm.toml").write_text("rounds = 2\nturns = 4\n", "utf-8")
    with pytest.warns(IgnoredSettingWarning, match=r"storm.toml: the setting 'rounds' is ignored: open questions"):
        assert configured().turns == 4
    (tmp_path / "storm.toml").unlink()
    monkeypatch.setenv("STORM_ROUNDS", "2")
    with pytest.warns(IgnoredSettingWarning, match="STORM_ROUNDS: the setting 'rounds' is ignored"):
        configured()
    result = CliRunner().invoke(app, ["estimate", "Silk Road"])
    assert result.exit_code == 0
    assert "STORM_ROUNDS: the setting 'rounds' is ignored: open questions are looked up once" in result.stderr
    result = CliRunner().invoke(app, ["write", "x", "--rounds", "2"])
    assert result.exit_code == 2
    assert "--rounds is gone, leave it out" in result.stderr.replace("\n", " ")


def test_a_run_with_a_setting_that_is_gone_goes_on(steady: FakeModel, tmp_path: Path) -> None:
    whole = storm(steady, tmp_path / "whole").write("Silk Road")
    settings = stopped(steady, tmp_path, 5) / "settings.json"
    settings.write_text(json.dumps({**json.loads(settings.read_text("utf-8")), "rounds": 2}), "utf-8")
    with pytest.warns(IgnoredSettingWarning, match="a run of an earlier version: the setting 'rounds' is ignored"):
        article = storm(steady, tmp_path).resume(folder(tmp_path))
    assert text(article) == text(whole)


def test_the_recipe_of_before_is_answered_with_that_of_now() -> None:
    for ask in (lambda: estimate(Settings(), "Silk", recipe="storm+gaps"), lambda: Storm().write("Silk", "storm+gaps")):
        with pytest.raises(SettingsError, match="the recipe 'storm\\+gaps' is called 'storm-iterative' now"):
            ask()


def test_recorded_searches_are_found_by_the_names_that_they_were_recorded_with() -> None:
    recorded = RecordedSearch(None, None, events=None, control=None, settings=Settings(), spec="x")  # type: ignore[arg-type]
    assert {"language", "sources"} <= recorded._identity[1].keys()  # what journals of earlier versions hash
