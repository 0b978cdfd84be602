"""Figures of Table 7 and histograms, by hand on small articles; and histories kept on disk."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storm_bench.datasets.statistics import (
    ArticleSize,
    EditHistory,
    Table7,
    article_size,
    edit_counts,
    histogram,
    read_histories,
    reference_evolution,
    table_7,
    write_histories,
)
from storm_bench.types import HumanArticle, HumanSection, Topic, TopicDocument
from storm_pipeline.errors import DatasetError

LONG = HumanArticle(
    "Long",
    lead="one two three",
    sections=(HumanSection("A", "four five", (HumanSection("B", "six"),)), HumanSection("C", "", (HumanSection("D"),))),
    references=(TopicDocument("https://a.example", ""), TopicDocument("", "Book")),
    back_matter=(HumanSection("Notes", "seven", (HumanSection("E"),)),),
)
SHORT = HumanArticle("Short", sections=(HumanSection("F", "eight nine"),))
TOPICS = [Topic("1", "Long", LONG), Topic("2", "Short", SHORT)]


def test_sizes_count_as_the_paper_does_with_back_matter_and_without() -> None:
    assert article_size(LONG) == ArticleSize(2, 4, (3, 3), 6, 2)
    assert article_size(LONG, back_matter=True) == ArticleSize(3, 6, (3, 3, 1), 7, 2)


def test_table_7_has_the_means() -> None:
    assert table_7(TOPICS) == Table7(2, 2.0, 3.5, 2.25, 4.5, 1.0)
    assert table_7(TOPICS, back_matter=False) == Table7(2, 1.5, 2.5, 8 / 3, 4.0, 1.0)
    with pytest.raises(DatasetError, match="no topic with text"):
        table_7([])


def test_histograms_count_between_edges() -> None:
    assert histogram([1, 2, 2, 5], [0, 2, 4, 6]).counts == (1, 2, 1)
    assert histogram([1, 3], 2).edges == (1.0, 2.0, 3.0)
    with pytest.raises(DatasetError, match="no values for a histogram"):
        histogram([])
    with pytest.raises(DatasetError, match="history_points above 0"):
        edit_counts([])


@given(st.lists(st.floats(-1e6, 1e6), min_size=1), st.integers(1, 20))
def test_every_value_is_counted(values: list[float], bins: int) -> None:
    assert sum(histogram(values, bins).counts) == len(values)


def test_references_grow_along_the_edits() -> None:
    histories = [EditHistory(10, ((1, 0), (10, 20))), EditHistory(4, ((2, 2), (4, 10))), EditHistory(7)]
    grown = dict(reference_evolution(histories, 3))
    assert grown[0.0] == 1.0, "before the first counted edit its number stands in"
    assert grown[1.0] == 15.0
    assert edit_counts(histories, [0, 5, 10]).counts == (1, 2)
    with pytest.raises(DatasetError, match="history_points above 0"):
        reference_evolution([EditHistory(7)])


def test_histories_are_kept_and_damage_is_named(tmp_path: Path) -> None:
    histories = {"Ä b": EditHistory(3, ((1, 0), (3, 2))), "c": EditHistory(1)}
    assert read_histories(tmp_path) == {}
    write_histories(tmp_path, histories)
    assert read_histories(tmp_path) == histories
    (tmp_path / "histories.jsonl").write_text('{"id": "c", "edits": 1}\n{"id": 3}\n')
    with pytest.raises(DatasetError, match=r"histories\.jsonl is damaged in line 2"):
        read_histories(tmp_path)
