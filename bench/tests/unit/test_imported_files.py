"""Imported articles as files of a folder, one per topic."""

from dataclasses import replace
from pathlib import Path

import pytest
from imported_cases import DOCUMENTS, rows

from storm_bench.articles.folder import read_imported
from storm_bench.types import HumanArticle, Topic, TopicDocument
from storm_pipeline.errors import DatasetError

TOPIC = Topic(
    "42",
    "Lake Orrin",
    HumanArticle("Lake Orrin"),
    tuple(TopicDocument(page.url, page.title, page.text) for page in DOCUMENTS),
)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match=r"no article on 'Lake Orrin': put 42\.md"):
        read_imported(tmp_path, TOPIC)
    (tmp_path / "42.md").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(DatasetError, match=r"42\.md cannot be read: .*UTF-8"):
        read_imported(tmp_path, TOPIC)
    (tmp_path / "42.txt").write_text("A lake.", encoding="utf-8")
    with pytest.raises(DatasetError, match=r"several articles on 'Lake Orrin', 42\.md and 42\.txt: remove all but one"):
        read_imported(tmp_path, TOPIC)
    long = replace(TOPIC, title="水" * 200)
    (tmp_path / "42.txt").unlink()
    (tmp_path / "42.md").write_text("A lake.", encoding="utf-8")
    assert rows(read_imported(tmp_path, long)) == [("A lake.", [])]
