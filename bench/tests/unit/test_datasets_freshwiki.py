"""FreshWiki as published: reading small made-up trees, mending their faults, and naming what is damaged."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from special_files import special_file

from storm_bench.datasets.built import file_name
from storm_bench.datasets.dataset import read_json
from storm_bench.datasets.freshwiki import read_freshwiki
from storm_bench.types import HumanSentence, TopicDocument
from storm_pipeline.errors import DatasetError

NEWS = "https://news.example/1"


def section(title: str, *sentences: Any, below: tuple[Any, ...] = ()) -> dict[str, Any]:
    said = [{"sentence": text, "refs": []} if isinstance(text, str) else text for text in sentences]
    return {"section_title": title, "section_content": said, "subsections": list(below)}


PAGE = {
    "title": "Salt_and_or_pepper",
    "url": "https://en.wikipedia.org/wiki/Salt_and/or_pepper",
    "summary": "Salt is\u00a0a mineral.[a] Pepper [sic] is not.",
    "content": [
        section(
            "Trade_routes[edit]".replace("[edit]", ""),
            {"sentence": "Caravans carried salt[nb 2] north", "refs": [NEWS, "[ERROR retrieving ref link]", NEWS]},
            'They called it "white gold."',
            "  ",
            "Was it dear?",
            below=(section("Tolls", "Clerks took a tenth [of it]"), section("Notes", "x")),
        ),
        section("Trade", below=(section("Tolls", "Clerks took a tenth [of it]"),)),
        section("References"),
        section("External links", below=(section("Maps"),)),
    ],
    "references": {"1": NEWS, "2": "ISBN: 978-0-00", "3": "[ERROR retrieving ref link]"},
    "flair_entities": ["Salt", "salt ", "north sea", ""],
}


def tree(folder: Path, **pages: Any) -> Path:
    (folder / "json").mkdir(exist_ok=True)
    for name, page in pages.items():
        text = page if isinstance(page, str) else json.dumps(page)
        (folder / "json" / f"{name}.json").write_text(text, encoding="utf-8")
    return folder


def test_an_article_is_read_with_its_tree_sentences_and_references(tmp_path: Path) -> None:
    (topic,) = read_freshwiki(tree(tmp_path, Salt=PAGE)).topics
    human = topic.human
    assert (topic.id, topic.title, human.url) == ("Salt", "Salt and/or pepper", PAGE["url"])
    assert human.lead == "Salt is a mineral. Pepper [sic] is not."
    assert human.headings() == ("Trade routes", "Tolls", "Trade", "Tolls")
    assert human.sections[0].text == 'Caravans carried salt north. They called it "white gold." Was it dear?'
    assert human.sections[0].sentences[0] == HumanSentence("Caravans carried salt north.", (NEWS,))
    assert human.references == (TopicDocument(NEWS, ""), TopicDocument("", "ISBN: 978-0-00"), TopicDocument("", ""))
    assert [part.heading for back in human.back_matter for part in back.walk()] == [
        "References",
        "External links",
        "Maps",
    ]
    assert human.entities == ("salt", "north sea")
    assert topic.documents == ()


def test_text_repeated_under_equal_headings_is_kept_under_the_last(tmp_path: Path) -> None:
    data = read_freshwiki(tree(tmp_path, Salt=PAGE))
    first, last = (s.subsections[0] for s in data.topics[0].human.sections)
    assert (first.text, first.sentences) == ("", ())
    assert last.text == "Clerks took a tenth [of it]."
    assert data.problems == (
        f"repaired: {tmp_path / 'json/Salt.json'} has the same text under all headings 'Tolls'; kept under the last",
    )


DAMAGED = {
    "cut": '{"title": "x", "content": [',
    "list": "[1, 2]",
    "text": json.dumps(PAGE | {"content": [{"section_title": 3}]}),
    "nothing": json.dumps(PAGE | {"content": [], "summary": " "}),
    "deep": '{"title": "x", "content": ' + "[" * 100_000,
    "deeper": '{"title":"x","content":[' + '{"section_title":"a","subsections":[' * 900 + "]}" * 900 + "]}",
}


@pytest.mark.parametrize("name", sorted(DAMAGED))
def test_damaged_files_are_named_and_skipped_or_refused(name: str, tmp_path: Path) -> None:
    folder = tree(tmp_path, good=PAGE, **{name: DAMAGED[name]})
    data = read_freshwiki(folder)
    assert [topic.id for topic in data.topics] == ["good"]
    (skipped,) = [problem for problem in data.problems if problem.startswith("skipped")]
    assert f"{name}.json" in skipped
    with pytest.raises(DatasetError, match=rf"{name}\.json .*download or rebuild it"):
        read_freshwiki(folder, strict=True)


def test_a_folder_that_is_no_data_set_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match=r"has no folder json/. Check the path"):
        read_freshwiki(tmp_path)
    with pytest.raises(DatasetError, match="holds no readable article: it is empty"):
        read_freshwiki(tree(tmp_path))
    with pytest.raises(DatasetError, match=r"readable article: skipped: .*cut\.json is damaged"):
        read_freshwiki(tree(tmp_path, cut=DAMAGED["cut"]))


def test_topics_can_be_picked(tmp_path: Path) -> None:
    data = read_freshwiki(tree(tmp_path, a=PAGE, b=PAGE))
    assert [topic.id for topic in data.only(["b", "a"]).topics] == ["b", "a"]
    with pytest.raises(DatasetError, match="freshwiki has no topic 'c'; it has a, b"):
        data.only(["c"])


@given(st.text(min_size=1, max_size=300), st.text(min_size=1, max_size=300))
def test_file_names_are_safe_and_tell_titles_apart(a: str, b: str) -> None:
    first, second = file_name(a), file_name(b)
    assert "/" not in first and "\0" not in first and first not in {"", ".", ".."}
    assert len(first.encode("utf-8", "surrogatepass")) < 200
    assert (first == second) == (a.replace(" ", "_") == b.replace(" ", "_"))


@pytest.mark.parametrize("kind", ["pipe", "/dev/zero", "folder"])
def test_what_is_no_file_is_skipped(tmp_path: Path, kind: str) -> None:
    (tmp_path / "json").mkdir()
    special_file(tmp_path / "json" / "Lake.json", kind)
    with pytest.raises(DatasetError, match=r"Lake\.json .*cannot be read|Lake\.json is damaged"):
        read_freshwiki(tmp_path)


def test_a_small_file_is_not_unpacked_into_gigabytes(tmp_path: Path) -> None:
    file = tmp_path / "lake.json.gz"
    file.write_bytes(gzip.compress(bytes(80_000_000), 1))
    with pytest.raises(DatasetError, match="cannot be read"):
        read_json(file)
