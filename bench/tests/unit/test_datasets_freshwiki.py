"""FreshWiki as published, and pages of Wikipedia as articles."""

import gzip
import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from special_files import special_file
from wikimedia import article_html, listed, mark

from storm_bench.datasets.built import file_name
from storm_bench.datasets.dataset import read_json
from storm_bench.datasets.freshwiki import read_freshwiki
from storm_bench.datasets.wiki_page import WikiPage, read_page
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
def test_damaged_files_are_named_and_skipped(name: str, tmp_path: Path) -> None:
    data = read_freshwiki(tree(tmp_path, good=PAGE, **{name: DAMAGED[name]}))
    assert [topic.id for topic in data.topics] == ["good"]
    (skipped,) = [problem for problem in data.problems if problem.startswith("skipped")]
    assert re.search(rf"{name}\.json .*download or rebuild it", skipped)


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


@pytest.mark.parametrize(
    "unpacked", [bytes(80_000_000), b"[" + b"{}," * 2_000_000 + b"0]", b"[" + b"0," * 2_000_001 + b"0]"]
)
def test_a_small_file_is_not_unpacked_into_gigabytes(tmp_path: Path, unpacked: bytes) -> None:
    file = tmp_path / "lake.json.gz"
    file.write_bytes(gzip.compress(unpacked, 1))
    with pytest.raises(DatasetError, match="cannot be read"):
        read_json(file)


URL = "https://en.wikipedia.org/wiki/Silk"


def read(html: str) -> WikiPage:
    return read_page(html, "Silk", URL)


def test_both_skins_of_headings_and_citations_are_read() -> None:
    page = read(article_html(["https://a.example/1", "https://b.example/2", "https://c.example/3"]))
    assert page.article.headings() == ("Course", "Rescue", "Aftermath")
    assert page.article.infobox == (("Date", "3 March 2024"), ("Deaths", "None (two injured)"))
    assert page.features.subsections == 1 and page.features.sections == 2
    assert page.features.words == len(page.article.text().split())


PARSOID = """<section data-mw-section-id="1"><h2 id="Trade">Trade</h2>
<p>Silk was traded.<sup class="mw-ref reference" id="cite_ref-a_1-0"><a href="./Silk#cite_note-a-1"><span
class="mw-reflink-text"><span class="cite-bracket">[</span>1<span class="cite-bracket">]</span></span></a></sup></p>
</section><div class="mw-references-wrap"><ol class="mw-references references"><li id="cite_note-a-1"><span
class="mw-reference-text reference-text"><a rel="mw:ExtLink nofollow" href="//a.example/x" class="external text">A</a>.
</span></li></ol></div>"""


def test_the_markup_of_parsoid_is_read() -> None:
    (section,) = read(PARSOID).article.sections
    assert section.sentences[0].text == "Silk was traded."
    assert section.sentences[0].references == ("https://a.example/x",)


SHORT = f"""<h2>Trade</h2><p>Silk<sup id="r" class="reference"><a href="#cite_note-2">[a]</a></sup> was
dear.{mark(3)}{mark(4)} Jade<sup class="noprint Inline-Template">[<i>citation needed</i>]</sup> was not.{mark(5)}
So <sup>10</sup>B.</p>
<ol class="references"><li id="cite_note-2"><span class="reference-text">A note, no source.</span></li></ol>
<ol class="references"><li id="cite_note-3"><span class="reference-text"><a href="#CITEREFSmith2001">Smith 2001</a>,
p. 5.</span></li><li id="cite_note-4"><span class="reference-text">Ames, <i>Silk</i>. <a
href="/wiki/Special:BookSources/978-0-00" title="x">978-0-00</a>.</span></li>{listed(5, "https://c.example/5")}</ol>
<h2>Bibliography</h2><ul><li><cite id="CITEREFSmith2001" class="citation book">Smith. <a class="external text"
href="https://smith.example/book">Silk</a>.</cite></li></ul>"""


def test_short_citations_notes_and_books_are_told_apart() -> None:
    page = read(SHORT)
    (section,) = page.article.sections
    assert [sentence.text for sentence in section.sentences] == ["Silk was dear.", "Jade was not.", "So 10B."]
    assert [sentence.references for sentence in section.sentences] == [
        ("https://smith.example/book",),
        ("https://c.example/5",),
        (),
    ]
    assert [(cited.url, cited.title) for cited in page.article.references] == [
        ("https://smith.example/book", "Smith 2001, p. 5."),
        ("", "Ames, Silk. 978-0-00."),
        ("https://c.example/5", '"Report 5".'),
    ]


def test_what_is_no_running_text_is_left_out() -> None:
    html = """<table class="box ambox"><tr><td>This is a mess.</td></tr></table><p class="mw-empty-elt"></p>
    <p>Area is <span class="mwe-math-element"><span style="display:none"><math alttext="x"><mi>x</mi></math></span><img
    alt="{\\displaystyle x^{2}}"></span> wide<br>and flat.<style>.a{}</style><!-- hidden --></p>
    <figure><figcaption>A picture.</figcaption></figure><div class="navbox"><p>More.</p></div>
    <blockquote><p>Said he.</p></blockquote>"""
    page = read(html)
    assert page.article.lead == "Area is x^{2} wide and flat.\n\nSaid he."


@given(st.text(max_size=80), st.integers(0, 3000), st.integers(0, 3000))
def test_no_html_breaks_the_reader(noise: str, start: int, end: int) -> None:
    whole = article_html(["https://a.example/1"], sentences=2)
    page = read(whole[:start] + noise + whole[max(start, end) :])
    assert page.features.words >= 0
    assert isinstance(page.article.text(), str)
