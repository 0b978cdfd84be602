"""Readings of pairs of answers are added up by method, whichever place an answer had in its pair."""

import json
from pathlib import Path

from storm_bench.datasets.expertqa import read_expertqa
from storm_benchmarks.answer_readings import READINGS, table
from storm_benchmarks.answers import drawn

PAIR = {
    "order": ["plain_answer", "answer"],
    "tokens": {"answer": [300, 50], "plain_answer": [100, 40]},
    "words": {"answer": 90, "plain_answer": 80},
    "A": {"coherence": 3, "helpfulness": 4, "sentences": 4, "wrong": [2]},
    "B": {"coherence": 5, "helpfulness": 4, "sentences": 5, "wrong": []},
    "better": "B",
}
OTHER = {**PAIR, "order": ["answer", "plain_answer"], "better": ""}


def test_a_pair_counts_for_the_methods_behind_its_letters() -> None:
    shown = table([{"writer": "m", "reader": "blind", "pairs": [PAIR, OTHER]}]).splitlines()
    assert shown[2:] == [
        "| m | blind | answer | 2 | 0.50 | 1.00 | 0.50 | 0.89 | 90 | 300 | 50 | 1 |",
        "| m | blind | plain_answer | 2 | 0.50 | 1.00 | 0.50 | 0.89 | 80 | 100 | 40 | 0 |",
    ]


def test_an_answer_that_was_not_written_counts_in_no_share() -> None:
    half = {**PAIR, "B": None, "tokens": {"plain_answer": [100, 40]}, "words": {"plain_answer": 80}, "better": "A"}
    shown = table([{"writer": "m", "reader": "blind", "pairs": [PAIR, half]}]).splitlines()
    assert shown[2:] == [
        "| m | blind | answer | 1 | 1.00 | 1.00 | 1.00 | 1.00 | 90 | 300 | 50 | 1 |",
        "| m | blind | plain_answer | 2 | 0.00 | 1.00 | 0.00 | 0.75 | 80 | 100 | 40 | 1 |",
    ]


def test_the_kept_readings_can_be_added_up_and_are_what_the_page_shows() -> None:
    page = (READINGS.parents[2] / "docs" / "answers.md").read_text(encoding="utf-8")
    assert table(json.loads(READINGS.read_text(encoding="utf-8"))) in page


def test_questions_are_drawn_with_all_their_evidence(tmp_path: Path) -> None:
    def claim(number: int, evidence: list[str]) -> dict[str, object]:
        return {"claim_string": f"Claim {number} is so.", "evidence": evidence, "support": "Complete"}

    texts = [f"https://e.org/{n}\n\nThe page with number {n} says at length what it knows of it all." for n in range(4)]
    rows = [
        {
            "question": "Rich?",
            "answers": {"a": {"claims": [claim(n, [text, texts[0]]) for n, text in enumerate(texts)]}},
        },
        {"question": "Poor?", "answers": {"a": {"claims": [claim(1, texts[:2])]}}},
        {"question": "Long" * 80, "answers": {"a": {"claims": [claim(1, texts)]}}},
    ]
    (tmp_path / "expertqa").mkdir()
    (tmp_path / "expertqa" / "rand_val.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    assert len(read_expertqa(tmp_path / "expertqa")) == 6
    ((question, found),) = drawn(tmp_path, 1, seed=1).items()
    assert question == "Rich?"
    assert sorted(one.url for one in found) == [f"https://e.org/{n}" for n in range(4)]
