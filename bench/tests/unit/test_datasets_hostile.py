"""Data sets whose files would take hours or gigabytes to read, as a stranger may write them."""

import gzip
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from storm_bench.articles.data_set import system_article
from storm_bench.datasets import training
from storm_bench.datasets.expertqa import read_expertqa
from storm_bench.datasets.freshwiki import read_freshwiki
from storm_bench.datasets.storm_runs import read_storm_run
from storm_bench.datasets.wiki_live import read_wiki_live
from storm_bench.datasets.wikigenbench import read_wikigenbench
from storm_bench.types import CitedStatement, HumanArticle, SystemArticle, Topic
from storm_pipeline.errors import DatasetError
from storm_pipeline.sources.documents.isolated import reading

WITHOUT_END = "takes more than .* to read"
GIGABYTES = "[" + "{}," * 15_000_000 + "0]"
PAGE = {"key": "Lake", "text": "A lake.", "outlines": ["Dam"], "contents": ["Its dam.\n" * 400_000]}
LIVE = {"title": "Lake", "article": "A lake.", "statements": ["It is a lake."]}
LIVE |= {"pages": [{"url": "https://lake.example", "text": "[" * 1_900_000}]}


def written(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress(text.encode(), 1) if path.suffix == ".gz" else text.encode())
    return path


@pytest.mark.parametrize(
    ("read", "name", "text", "why"),
    [
        (read_wikigenbench, "wiki/1.json", json.dumps(PAGE), WITHOUT_END),
        (read_wiki_live, "Lake.json.gz", json.dumps(LIVE), WITHOUT_END),
        (read_expertqa, "rand_val.jsonl", GIGABYTES, WITHOUT_END),
        (training.wice, "wice_claim_dev.jsonl.gz", GIGABYTES, WITHOUT_END),
        (read_expertqa, "rand_val.jsonl", "[" * 200_000, "is not ExpertQA's"),
        (training.wice, "wice_claim_dev.jsonl.gz", "[" * 200_000, "is damaged"),
        (training.wice, "wice_claim_dev.jsonl.gz", '{"meta": {"claim_title": "a", "claim_section": 3}}', "is damaged"),
    ],
    ids=["heading's text", "brackets", "objects", "packed objects", "lists in lists", "packed lists", "a number"],
)
def test_no_file_takes_hours_or_gigabytes(
    read: Callable[[Path], object], name: str, text: str, why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "_seconds", 1.0)  # seconds beside those for the megabytes
    written(tmp_path / name, text)
    with pytest.raises(DatasetError, match=why):
        read(tmp_path)


def test_a_damaged_file_costs_its_topic_alone(tmp_path: Path) -> None:
    written(tmp_path / "json" / "Deep.json", '{"title": "x", "content": [' * 5000)
    written(tmp_path / "json" / "Lake.json", '{"title": "Lake", "summary": "A lake.", "content": []}')
    found = read_freshwiki(tmp_path)
    assert [topic.id for topic in found.topics] == ["Lake"] and "Deep.json is damaged" in found.problems[0]


def test_a_run_of_a_thousand_levels_is_read(tmp_path: Path) -> None:
    written(tmp_path / "url_to_info.json", '{"url_to_info": {}, "url_to_unified_index": {}}')
    written(tmp_path / "storm_gen_article.txt", "\n".join(f"{'#' * level} Lake" for level in range(1, 1500)))
    assert read_storm_run(tmp_path)


def test_no_systems_article_takes_hours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "_seconds", 1.0)
    own = SystemArticle("alpha", "[" * 1_000_000, (CitedStatement("It is a lake."),))
    with pytest.raises(DatasetError, match=f"'alpha' cannot be read: it {WITHOUT_END}"):
        system_article(Topic("1", "Lake", HumanArticle("Lake"), (), (own,)), "alpha")
