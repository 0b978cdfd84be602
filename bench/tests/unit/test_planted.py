"""Planted errors, and labels that readers gave."""

import random
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storm_benchmarks import planted, planted_articles
from storm_benchmarks.labels import CITATIONS, KEPT, citations, counted, labels
from storm_benchmarks.planting import RULES
from storm_pipeline.evidence.judges.base import Question

SENTENCE = "In 1931 the Orrin Company was paid 4,200 pounds by Lord Selby for two thousand days of work on 41 gates."
OTHER = "The lake near Valmere is deep."


@pytest.mark.parametrize("kind", RULES)
def test_each_kind_changes_a_sentence_that_offers_a_place_and_leaves_others(kind: str) -> None:
    changed = RULES[kind](SENTENCE, OTHER, random.Random(0))
    assert changed is not None and changed != SENTENCE
    assert RULES[kind]("they went home.", OTHER, random.Random(0)) is None


@given(st.text(max_size=60), st.sampled_from(sorted(RULES)), st.integers(0, 99))
def test_an_error_is_no_repetition_of_the_sentence(text: str, kind: str, seed: int) -> None:
    assert RULES[kind](text, OTHER, random.Random(seed)) != text or kind == "name"


def test_the_table_has_a_row_for_each_set_with_the_share_that_each_judge_faults() -> None:
    clean = planted.Cited(SENTENCE, (SENTENCE,), OTHER)
    sets = {kind: [one.question for one in planted.planted([clean], kind, 5, random.Random(0))] for kind in RULES}
    sets |= {"wrong citation": [planted.planted([clean], "wrong citation", 5, random.Random(0))[0].question]}
    sets |= {"clean": [clean.question, clean.question]}

    def changed(some: Sequence[Question]) -> list[bool]:
        return [one.claim not in one.passages for one in some]

    rows = list(planted.table(sets, {"one": changed, "other": lambda some: [False for _ in some]}, random.Random(0)))
    assert [row[:2] for row in rows] == [*([kind, 1] for kind in (*RULES, "wrong citation")), ["clean", 2]]
    assert {tuple(row[2:]) for row in rows[:-1]} == {("100.0%", "0.0%")}
    assert rows[-1][2:] == ["0.0%", "0.0%"]


def test_the_planted_sentences_are_of_all_kinds_and_say_something_else() -> None:
    rows = labels("planted-sentences")
    assert len(rows) == len({(row["article"], row["sentence"]) for row in rows}) == 30
    assert len({row["kind"] for row in rows}) == 7
    assert all(bool(row["text"]) == (row["kind"] != "wrong citation") for row in rows)


def test_caught_is_what_a_judge_faults_and_nothing_that_none_judged() -> None:
    verdicts = dict(enumerate(("partly", "supported", "unjudged", "not found", "on topic", "not")))
    rows = list(planted_articles.score({0: "a", 1: "a", 2: "b", 3: "b"}, verdicts))
    assert rows[:3] == [("a", 2, "1 (50.0%)"), ("b", 2, "1 (50.0%)"), ("all", 4, "2 (50.0%)")]
    assert rows[3] == (planted_articles.CLEAN, 2, "1 (50.0%)")


def test_labels_are_counted_by_the_columns_that_are_named() -> None:
    rows = [{"article": "b", "label": "stated"}, *[{"article": "a", "label": label} for label in ("absent", "stated")]]
    assert counted(rows, ("article",)) == (
        ["article", "labels", "absent", "stated"],
        [["a", 2, "1 (50.0%)", "1 (50.0%)"], ["b", 1, "0 (0.0%)", "1 (100.0%)"]],
    )


def test_recall_is_of_sentences_and_precision_of_citations() -> None:
    rows = [
        {"article": "a", "citations": "2", "supporting": "1", "label": "supported"},
        {"article": "a", "citations": "2", "supporting": "2", "label": "partly"},
        {"article": "a", "citations": "0", "supporting": "0", "label": "uncited"},
    ]
    assert citations(rows) == [["a", "33.3% of 3", "75.0% of 4"]]


@pytest.mark.parametrize("name", KEPT)
def test_each_item_of_an_article_is_labelled_once(name: str) -> None:
    rows = labels(name)
    items = [tuple(value for key, value in row.items() if key not in {"label", "error"}) for row in rows]
    assert rows
    assert len(items) == len(set(items))
    assert all(row["label"] for row in rows)


@pytest.mark.parametrize("name", CITATIONS)
def test_a_sentence_that_fails_has_a_class_and_no_other(name: str) -> None:
    for row in labels(name):
        assert bool(row["error"]) == (row["label"] != "supported")
        assert int(row["supporting"]) <= int(row["citations"])
        assert (row["label"] == "uncited") == (row["citations"] == "0")
