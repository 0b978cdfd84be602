"""Labels that readers gave are added up as they are kept."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from storm_benchmarks.labels import CITATIONS, KEPT, citations, counted, labels
from storm_pipeline.writers.small.statements import _BY_NEARNESS, _LEAST, _OF_A_NAME, _OF_A_NOUN


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


def test_the_embedded_writers_weights_are_those_that_the_labels_give() -> None:
    """Logistic regression of what no reader calls off the topic, as ``writers/small/statements.py`` has it."""
    rows = labels("embedded-statements")
    nouns = np.array([row["topic_is"] == "noun" for row in rows])
    cosines = [[float(row[name]) for row in rows] for name in ("opening", "sentence", "share")]
    facts = [[row[name] == "yes" for row in rows] for name in ("first", "in_title")]
    on_topic = np.array([row["label"] != "off the topic" for row in rows])
    said = np.column_stack([*cosines, *facts, [float(row["late"]) for row in rows]])
    fit = LogisticRegression(C=10, max_iter=1000).fit(np.column_stack([said, nouns]), on_topic)
    *weights, of_noun = fit.coef_[0]
    of_name = float(fit.intercept_[0])
    assert [*weights, of_name, of_name + of_noun] == pytest.approx([*_BY_NEARNESS, _OF_A_NAME, _OF_A_NOUN], abs=0.06)
    told = said @ _BY_NEARNESS + np.where(nouns, _OF_A_NOUN, _OF_A_NAME) >= _LEAST
    assert [row["rule"] for row in rows] == ["told" if one else "left out" for one in told]
