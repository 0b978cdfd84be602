"""WikiGenBench as published: one article from two forms, documents with and without text, and what is damaged."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storm_bench.datasets.usable_documents import is_flattened, is_usable, usable
from storm_bench.datasets.wikigenbench import read_wikigenbench
from storm_bench.datasets.wikigenbench_article import article_tree
from storm_bench.types import TopicDocument
from storm_pipeline.errors import DatasetError

TEXT = """The storm was a storm. It blew.

Course
It came from the west.

First day
It rained on the Main Street.

References
External links
A link."""
OUTLINES = ["Course", "Damage_and_losses", "References", "External_links"]
CONTENTS = [
    "It came from thewest.\n### First day\nIt rained on theMain Street.\n### First day\nNever.",
    "A newer text about roofs.Sheds were lost too, and no one had written of them before that summer.",
    "",
    "A link.",
]
FLAT = " ".join(f"the observer wrote line {n} of a long report without any stop" for n in range(8))
PROSE = FLAT.replace("the observer", "The observer") + "."


def test_headings_come_from_the_outline_and_sentences_from_the_text() -> None:
    lead, sections = article_tree(TEXT, OUTLINES, CONTENTS)
    assert lead == "The storm was a storm. It blew."
    assert [part.heading for section in sections for part in section.walk()] == [
        *("Course", "First day", "First day"),
        *("Damage and losses", "References", "External links"),
    ]
    assert sections[0].text == "It came from the west."
    assert sections[0].subsections[0].text == "It rained on the Main Street."


def test_a_heading_that_the_text_lacks_takes_what_only_the_contents_have() -> None:
    _, sections = article_tree(TEXT, OUTLINES, CONTENTS)
    assert sections[1].text.startswith("A newer text about roofs. Sheds were lost too")
    assert sections[0].subsections[1].text == "Never."
    _, renamed = article_tree(TEXT, ["Way"], ["It came from the west.\nIt rained on the Main Street."])
    assert renamed[0].text == "", "what stands in the text already is not told twice"


def test_levels_make_the_tree() -> None:
    contents = ["a\n### b\nb1\n#### c\nc1\n### d\nd1"]
    _, (section,) = article_tree("lead\na\na0\nb\nb1\nc\nc1\nd\nd1", ["a"], contents)
    assert [part.heading for part in section.subsections] == ["b", "d"]
    assert section.subsections[0].subsections[0].text == "c1"
    assert section.text == "a0"


@given(
    st.text("ab #\n_.", max_size=60),
    st.lists(st.text("ab_", max_size=4), max_size=4),
    st.lists(st.text("ab #\n", max_size=20), max_size=4),
)
def test_no_article_breaks_the_reader(text: str, outlines: list[str], contents: list[str]) -> None:
    lead, sections = article_tree(text, outlines, contents)
    assert all(part.heading for section in sections for part in section.walk())
    assert set(lead.split()) <= set(text.replace("_", " ").split())


PAGE = {
    "id": 7,
    "key": "Storm_Ada",
    "url": "https://en.wikipedia.org/wiki/Storm%20Ada",
    "text": TEXT,
    "outlines": OUTLINES,
    "contents": CONTENTS,
    "info_kv": {"Wind": "90\u00a0km/h[1]", "Dead": " "},
    "reference": [
        ["A. Report", "https://a.example/1", FLAT],
        ["B. Report", "https://b.example/1", "too short"],
        ["C. Wall", "https://c.example/1", "please enable javascript to go on " * 10],
        ["A again", "https://a.example/1", FLAT],
        ["Book", "", FLAT],
    ],
}
HITS = [
    {"title": "A found", "link": "https://www.a.example/1/", "text": PROSE},
    {"title": "D found", "link": "https://d.example/1", "text": PROSE + " And more."},
    {"title": "E empty", "link": "https://e.example/1", "text": ""},
]


def tree(folder: Path, pages: dict[str, Any], hits: dict[str, Any] | None = None, manifest: str = "") -> Path:
    for kind, files in (("wiki", pages), ("google", hits or {})):
        (folder / kind).mkdir(exist_ok=True)
        for name, value in files.items():
            text = value if isinstance(value, str) else json.dumps(value)
            (folder / kind / f"{name}.json").write_text(text)
    if manifest:
        (folder / "manifest.csv").write_text(manifest)
    return folder


def test_a_topic_is_read_with_its_usable_documents_each_page_once(tmp_path: Path) -> None:
    (topic,) = read_wikigenbench(tree(tmp_path, {"7": PAGE}, {"7": HITS})).topics
    assert (topic.id, topic.title) == ("7", "Storm Ada")
    assert topic.human.headings() == ("Course", "First day", "First day", "Damage and losses")
    assert [section.heading for section in topic.human.back_matter] == ["References", "External links"]
    assert topic.human.infobox == (("Wind", "90 km/h"),)
    assert [(document.url, document.origin) for document in topic.documents] == [
        ("https://a.example/1", "human"),
        ("https://d.example/1", "search"),
    ]
    assert topic.documents[0].text == PROSE, "of a page both cited and found the text with sentences is taken"
    assert [bool(document.text) for document in topic.human.references] == [True] * 5
    assert is_flattened(topic.human.references[0].text)


def test_a_topic_may_lack_what_a_search_found(tmp_path: Path) -> None:
    (topic,) = read_wikigenbench(tree(tmp_path, {"7": PAGE})).topics
    assert [document.origin for document in topic.documents] == ["human"]


def test_the_core_is_what_the_manifest_marks(tmp_path: Path) -> None:
    manifest = "id,title,in_core\n7,Storm Ada,1\n8,Storm Bo,0\n10,Lost,1\n"
    folder = tree(tmp_path, {"7": PAGE, "8": PAGE | {"id": 8}}, manifest=manifest)
    assert [topic.id for topic in read_wikigenbench(folder).topics] == ["7", "8"]
    core = read_wikigenbench(folder, core_only=True)
    assert [topic.id for topic in core.topics] == ["7"]
    assert "10.json cannot be read" in core.problems[0]


@pytest.mark.parametrize(
    ("page", "hits"),
    [
        ('{"key": "x"', None),
        (PAGE | {"outlines": "History"}, None),
        (PAGE | {"key": " "}, None),
        (PAGE | {"text": "", "outlines": [], "contents": []}, None),
        (PAGE | {"reference": [["a", "b"]]}, None),
        (PAGE, '[{"title": "no link"}]'),
        (PAGE, "{}"),
    ],
)
def test_damaged_files_are_named_and_skipped(page: Any, hits: Any, tmp_path: Path) -> None:
    folder = tree(tmp_path, {"7": PAGE, "9": page}, {} if hits is None else {"9": hits})
    data = read_wikigenbench(folder)
    assert [topic.id for topic in data.topics] == ["7"]
    assert re.search(r"9\.json .*download", data.problems[0])


@pytest.mark.parametrize("name", ["../../secret", "/etc/secret", "", ".secret"])
def test_a_manifest_names_files_of_the_folder_only(tmp_path: Path, name: str) -> None:
    folder = tree(tmp_path, {"7": PAGE}, manifest=f"id,in_core\n7,1\n{name},1\n")
    with pytest.raises(DatasetError, match=f"the id '{name}' is not a file name"):
        read_wikigenbench(folder)


def test_a_folder_that_is_no_data_set_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match="has no folder wiki/"):
        read_wikigenbench(tmp_path)
    with pytest.raises(DatasetError, match="has no topic of the core"):
        read_wikigenbench(tree(tmp_path, {"7": PAGE}), core_only=True)
    with pytest.raises(DatasetError, match=r"manifest\.csv is damaged"):
        read_wikigenbench(tree(tmp_path, {"7": PAGE}, manifest="name,core\na,1\n"))
    (tmp_path / "empty").mkdir()
    with pytest.raises(DatasetError, match="it is empty"):
        read_wikigenbench(tree(tmp_path / "empty", {}))


def test_error_pages_and_walls_are_not_usable() -> None:
    assert is_usable(TopicDocument("https://a.example", "", PROSE))
    assert not is_usable(TopicDocument("", "", PROSE))
    assert not is_usable(TopicDocument("https://a.example", "", "a few words"))
    assert not is_usable(TopicDocument("https://a.example", "", "Just a moment... checking your browser. " * 10))
    assert usable([TopicDocument("https://a.example", "", "")]) == ()
