"""The small judge of support: what it is trained on, and that the regression is learnt."""

import gzip
import json
from pathlib import Path

import pytest

from storm_pipeline.judges.base import Question
from storm_pipeline.judges.small import SmallJudge
from storm_training.judge import main, train
from storm_training.judge_data import Example, examples


def written(path: Path, *rows: object) -> None:
    path.parent.mkdir(exist_ok=True)
    with gzip.open(path, "wt", encoding="utf-8") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Of each data set a sentence or two, in the published files' form."""
    support = tmp_path / "support"
    pairs = (("The dam has 4 men.", 1), ("It is new.", 0))
    rows = [{"text_a": "The dam is old.", "text_b": [claim], "orig_label": y} for claim, y in pairs]
    written(support / "factcg_doc.json.gz", *rows)
    tokens = "Char swim in cold deep lakes at night .".split()
    wice = {
        "claim": "Char swim in cold deep lakes at night.",
        "claim_tokens": tokens,
        "non_supported_spans": [token in ("at", "night") for token in tokens],
        "evidence": ["Char."],
        "label": "partially_supported",
        "meta": {"claim_title": "Char"},
    }
    written(support / "wice_tokens_train.jsonl.gz", wice)
    bench = {"claim": "Char swim in 1934.", "references": ["Char swim."], "attribution_label": "attributable"}
    rows = [{**bench, "question": question, "src_dataset": "LFQA"} for question in ("a", "b")]
    written(support / "attributionbench_dev.jsonl.gz", *rows)
    evidence = "[1] https://a.example Char are fish of cold water, and they swim in deep lakes."
    claims = [{"claim_string": "Char are fish.", "evidence": [evidence], "support": "Complete"}]
    questions = [{"question": f"q{i}", "answers": {"a": {"claims": claims}}} for i in range(8)]
    (tmp_path / "expertqa").mkdir()
    (tmp_path / "expertqa" / "rand_val.jsonl").write_text("\n".join(map(json.dumps, questions)))
    return tmp_path


def test_examples_are_labelled_sentences_and_planted_errors_of_the_half_to_train_on(data: Path) -> None:
    found = examples(data, 0, 0)
    assert [(one.question.claim, one.supported) for one in found[:2]] == [
        ("The dam has 4 men.", True),
        ("It is new.", False),
    ]
    assert [one.question.claim for one in found].count("Char swim in 1934.") == 1
    assert 0 < [one.question.claim for one in found].count("Char are fish.") < 8
    planted = examples(data, 0, 1)[len(found) :]
    assert [one.supported for one in planted] == [False, True] * (len(planted) // 2)
    assert planted
    assert examples(data, 0, 1) == [*found, *planted]


def test_of_wice_a_sentence_without_what_is_unsupported_is_supported(data: Path) -> None:
    labels = {one.question.claim: one.supported for one in examples(data, 0, 0)}
    assert labels["Char swim in cold deep lakes at night."] is False
    assert labels["Char swim in cold deep lakes ."] is True


def test_what_is_learnt_tells_the_examples_apart() -> None:
    passage = "The dam was built between 1931 and 1936 by two thousand men."
    claims = {"The dam was built between 1931 and 1936.": True, "The dam was built in 1947.": False}
    chosen = [Example(Question(claim, (passage,)), supported=yes) for claim, yes in claims.items()] * 20
    judge = SmallJudge(regression=train(chosen))
    assert [one.label == "supported" for one in judge.judge([one.question for one in chosen[:2]])] == [True, False]
    assert train(chosen) == train(chosen)


def test_the_command_prints_a_regression(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["--data", str(data), "--planted", "1"])
    assert capsys.readouterr().out.startswith("LEARNT = Regression(bias=")
