"""Imported wikitext and JSON, and files of all formats that cannot be read."""

import json
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from imported_cases import (
    BIRDS,
    DAM,
    LAKE,
    PAGES,
    TITLE,
    by_sentence,
    cited_articles,
    cites_all,
    headings,
    passages,
    read_json,
    read_wikitext,
    rows,
)

from storm_pipeline.errors import DatasetError, MissingExtraError
from storm_pipeline.output.articles import read_article
from storm_pipeline.output.export.formats import export
from storm_pipeline.types import Article

WIKITEXT = """{{Infobox lake|name=Orrin<ref>{{cite web|url=BIRDS}}</ref>}}
[[File:dam.png|thumb|A dam near [[Valmere|the town]]]]
'''Lake Orrin''' is a [[reservoir|large reservoir]] &#91;sic&#93;.<ref name=lake>[LAKE The lake]</ref> It is
[https://maps.example deep].<ref name="dam" /><ref>Doe, ''A book'', p. 3</ref>

== History ==
It was begun in 1929.<ref name="dam">{{cite web |title=The ''dam'' |url=DAM}}</ref>{{efn|A note.}}<!-- so -->
Then it grew.<ref group="note">This is a note.</ref>
* One.<ref name="unknown" /><ref>{{cite web |url=DAM |title=Again}}</ref>
* Two.
{| class="wikitable"
| 1 || 2
|}
=== Birds ===
{{reflist|refs=<ref name="birds">{{cite web|url=BIRDS}}</ref>}}
Ospreys nest.<ref name="birds" />

== References ==
<references />
== See also ==
* [[Lake Tarn]]
[[Category:Lakes]]
"""


@pytest.fixture(autouse=True)
def parser() -> None:
    pytest.importorskip("mwparserfromhell", reason="reading wikitext needs mwparserfromhell")


def test_wikitext() -> None:
    article = read_wikitext(WIKITEXT.replace("BIRDS", BIRDS).replace("DAM", DAM).replace("LAKE", LAKE))
    assert rows(article) == [
        ("Lake Orrin is a large reservoir [sic].", [LAKE]),
        ("It is deep.", [DAM]),
        ("It was begun in 1929.", [DAM]),
        ("Then it grew.", []),
        ("One.", [DAM]),
        ("Two.", []),
        ("A note.", []),
        ("This is a note.", []),
        ("Ospreys nest.", [BIRDS]),
    ]
    assert [problem.detail for problem in article.report.problems] == [
        "1 × table with 0 references",
        "1 × {{infobox lake}} with 1 reference",
    ]
    assert headings(article.sections) == [("History", [("Birds", [])])]
    assert article.report.unavailable_citations == 1, "the book"
    assert article.report.invented_citations == 1, "the reference that is not defined"


@given(article=cited_articles())
def test_an_exported_article_comes_back_from_wikitext(article: Article) -> None:
    found = read_wikitext(export(article, "wikitext").decode())
    assert by_sentence(found) == by_sentence(article)
    assert headings(found.sections) == headings(article.sections)
    assert [len(one.sentences) for one in found.lead] == [len(one.sentences) for one in article.lead]
    assert (found.report.invented_citations, found.report.unavailable_citations) == (0, 0)


PIECES = st.sampled_from(
    [
        *(
            *("<ref>", "</ref>", '<ref name="a">', '<ref name="a" />', "<references />", "{{cite web |url=", "}}"),
            *(DAM, LAKE),
        ),
        *("[[", "]]", "[", "]", "[[File:a.png|", "{|", "|}", "|", "\n", "\n\n", "== A ==\n", "*", "'''", "<!--", "-->"),
        *(
            "{{sfn|a|1990}}",
            "{{efn|",
            "{{refn|group=n|",
            "{{r|a}}",
            "{{convert|",
            "{{val|1|u=",
            "{{ref=",
            "1a1=",
            "{{x",
        ),
        *("{{cite book|title=a|last=b|year=1990|ref={{harvid|a|1990}}", "<gallery>", "{{blockquote|", "{{Infobox|"),
        *("&#91;", "&nbsp;", "&#x110000;", "<b>", "</b>", "<nowiki>", "</nowiki>", "A sentence.", "[1]", "\ufdd0"),
    ]
)


@settings(max_examples=2 * settings().max_examples)
@given(text=st.lists(PIECES | st.text(max_size=4), max_size=40).map("".join))
def test_whatever_the_wikitext_holds_cites_all(text: str) -> None:
    article = read_wikitext(text)
    assert cites_all(article)


def test_wikitext_without_its_parser(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mwparserfromhell", None)
    with pytest.raises(MissingExtraError, match=r"storm-pipeline\[sources\]"):
        read_wikitext("A lake.")


def test_json_with_sources() -> None:
    record = {
        "title": "Lake Orrin",
        "markdown": "# Lake Orrin\n\nA lake.[1] It is deep.[2][3][4]",
        "sources": [{"url": LAKE, "title": "My"}, {"url": "https://x.example", "text": "It is deep."}, {"url": "a:b"}],
    }
    article = read_json(json.dumps(record))
    assert rows(article) == [("A lake.", [LAKE]), ("It is deep.", ["https://x.example"])]
    assert passages(article)[1] == ["It is deep."]
    assert (article.report.unavailable_citations, article.report.invented_citations) == (1, 1)
    listed = read_json(json.dumps({"text": f"A lake.[1]\n\n[1] {LAKE}"}))
    assert rows(listed) == [("A lake.", [LAKE])]


JSON = [
    ("{", "not JSON"),
    ("[" * 100_000, "not JSON"),
    ("[]", "damaged at the top level"),
    ('{"markdown": 3}', "damaged at markdown"),
    ('{"markdown": "a", "sources": [{"url": ""}]}', r"damaged at sources\.0\.url"),
    ('{"markdown": "a", "sources": [{"url": "https://a.example/\\ud800"}]}', r"damaged at sources\.0\.url"),
    ('{"schema": 99, "article": {}}', "has format 99"),
    ('{"schema": 1, "article": {"title": 3}}', "the article is damaged"),
]
DAMAGED = [*(("42.json", *one) for one in JSON), ("42.wiki", "{{a|" * 20_000, r"takes more than \d+ s to read")]


@pytest.mark.parametrize(("name", "text", "said"), DAMAGED)
def test_damaged_files(tmp_path: Path, name: str, text: str, said: str) -> None:
    (tmp_path / name).write_text(text, "utf-8")
    with pytest.raises(DatasetError, match=said) as caught:
        read_article(tmp_path / name, TITLE, PAGES)
    assert str(caught.value).startswith(f"{tmp_path / name} cannot be read: ")
    assert "\n" not in str(caught.value)


def test_a_file_of_another_kind_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "42.odt"
    path.write_text("A lake.", "utf-8")
    with pytest.raises(DatasetError, match=r"42\.odt is no article that can be read: give a file with one of \.md, "):
        read_article(path, TITLE, PAGES)
