"""Sets of outlined answers: the published layouts, the rules of outlines, and test questions kept out."""

import json
import os

import pytest
from hypothesis import given
from hypothesis import strategies as st
from training_helpers import tokenizer

from storm_training.__main__ import app
from storm_training.errors import TrainingError
from storm_training.lfqa import Outlined, Source, build, keeps_rules, prompt, read, read_webcpm, read_webglm, unlike
from storm_training.teachers import written_answers
from storm_training.writers import read_pairs

SOURCE = Source("Why is the sky blue?", ("Air scatters blue light.", "Red light passes."), "Air scatters it.")
GOOD = Outlined("Cause-Effect", ("Scattering [1]", "Passing [2]"), "Blue light is scattered, red light passes.")


def test_webglm_is_read(tmp_path):
    path = tmp_path / "train.jsonl"
    row = {"question": "Why?", "answer": "So[1]. And so[2].", "references": ["One.", " ", "Two."]}
    path.write_text(json.dumps(row) + "\n\n")
    assert read_webglm(path) == [Source("Why?", ("One.", "Two."), "So. And so.")]


def test_webcpm_is_read(tmp_path):
    path = tmp_path / "data.json"
    digests = [{"datas": [{"desc": "天空"}, {"desc": "是蓝的。"}]}, {"datas": [{"desc": "红光。"}]}]
    path.write_text(json.dumps({"data": [{"question": "为什么？", "answer": "因为【1】。", "digests": digests}]}))
    assert read_webcpm(path) == [Source("为什么？", ("天空是蓝的。", "红光。"), "因为。")]


def test_other_layouts_and_empty_materials_are_named(tmp_path):
    path = tmp_path / "x.json"
    path.write_text("[]")
    with pytest.raises(TrainingError, match="layout of WebCPM"):
        read_webcpm(path)
    path.write_text(json.dumps({"question": "Why?", "answer": "So.", "references": [""]}))
    with pytest.raises(TrainingError, match="no materials"):
        read_webglm(path)


@pytest.mark.parametrize(
    "points", [(), ("No number",), ("Two [1] [2]",), ("Absent [3]",), ("Zero [0]",), ("P [1]",) * 6], ids=str
)
def test_a_broken_outline_is_found(points):
    assert keeps_rules(GOOD, SOURCE)
    assert not keeps_rules(Outlined("Parallel", points, "An answer."), SOURCE)


@given(st.text(min_size=1), st.sampled_from(["", " ", "?", "!!"]))
def test_a_test_question_is_kept_out_whatever_its_case_and_punctuation(text, end):
    kept = list(unlike([Source(text.upper() + end, ("x",), "")], [text.upper()]))
    assert not kept or not any(char.isalnum() for char in text.upper())


def test_a_set_is_written_with_the_papers_statistics(tmp_path):
    sources = [SOURCE, Source("Why is the sky  blue", ("x",), ""), Source("How deep is the sea?", ("Deep.",), "Deep.")]
    answers = {SOURCE.question: GOOD, sources[2].question: Outlined("Parallel", ("Depth [7]",), "Deep.")}
    path = tmp_path / "set.jsonl"
    found = build(
        [*sources, Source("Who was first?", ("Ann.",), "Ann was.")],
        lambda source: answers.get(source.question, Outlined("Parallel", ("Ann [1]",), "Ann.")),
        path,
        tests=["WHY IS THE SEA DEEP, how deep is the sea?"],
        count=lambda text: len(text.split()),
    )
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    assert rows[0]["prompt"] == prompt(SOURCE)
    assert rows[0]["response"].splitlines() == [
        *("Structure: Cause-Effect", "Outline:", "Scattering [1]", "Passing [2]"),
        "Answer: Blue light is scattered, red light passes.",
    ]
    assert (found.samples, found.known, found.broken) == (3, 1, 0)
    assert found.outlined == pytest.approx((7 + 1 + 1) / 3)


def test_nothing_left_is_an_error(tmp_path):
    with pytest.raises(TrainingError, match="none of 1"):
        build([SOURCE], lambda _: GOOD, tmp_path / "x", tests=[SOURCE.question], count=len)


@pytest.mark.parametrize("layout", ["webglm", "webcpm"])
@pytest.mark.parametrize("text", [None, "", "{bad", "[1]", "1", '{"data": 1, "question": 2}'])
def test_what_is_not_a_set_is_named(tmp_path, layout, text):
    path = tmp_path / "x.json"
    if text is not None:
        path.write_text(text)
    with pytest.raises(TrainingError, match=r"x\.json"):
        read(path, layout)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes")
def test_a_pipe_without_a_writer_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(TrainingError, match="no question"):
        read(tmp_path / "pipe", "webglm")


def test_data_are_parsed_in_a_process_of_their_own(tmp_path, monkeypatch):
    path = tmp_path / "data.jsonl"
    texts = {"question": "Why?", "answer": "So.", "structure": "Parallel", "prompt": "a\u2028b", "response": "c"}
    path.write_text(json.dumps(texts | {"references": ["One."], "points": ["P [1]"]}, ensure_ascii=False), "utf-8")
    loads = json.loads
    monkeypatch.setattr(
        json,
        "loads",
        lambda text: pytest.fail("parsed here") if "Parallel" in str(text) and "prompt" in str(text) else loads(text),
    )
    assert read(path, "webglm") == [Source("Why?", ("One.",), "So.")]
    assert written_answers(path) == {"Why?": Outlined("Parallel", ("P [1]",), "So.")}
    with pytest.raises(TrainingError, match="none of the 1 pairs"):
        read_pairs(path, tokenizer(), 1)


def test_a_set_is_not_written_through_a_link(tmp_path):
    (tmp_path / "data.jsonl").write_text(json.dumps({"question": "Why?", "answer": "So.", "references": ["One."]}))
    (tmp_path / "mine").write_text("kept")
    (tmp_path / "set.jsonl").symlink_to(tmp_path / "mine")
    command = ["lfqa", str(tmp_path / "data.jsonl"), "--layout", "webglm", "--to", str(tmp_path / "set.jsonl")]
    with pytest.raises(TrainingError, match="is a link"):
        app(command, standalone_mode=False)
    assert (tmp_path / "mine").read_text() == "kept"
