"""Programs compiled from a user's own articles: examples, metrics, optimisers, journal, and the command."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import dspy
import pytest
from commands import run_storm
from llm import FakeModel
from test_resume import answers
from typer.testing import Result

from storm_pipeline.errors import BudgetSpentError, DatasetError, ModelError, RunError, SettingsError
from storm_pipeline.evidence.retrieval.embedder import HashingEmbedder
from storm_pipeline.models.programs import Programs, read_set
from storm_pipeline.optimize.compiling import JOURNAL, OPTIMIZERS, Job, compile_program, job_for
from storm_pipeline.optimize.metrics import outline_metric
from storm_pipeline.optimize.tasks import read_articles
from storm_pipeline.run.journal import Journal
from storm_pipeline.run.locking import lock_folder
from storm_pipeline.settings import Settings
from storm_pipeline.signatures import outline

TOPICS = [f"Road {name}" for name in "Amber Salt Silk Tea Wine Tin Fur Glass Spice Iron".split()]
EMBED = HashingEmbedder().embed
NAMES = ("Origin", "Trade", "Decline")


def drafted(*titles: str) -> str:
    return json.dumps({"sections": [{"title": title, "subsections": []} for title in titles]})


NAMED = {"DraftOutline": lambda user: drafted(*NAMES[: 2 + len(user) % 2])}
TOLD = f"{outline.DraftOutline.instructions} One word is best."
REFLECTED = {"gepa": f"```\n{TOLD}\n```"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "articles"
    place.mkdir()
    for number, topic in enumerate(TOPICS):
        parts = [f"## {name}\n\n{name} of {topic} is told here in {number}.\n" for name in NAMES]
        (place / f"{number}.md").write_text(f"# {topic}\n\n{topic} is a road.\n\n" + "\n".join(parts), "utf-8")
    return place


def settings(server: FakeModel, **more: Any) -> Settings:
    return Settings.build({"lm": server.lm, "lm_timeout": 30, "seed": 1, **more})


def job(server: FakeModel, folder: Path, program: str = "draft", optimizer: str = "bootstrap", **more: Any) -> Job:
    return job_for(program, read_articles(folder), settings(server, **more), optimizer, candidates=2)


def test_examples_are_the_articles_own_and_no_topic_is_in_two_parts(folder: Path) -> None:
    with FakeModel() as server:
        made = job(server, folder, "draft")
        parts = [{topic for topic, _ in own} for own in (made.split.train, made.split.validation, made.split.held_back)]
        assert sorted(len(part) for part in parts) == [2, 4, 4]
        assert set.union(*parts) == set(TOPICS) and sum(map(len, parts)) == len(TOPICS)
        ((_, (example,)), *_) = made.split.train
        assert [one["title"] for one in example.sections] == ["Origin", "Trade", "Decline"]
        assert set(example.inputs()) == {"topic", "language", "wanted"} == set(outline.DraftOutline.input_fields)


def test_a_judge_learns_from_sentences_as_they_are_and_spoiled(folder: Path, tmp_path: Path) -> None:
    with FakeModel() as server:
        made = job(server, folder, "check", "labeled")
        how = compile_program(made, EMBED, tmp_path / "set")
        ((_, (example, *_)), *_) = made.split.train
        asked = server.of("CheckSentences")
    (own, spoiled) = example.check.splitlines()
    number = re.search(r"\d+", own.partition(". ")[2])
    assert number is not None and f"in {int(number[0]) + 1}. [1]" in spoiled
    assert example.verdicts.splitlines() == ["1: supported", "2: contradicted"]
    assert how.before == 0.5 and asked  # the model finds all supported: right on one kind of two
    compiled = read_set(tmp_path / "set").apply(Programs())
    assert compiled.check.fingerprint != Programs().check.fingerprint


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_each_optimiser_makes_a_set_that_a_run_can_use(folder: Path, tmp_path: Path, optimizer: str) -> None:
    with FakeModel(answers() | NAMED, other=REFLECTED.get(optimizer, "none")) as server:
        made = job(server, folder, optimizer=optimizer, prices=["openai/fake=10/40"])
        how = compile_program(made, EMBED, tmp_path / "set")
        assert len(server.asked) <= made.most_calls
    assert how.optimizer == optimizer
    assert how.dollars is not None and how.dollars > 0
    assert 0 <= how.before <= 1 and 0 <= how.after <= 1
    assert how.interval[0] <= how.after - how.before + 1e-3 and how.interval[1] >= how.after - how.before - 1e-3
    assert how.calls == len(server.asked)
    compiled = read_set(tmp_path / "set").apply(Programs())
    changed = {name for name, one in compiled.fingerprints().items() if one != Programs().fingerprints()[name]}
    assert changed <= {"draft"}
    if optimizer == "labeled":
        assert changed == {"draft"}
    shown = [demo.topic for demo in compiled.draft.predict.demos]
    assert not {*shown} & {topic for topic, _ in made.split.held_back}


def test_a_compilation_that_was_killed_repeats_no_call(folder: Path, tmp_path: Path) -> None:
    with FakeModel(answers() | NAMED) as server:
        whole = compile_program(job(server, folder), EMBED, tmp_path / "whole")
        once = sorted(one.prompt for one in server.asked)
        server.asked.clear()
        with pytest.raises(BudgetSpentError):
            compile_program(job(server, folder, max_tokens=1000), EMBED, tmp_path / "set")
        first = [one.prompt for one in server.asked]
        assert 0 < len(first) < len(once)
        assert not (tmp_path / "set" / "set.json").exists()
        again = compile_program(job(server, folder), EMBED, tmp_path / "set")
        assert sorted(one.prompt for one in server.asked) == once
    assert (again.before, again.after, again.calls) == (whole.before, whole.after, whole.calls)
    assert (tmp_path / "set/draft.json").read_bytes() == (tmp_path / "whole/draft.json").read_bytes()


INPUTS = {"topic": "Amber Road", "language": "", "wanted": "three sections"}
ASKS = f"""
import sys, dspy
from pathlib import Path
from storm_pipeline.models.programs import Programs, read_set
with dspy.context(lm=dspy.LM(sys.argv[2].partition("@")[0], api_base=sys.argv[3], api_key="x", cache=False)):
    read_set(Path(sys.argv[1])).apply(Programs()).draft(**{INPUTS!r})
"""


def test_a_set_copied_to_a_clean_environment_sends_the_same_bytes(folder: Path, tmp_path: Path) -> None:
    with FakeModel(answers() | NAMED) as server:
        compile_program(job(server, folder, optimizer="labeled"), EMBED, tmp_path / "mine")
        shutil.copytree(tmp_path / "mine", tmp_path / "elsewhere" / "theirs")
        (tmp_path / "elsewhere" / "theirs" / JOURNAL).unlink()
        (tmp_path / "home").mkdir()
        lm = dspy.LM(server.lm.partition("@")[0], api_base=server.url, api_key="x", cache=False)
        server.asked.clear()
        with dspy.context(lm=lm):
            read_set(tmp_path / "mine").apply(Programs()).draft(**INPUTS)
        clean = {"HOME": str(tmp_path / "home"), "PATH": os.environ["PATH"]}
        command = [sys.executable, "-I", "-c", ASKS, str(tmp_path / "elsewhere" / "theirs"), server.lm, server.url]
        subprocess.run(command, check=True, env=clean, cwd=tmp_path / "home", timeout=120)
        mine, theirs = (json.dumps(asked.body, ensure_ascii=False) for asked in server.asked)
    assert mine == theirs
    assert "Decline" in mine, "the examples of the set are shown"


def test_a_model_that_cannot_write_instructions_ends_the_work(folder: Path, tmp_path: Path) -> None:
    with FakeModel(answers() | NAMED) as server:
        made = job(server, folder, optimizer="gepa", call_attempts=1)
        with pytest.raises(ModelError, match=r"127\.0\.0\.1:9"):
            compile_program(made, EMBED, tmp_path / "set", reflection_lm="openai/strong@http://127.0.0.1:9/v1")
    assert not (tmp_path / "set" / "set.json").exists()


def test_too_little_is_refused_before_anything_is_asked(folder: Path, tmp_path: Path) -> None:
    with FakeModel() as server:
        with pytest.raises(SettingsError, match="choose among queries, passage_answer"):
            job(server, folder, "nothing")
        with pytest.raises(SettingsError, match="no optimiser 'x'"):
            job(server, folder, optimizer="x")
        for path in sorted(folder.iterdir())[4:]:
            path.unlink()
        with pytest.raises(DatasetError, match="4 of 4 articles have examples"):
            job(server, folder)
        with pytest.raises(DatasetError, match="is no folder"):
            read_articles(tmp_path / "nowhere")
        assert not server.asked


def outlined(*titles: str) -> dspy.Prediction:
    return dspy.Prediction(sections=[{"title": title, "subsections": []} for title in titles])


def test_the_metric_of_outlines_rewards_what_editors_have_and_tells_what_is_missing() -> None:
    metric = outline_metric(EMBED)
    gold = dspy.Example(topic="Silk Road", sections=outlined("Origin", "Trade", "Decline").sections)
    whole, half = metric(gold, outlined("Origin", "Trade", "Decline")), metric(gold, outlined("Origin"))
    assert whole.score == pytest.approx(1.0)
    assert half.score < whole.score
    assert "Trade" in half.feedback and "Decline" in half.feedback
    cluttered = metric(gold, outlined("Origin", "Trade", "Decline", "Origin", "Trade", "Decline"))
    assert cluttered.score < whole.score and "6" in cluttered.feedback


def command(*arguments: str) -> Result:
    return run_storm("compile", *arguments)


def test_the_command_compiles_and_shows(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("storm_pipeline.evidence.retrieval.embedder.shared_embedder", lambda *_: HashingEmbedder())
    with FakeModel(answers() | NAMED) as server:
        done = command("draft", "--train", str(folder), "--lm", server.lm, "--candidates", "1", "--to", "mine")
    assert done.exit_code == 0, done.output
    assert "4 topics (4 examples) to train on, 2 topics (2 examples) to choose by" in done.stderr
    assert "4 topics (4 examples) held back; bootstrap, at most" in done.stderr
    assert "at most" in done.stderr
    shown = command("show", "mine")
    assert "draft" in shown.stdout and "bootstrap" in shown.stdout and "→" in shown.stdout
    (tmp_path / "mine/draft.json").write_text(json.dumps({"predict": {}}), "utf-8")
    tampered = command("show", "mine")
    assert tampered.exit_code == 2
    assert "was changed since it was compiled" in tampered.stderr
    assert "draft" in command("list").stdout and "all with sources, unless --judge off" in command("list").stdout
    refused = command("draft")
    assert refused.exit_code == 2 and "--train" in refused.stderr


def test_a_teacher_has_an_address_and_a_key_of_its_own(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """``--lm`` has an address, a key and a role's model of its own; none of them is the teacher's."""
    monkeypatch.setenv("MINE", "key-of-the-student")
    monkeypatch.setenv("OPENAI_API_KEY", "key-of-openai")
    with FakeModel(answers() | NAMED) as server, FakeModel(answers() | NAMED) as teacher:
        own = {"lm": "openai/student", "api_base": server.url, "api_key_env": "MINE", "outliner_lm": server.lm}
        made = job_for("draft", read_articles(folder), Settings.build(own | {"lm_timeout": 5}), "bootstrap")
        compile_program(made, EMBED, tmp_path / "set", teacher_lm=teacher.lm)
        keys = [{one.headers.get("authorization") for one in each._server.requests} for each in (server, teacher)]
    assert keys == [{"Bearer key-of-the-student"}, {"Bearer key-of-openai"}]


def test_a_set_from_elsewhere_reaches_no_other_file_and_frees_no_cap(folder: Path, tmp_path: Path) -> None:
    made = tmp_path / "set"
    made.mkdir()
    with Journal(made / JOURNAL) as journal:
        for used in ({"cost": -1e9, "tokens_in": -(10**12), "tokens_out": 0}, {"tokens_in": "many"}, {"cost": 1e400}):
            whole = {"stage": "", "role": "writer", "model": "m", "tokens_in": 1, "tokens_cached": 0, "tokens_out": 1}
            journal.add("reply", "forged", {"text": "x", "call": whole | {"seconds": 1.0, "cost": 0.0} | used})
    with FakeModel(answers() | NAMED) as server:
        with pytest.raises(BudgetSpentError):
            compile_program(job(server, folder, max_tokens=1000), EMBED, made)
        asked = len(server.asked)
        mine = tmp_path / "mine.txt"
        mine.write_text("my own text")
        (made / JOURNAL).unlink()
        (made / JOURNAL).symlink_to(mine)
        with pytest.raises(RunError, match="is a link"):
            compile_program(job(server, folder), EMBED, made)
        assert len(server.asked) == asked
    assert mine.read_text() == "my own text"


def test_one_process_at_a_time_compiles_into_a_set(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "set").mkdir()
    held = lock_folder(tmp_path / "set", "compile.lock")
    with FakeModel() as server, pytest.raises(RunError, match="another process"):
        compile_program(job(server, folder), EMBED, tmp_path / "set")
    held.release()


def test_a_link_among_articles_is_not_shown_to_a_model(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("my key")
    (folder / "notes.md").symlink_to(tmp_path / "secret")
    with pytest.raises(DatasetError, match=r"notes\.md is a link"):
        read_articles(folder)
