"""Sets of outlined answers as a command, by a teacher behind the wire format of a model's server."""

import json

import pytest
from llm import FakeModel
from typer.testing import CliRunner

from storm_training.__main__ import app
from storm_training.errors import TrainingError
from storm_training.lfqa import read
from storm_training.teachers import written_answers


@pytest.fixture
def data(tmp_path):
    path = tmp_path / "webglm.jsonl"
    rows = [
        {"question": "Why is the sky blue?", "answer": "It scatters[1].", "references": ["Air scatters blue light."]},
        {"question": "Why is the sea salty?", "answer": "Rivers[1] do.", "references": ["Rivers bring salt.", "Salt."]},
        {"question": "How old is the moon?", "answer": "Old.", "references": ["The moon is old."]},
    ]
    path.write_text("\n".join(map(json.dumps, rows)))
    return path


def taught(user):
    """Two points on the sea, of which one names both materials; of the moon an outline without a point."""
    sea = [{"text": "Rivers bring it", "passages": [1]}, {"text": "It stays", "passages": [2, 1]}]
    points = sea if "salty" in user else [] if "moon" in user else [{"text": "Air scatters", "passages": [1]}]
    return json.dumps({"pattern": "cause-effect", "points": points})


def built(server, data, *more):
    path = data.with_name("set.jsonl")
    found = CliRunner().invoke(
        app, ["lfqa", str(data), "--layout", "webglm", "--to", str(path), "--lm", server.lm, *more]
    )
    assert found.exit_code == 0, found.output
    return found.output, [json.loads(line) for line in path.read_text().splitlines()]


def model():
    return FakeModel({"OutlineText": taught, "AnswerQuestion": "Rivers bring salt [1]. It stays there [1][2]."})


def test_a_teachers_answers_are_written_with_their_statistics(data):
    with model() as server:
        output, rows = built(server, data)
    assert rows[1]["response"].splitlines() == [
        *("Structure: cause-effect", "Outline:", "Rivers bring it [1]", "It stays [2]"),
        "Answer: Rivers bring salt. It stays there.",
    ]
    assert rows[1]["prompt"].endswith("[1] Rivers bring salt.\n[2] Salt.\n")
    assert "| 5.0 | 2.0 | 6.0 | 2 |" in output
    assert "1 broken outlines" in output


def test_test_questions_are_kept_out_and_a_second_call_asks_nothing(data, tmp_path):
    tests = tmp_path / "tests.txt"
    tests.write_text("why is the SKY blue\n")
    with model() as server:
        first = built(server, data, "--tests", str(tests), "--questions", "2")
        asked = len(server.asked)
        assert built(server, data, "--tests", str(tests), "--questions", "2") == first
    assert [len(first[1]), len(server.asked)] == [1, asked]
    assert "Why is the sky" not in str(server.asked)


def test_a_reply_that_could_not_be_read_is_asked_again(data):
    outlines = ["no"]
    answers = {"OutlineText": lambda user: (outlines or [taught(user)])[0], "AnswerQuestion": "It does [1]."}
    path = data.with_name("set.jsonl")
    with FakeModel(answers) as server:
        found = CliRunner().invoke(app, ["lfqa", str(data), "--layout", "webglm", "--to", str(path), "--lm", server.lm])
        assert "none of 3 questions is left" in str(found.exception)
        outlines.clear()
        assert len(built(server, data)[1]) == 2


def test_written_answers_stand_in_for_a_teacher(data, tmp_path):
    path = tmp_path / "answers.jsonl"
    row = {"question": "Why is the sea salty?", "structure": "cause-effect", "points": ["Salt [2]"], "answer": "Salt."}
    path.write_text(json.dumps(row))
    with model() as server:
        output, rows = built(server, data, "--answers", str(path))
    assert not server.asked
    assert [row["response"] for row in rows] == ["Structure: cause-effect\nOutline:\nSalt [2]\nAnswer: Salt."]
    assert "| 5.0 | 2.0 | 1.0 | 1 |" in output


def test_written_answers_of_another_form_are_named(tmp_path):
    (tmp_path / "answers.jsonl").write_text('{"question": "Why?"}')
    with pytest.raises(TrainingError, match=r"answers.jsonl does not hold answers"):
        written_answers(tmp_path / "answers.jsonl")


def test_expertqas_evidence_is_read_as_materials(tmp_path):
    long = "https://a.example/x Rivers carry salt from rocks to the sea and it stays there for long."
    claim = {"claim_string": "Rivers do.", "evidence": [long, long], "support": "Complete"}
    row = {"question": "Why is the sea salty?", "answers": {"a": {"claims": [claim, claim]}}}
    (tmp_path / "rand_val.jsonl").write_text(json.dumps(row))
    (found,) = read(tmp_path, "expertqa")
    assert found.materials == ("Rivers carry salt from rocks to the sea and it stays there for long.",)
