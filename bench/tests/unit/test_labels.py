"""Labels that readers gave are added up as they are kept."""

import pytest

from storm_benchmarks.labels import CITATIONS, KEPT, citations, counted, labels


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
