"""``storm init`` and ``storm doctor``."""

import os
import tomllib
from pathlib import Path

import pytest
from commands import run_storm as run
from llm import completion
from refusing import claude_45, openai_error, openai_wire
from servers import Reply, ScriptedServer, closed_port

from storm_pipeline.interfaces.configuration.diagnosis import diagnose
from storm_pipeline.settings import Settings
from storm_pipeline.sources.search.registry import Choice

FILE = Path("home/storm.toml")
"""The user's, from the folder that the tests work in."""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, no_keys: None) -> Path:
    """An empty folder to work in, without keys, and a network that is down."""
    for name in [name for name in os.environ if name.startswith("STORM_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("STORM_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    offline = Choice("wiki-leads", "since the network cannot be reached", offline=True)
    for module in ("storm_pipeline.sources.search.registry", "storm_pipeline.interfaces.configuration.diagnosis"):
        monkeypatch.setattr(f"{module}.choose", lambda: offline)
    return tmp_path


def written() -> dict[str, object]:
    return tomllib.loads(FILE.read_text("utf-8"))


def test_five_answers_are_written(folder: Path) -> None:
    result = run("init", input="gpt-4o\nwikipedia\nde\n1500\n0.5\n")
    assert result.exit_code == 0, result.stderr
    assert written() == {
        "lm": "openai/gpt-4o",
        "search": "wikipedia",
        "article_language": "de",
        "length": "1500",
        "max_cost": 0.5,
    }
    assert result.stdout.splitlines()[-1] == str(folder / FILE)
    assert "still to do: no key set for openai/gpt-4o: set OPENAI_API_KEY" in result.stderr


def test_a_wrong_answer_is_asked_for_again() -> None:
    result = run("init", input="embedded\nauto\ngerman\nde\nstandard\n\n")
    assert result.exit_code == 0, result.stderr
    assert "'article_language' cannot be 'german'" in result.stderr
    assert written() == {"lm": "embedded", "search": "auto", "article_language": "de", "length": "standard"}


def test_a_configuration_is_not_overwritten_unasked() -> None:
    FILE.parent.mkdir()
    FILE.write_text("turns = 3\n")
    result = run("init", "--yes")
    assert (result.exit_code, written()) == (2, {"turns": 3})
    assert "--force" in result.stderr
    assert run("init", "--yes", "--force").exit_code == 0
    assert "turns" not in written()


def test_an_interrupted_question_writes_nothing(folder: Path) -> None:
    result = run("init", input="gpt-4o\n")
    assert result.exit_code == 130
    assert result.stderr.endswith("interrupted\n")
    assert not (folder / FILE).exists()


def test_the_doctor_shows_settings_with_their_place_and_what_is_missing() -> None:
    assert run("init", input="gpt-4o\nyou\nde\n1500\n0.5\n").exit_code == 0
    Path("storm.toml").write_text('length = "short"\n')
    result = run("doctor", "--turns", "3", "--no-call")
    assert result.exit_code == 1
    for said in (
        *(str(FILE), " storm.toml", "the command line", "no key set for openai/gpt-4o: set OPENAI_API_KEY"),
        "no key set for the search engine `you`: set YDC_API_KEY",
    ):
        assert said in result.stdout


def test_the_doctor_is_content_with_what_is_set_up(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    (folder / "notes").mkdir()
    (folder / "notes" / "a.txt").write_text("Silk was traded for horses.")
    result = run("doctor", "--no-call", "--lm", "gpt-4o", "--search", "corpus:notes")
    assert result.exit_code == 0, result.stdout
    assert "OPENAI_API_KEY is set" in result.stdout
    assert "MB to download" in result.stdout


def states(**values: object) -> dict[str, str]:
    return {one.subject: one.state for one in diagnose(Settings.build(values))}


ANSWERS: dict[str, tuple[Reply, str, str]] = {
    "a reply": (Reply(body=completion("Yes")), "ok", "it replies; no key is sent"),
    "an empty reply": (Reply(body=completion("")), "ok", "it replies; no key is sent"),
    "a thinker": (openai_error("Could not finish the message because max_tokens was reached."), "ok", "it replies"),
    "another path": (
        Reply(404, {"detail": "Not Found"}),
        "missing",
        "check the model's name and the path of --api-base",
    ),
    "a site": (Reply(404, "<html>Not found</html>"), "missing", "with a web page, not a completion: check --api-base"),
    "another site": (Reply(200, "<!DOCTYPE html>Hi"), "missing", "with a web page, not a completion: check --api-base"),
    "no key": (Reply(401, {"error": {"message": "bad key"}}), "missing", "refuses the key for openai/a: set the"),
    "too many": (Reply(429, {"error": {"message": "slow down"}}), "missing", "slow down; lower --workers or wait"),
    "no list": (Reply(200, {"data": []}), "missing", "openai/a at http"),
}
"""What answers at a model's address, and what is said of it."""


@pytest.mark.parametrize("case", ANSWERS)
def test_models_are_asked_for_a_few_tokens(case: str) -> None:
    reply, state, says = ANSWERS[case]
    with ScriptedServer(reply) as server:
        shown = run("doctor", "--search", "wiki-leads", "--lm", f"openai/a@{server.url}/v1", "--max-tokens", "1").stdout
        assert {one.json["max_completion_tokens"] for one in server.requests if "max_tokens" not in one.json} == {16}
        assert len(server.requests) == (2 if case == "a thinker" else 1)
        (line,) = (line for line in shown.splitlines() if "model openai/a" in line)
        assert line.startswith(state) and says in line
        run("doctor", "--no-call", "--lm", f"openai/a@{server.url}/v1")
        assert len(server.requests) == (2 if case == "a thinker" else 1)


def test_each_model_is_asked_where_it_is() -> None:
    with ScriptedServer(Reply(body=completion("Yes"))) as up, closed_port() as down:
        found = diagnose(Settings(lm=f"openai/a@{up.url}/v1", writer_lm=f"openai/b@{down}/v1"), call=True)
    models = [one for one in found if one.subject.startswith("model openai/")]
    assert [one.state for one in models] == ["ok", "missing"]
    assert "check that the endpoint runs and that --api-base is its address" in models[1].detail


def test_what_a_model_refuses_is_said() -> None:
    with ScriptedServer(openai_wire(claude_45)) as server:
        lm = f"openai/a@{server.url}/v1"
        assert "it replies; openai/a refuses top_p: its calls leave it out" in run("doctor", "--lm", lm).stdout
        chosen = run("doctor", "--lm", lm, "--temperature", "1", "--top-p", "0.5").stdout
        assert "refuses --top-p 0.5" in chosen and "leave it out with --top-p none" in chosen


def test_a_provider_that_could_be_used_is_noted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    assert states()["model openai/gpt-4o"] == "note"
    assert "model openai/gpt-4o" not in states(lm="embedded")


@pytest.mark.parametrize(
    ("values", "subject"),
    [
        *(({"search": "corpus:nowhere"}, "search corpus:nowhere"), ({"out": "file/runs"}, "folder of runs")),
        *(({"lm": "gguf:nowhere.gguf"}, "model gguf:nowhere.gguf"), ({"lm": "embedded:9b"}, "model embedded:9b")),
    ],
)
def test_what_is_missing(folder: Path, values: dict[str, str], subject: str) -> None:
    (folder / "file").write_text("no folder")
    assert states(**values)[subject] == "missing"


@pytest.mark.parametrize("leads", ["nowhere", "mine.txt"])
def test_a_link_is_replaced_and_not_followed(folder: Path, leads: str) -> None:
    (folder / "mine.txt").write_text("my own text")
    FILE.parent.mkdir()
    FILE.symlink_to(folder / leads)
    assert run("init", "--yes", "--force").exit_code == 0
    assert written()["lm"] == "embedded"
    assert not FILE.is_symlink()
    assert (folder / "mine.txt").read_text() == "my own text" and not (folder / "nowhere").exists()


def test_a_folder_that_cannot_be_written_is_named(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("storm_pipeline.text.files.write_atomically", refuse)
    result = run("init", "--yes")
    assert result.exit_code == 2
    assert f"cannot write {folder / FILE}: Permission denied" in result.stderr
