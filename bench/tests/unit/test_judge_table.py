"""The tables of judges: readers of labelled sentences, and what is counted."""

import gzip
import json
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from judge_doubles import ScriptedSupportJudge

from storm_bench.calibration import cross_validated, over_groups
from storm_bench.datasets.support import is_trained_on, read_attribution_bench, read_wice
from storm_bench.planting import Planted, Supported
from storm_benchmarks import judge_table, screen
from storm_pipeline.judges.base import Question
from storm_pipeline.judges.small import SmallJudge
from storm_pipeline.references.passages import Passage
from storm_pipeline.references.screen import Claim
from storm_pipeline.retrieval.embedder import HashingEmbedder
from storm_pipeline.settings import Settings
from storm_pipeline.types import Snippet


def written(path: Path, *rows: object) -> None:
    with gzip.open(path, "wt", encoding="utf-8") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    tmp_path = tmp_path / "support"
    tmp_path.mkdir()
    wice = {
        "claim": "It has 41 gates.",
        "evidence": ["A dam.", "It has 41 gates, all told."],
        "meta": {"claim_title": "Dam"},
    }
    labels = ("supported", "partially_supported", "not_supported")
    written(tmp_path / "wice_claim_dev.jsonl.gz", *({**wice, "label": label} for label in labels))
    bench = {"claim": "Char swim.", "references": ["Char swim.", " "], "attribution_label": "attributable"}
    rows = [{**bench, "question": q, "src_dataset": name} for q in ("a", "b") for name in ("LFQA", "ExpertQA")]
    written(
        tmp_path / "attributionbench_dev.jsonl.gz",
        *rows,
        {**bench, "question": "b", "references": [], "src_dataset": "LFQA"},
    )
    return tmp_path


def test_published_sentences_are_read(folder: Path) -> None:
    found = read_wice(folder)
    assert [one.label for one in found] == ["supported", "partly", "not"]
    assert (found[0].topic, found[0].sources) == ("Dam", ("A dam.\nIt has 41 gates, all told.",))
    both = read_attribution_bench(folder)
    assert [(one.topic, one.sources, one.label) for one in both] == [
        (q, ("Char swim.",), "supported") for q in ("a", "b")
    ]
    halves = [read_attribution_bench(folder, trained_on=half) for half in (True, False)]
    assert [is_trained_on(one.topic) for own in halves for one in own] == [True, False]


def test_the_citation_check_is_a_judge() -> None:
    judge = judge_table.CheckJudge(HashingEmbedder())
    passage = "The Orrin Dam was built between 1931 and 1936 by two thousand men."
    claims = ("The Orrin Dam was built between 1931 and 1936.", "The Orrin Dam was built between 1931 and 1947.")
    found = judge.judge([Question(claim, (passage,)) for claim in claims])
    assert [one.label for one in found] == ["supported", "not"]
    assert "1947" in found[1].reason


def test_caught_and_wrongly_flagged_are_counted(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pairs = judge_table._planted(judge_table._pools(folder.parent), 1)
    assert {one.kind for one, _ in pairs} == {"number ±1", "number ±10 %", "negation"}
    strict = ScriptedSupportJudge(lambda passage, claim: claim.rstrip(".") in passage)
    judge_table._print_planted(pairs, [strict])
    assert "| all | 3 | 100% | 0% |" in capsys.readouterr().out


def test_a_readers_answers_are_those_of_the_sheet(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pairs = [(Planted("It has 42 gates.", "41 gates.", "number ±1"), Supported("It has 41 gates.", "41 gates."))]
    judge_table._print_sheet(pairs)
    lines = capsys.readouterr().out.splitlines()
    said = {lines[i + 1].split(maxsplit=1)[1]: line for i, line in enumerate(lines) if len(line) == 8}
    answers = tmp_path / "answers.txt"
    answers.write_text(f"{said['It has 41 gates.']} supported\n{said['It has 42 gates.']} contradicted\n")
    assert judge_table._doubts(judge_table.Reader(answers), pairs) == [(True, False)]


def test_thresholds_by_cross_validation() -> None:
    scores, groups = np.array([0.1, 0.3, 0.1, 0.3] * 10), [f"{i}" for i in range(40)]
    assert cross_validated(scores, scores > 0.2, groups).value == 1.0
    assert cross_validated(scores, np.array([True, True, False, False] * 10), groups).value < 0.7
    mean = over_groups(lambda at: float(scores[at].mean()), groups)
    assert mean.low < mean.value < mean.high


def test_what_the_check_and_a_judge_hand_back_of_sentences_that_were_read_is_told() -> None:
    text = "The Orrin Dam was built between 1931 and 1936 by two thousand men."
    shown = (Passage(text, (Snippet("https://example.org/", "", text),)),)
    said = ("built between 1931 and 1936", "built between 1931 and 1947", "not built between 1931 and 1936")
    claims = tuple(Claim(f"The Orrin Dam was {one} by two thousand men.", (0,)) for one in said)
    own = screen.Read("en", "", shown, claims, ("supported", "not", "partly"))
    alone, small = (Settings.build({"writing": "whole", "judge": name}) for name in ("screen", "small"))

    def told(settings: Settings, judge: object, writer: object = None) -> list[screen.Outcome]:
        return list(screen.handed_back(own, settings, judge, HashingEmbedder(), writer))  # type: ignore[arg-type]

    assert [(one.back, one.after) for one in told(alone, None)] == [
        (False, claims[0].text),
        (True, ""),
        (False, claims[2].text),
    ]
    found = told(small, SmallJudge())
    assert [(one.back, one.after) for one in found] == [(False, claims[0].text), (True, ""), (True, "")]
    rows = list(screen.read_rows("small", found))
    assert [row[1:4] for row in rows] == [["en", "not all of it", 2], ["en", "supported", 1]]
    assert [row[4] for row in rows] == ["100% (34%–100%)", "0% (0%–79%)"]

    def answers(*_: object, **inputs: object) -> SimpleNamespace:
        assert "1. The Orrin Dam was built between 1931 and 1947" in str(inputs["remarks"])
        return SimpleNamespace(text=f"1: {claims[0].text} [1]\n2: delete")

    mended = told(small, SmallJudge(), SimpleNamespace(ask=answers))
    assert [(one.back, one.after) for one in mended] == [(False, claims[0].text), (True, claims[0].text), (True, "")]
