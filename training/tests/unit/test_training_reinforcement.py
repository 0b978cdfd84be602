"""The command that optimises any tuned writer by what a judge finds supported."""

import json

import pytest
from training_helpers import pairs, tokenizer, writer
from typer.testing import CliRunner

from storm_pipeline.evidence.judges.base import Verdict
from storm_training import reinforcement
from storm_training.__main__ import app
from storm_training.errors import TrainingError
from storm_training.export import export_safetensors
from storm_training.lfqa import Source
from storm_training.ppo import PpoSettings
from storm_training.reinforcement import Plan, cell_of, questions, reinforce

QUESTIONS = [f"Where is town {number} with {'pots rugs lamps'.split()[number % 3]}?" for number in range(12)]


class Short:
    """Supports a sentence of an even number of characters."""

    name, threshold, parameters = "short", 1.0, {}

    def judge(self, questions):
        return [Verdict(*(("not", 0.0) if len(question.claim) % 2 else ("supported", 1.0))) for question in questions]


@pytest.fixture
def data(tmp_path):
    path = tmp_path / "webglm.jsonl"
    rows = [{"question": question, "answer": "There.", "references": ["It is there."]} for question in QUESTIONS]
    path.write_text("\n".join(map(json.dumps, rows)))
    (tmp_path / "tests.txt").write_text("\n".join(QUESTIONS[:2]))
    return path


def sources(names):
    return [Source(name, (pairs()[0][0].prompt,), "") for name in names]


def plan(cell="sentence+token", **ppo):
    settings = {"iterations": 2, "batch": 4, "minibatch": 2, "most_tokens": 24} | ppo
    return Plan(cell_of(cell), PpoSettings(**settings), samples=2, lora=4)


def optimised(folder, chosen, **more):
    asked, tests = (questions(sources(part), tokenizer(), Short(), chosen) for part in (QUESTIONS[2:], QUESTIONS[:2]))
    return reinforce(writer(), asked, tests, chosen, folder, **more)


@pytest.mark.parametrize("cell", ["holistic", "sentence+token", "subclaim"])
def test_a_writer_is_optimised_and_measured_before_and_after(tmp_path, cell):
    said = []
    _, figures = optimised(tmp_path, plan(cell), say=said.append)
    assert figures == json.loads((tmp_path / "figures.json").read_text())
    assert figures["rounds"] == 2
    for when in ("before", "after"):
        rows = [json.loads(line) for line in (tmp_path / f"answers-{when}.jsonl").read_text().splitlines()]
        assert [row["question"] for row in rows] == QUESTIONS[:2]
        labels = [label for row in rows for label in row["labels"]["short"]]
        assert labels == [1.0 - len(text) % 2 for row in rows for text in row["sentences"]]
        assert figures[f"{when} short by_sentence"] == pytest.approx(sum(labels) / max(1, len(labels)))
    assert 0 <= figures["ranking"] <= 1
    assert len(said) == 3
    assert (tmp_path / "ppo" / "curve.csv").read_text().count("\n") == 3


def test_a_killed_run_goes_on_to_the_same_figures(tmp_path):
    whole = optimised(tmp_path / "whole", plan(save_every=1))[1]
    optimised(tmp_path / "killed", plan(save_every=1, iterations=1))
    assert optimised(tmp_path / "killed", plan(save_every=1))[1] == whole


def test_questions_that_are_too_long_are_left_out():
    with pytest.raises(TrainingError, match="at most 3 tokens"):
        questions(sources(QUESTIONS), tokenizer(), Short(), Plan(cell_of("sentence"), PpoSettings(), longest=3))


def test_the_command_writes_what_the_embedded_server_runs(tmp_path, data, monkeypatch):
    monkeypatch.setattr(reinforcement, "judge_of", lambda name: {"short": Short()}[name])
    base = export_safetensors(writer(), tokenizer(), tmp_path / "base")
    options = ["--layout", "webglm", "--tests", str(tmp_path / "tests.txt"), "--to", str(tmp_path / "out")]
    options += ["--judge", "short", "--rounds", "1", "--batch", "4", "--most", "16", "--samples", "2"]
    found = CliRunner().invoke(app, ["reinforce", str(base), str(data), *options])
    assert found.exit_code == 0, found.output
    assert "the reward model ranks" in found.output
    assert "reward model sentence+token: a segment's reward is that of the mean of its tokens" in found.output
    assert "β 0.05 a token's KL, clip 0.2, γ 1, λ 0.95, stops above a KL of 30 nats an answer" in found.output
    assert (tmp_path / "out" / "writer.gguf").read_bytes().startswith(b"GGUF")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"--cell": "paragraph"}, "holistic.token"),
        ({"--tests": "none.txt"}, "0 are test questions"),
        ({"--judge": "nobody"}, "nobody"),
        ({"--device": "nowhere"}, "nowhere"),
    ],
)
def test_what_there_is_not_is_named(tmp_path, data, change, said):
    (tmp_path / "none.txt").write_text("Who?")
    base = export_safetensors(writer(), tokenizer(), tmp_path / "base")
    options = {"--layout": "webglm", "--tests": "tests.txt", "--to": str(tmp_path / "out")} | change
    options["--tests"] = str(tmp_path / options["--tests"])
    found = CliRunner().invoke(
        app, ["reinforce", str(base), str(data), *(part for pair in options.items() for part in pair)]
    )
    assert found.exit_code == 1
    assert said.replace(".", "+") in str(found.exception)
