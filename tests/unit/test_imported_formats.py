"""Imported wikitext, case by case, and JSON; files of all formats that cannot be read."""

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
    cited_articles,
    cites_all,
    headings,
    passages,
    read_json,
    read_wikitext,
    require_same,
    rows,
)

from storm_pipeline.errors import DatasetError, MissingExtraError
from storm_pipeline.output.articles import read_article
from storm_pipeline.output.articles.wikitext import wikitext_article
from storm_pipeline.output.check import read_for_check
from storm_pipeline.output.export.formats import export
from storm_pipeline.types import Article


@pytest.fixture(autouse=True)
def parser() -> None:
    pytest.importorskip("mwparserfromhell", reason="reading wikitext needs mwparserfromhell")


def test_references_that_are_defined_later_elsewhere_or_nowhere() -> None:
    article = read_wikitext(
        f"A dam.<ref name=dam /><ref>Doe, A book, p. 3</ref> It broke.<ref name=unknown />\n\n== History ==\n"
        f"It grew.<ref name=dam>[{DAM} The dam]</ref>\n=== Birds ===\n"
        f"{{{{reflist|refs=<ref name=b>[{BIRDS}]</ref>}}}}\nOspreys nest.<ref name=b />\n"
        "== See also ==\n* [[Lake Tarn]]\n[[Category:Lakes]]"
    )
    assert rows(article) == [("A dam.", [DAM]), ("It broke.", []), ("It grew.", [DAM]), ("Ospreys nest.", [BIRDS])]
    assert headings(article.sections) == [("History", [("Birds", [])])]
    assert article.report.unavailable_citations == 1, "the book"
    assert article.report.invented_citations == 1, "the reference that is not defined"


@given(article=cited_articles())
def test_an_exported_article_comes_back_from_wikitext(article: Article) -> None:
    found = read_wikitext(export(article, "wikitext").decode())
    require_same(found, article)


PIECES = st.sampled_from(
    [
        *("<ref>", "</ref>", '<ref name="a">', '<ref name="a" />', "<references />", "{{cite web |url=", "}}"),
        *("[[", "]]", "[", "]", "[[File:a.png|", "{|", "|}", "|", "\n", "\n\n", "== A ==\n", "*", "'''", "<!--", "-->"),
        *("{{sfn|a|1990}}", "{{efn|", "{{refn|group=n|", "{{r|a}}", "{{convert|", "{{val|1|u=", "{{ref=", "1a1="),
        *(DAM, LAKE, "{{x"),
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
DAMAGED = [
    *(("42.json", *one) for one in JSON),
    *(("42.docx", "no archive", "42"), ("42.docx", "", "42"), ("42.html", "", "42")),
]


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


SMITH = "{{cite book|last=Smith|first=Ada|year=2005|title=The Dam|publisher=Brill}}"
JONES = "{{Cite journal |last1=Jones |first1=B. |last2=Roe |date=3 May 1999 |title=Fish |journal=Lakes |doi=10.1/x}}"
BOARD = "{{cite book|author=Board of Works|year=1990|title=Quays|ref={{harvid|Board|1990}}}}"
WORKS = f"\n\n== Sources ==\n* {SMITH}\n* {JONES}\n* {BOARD}"
SMITHS_DAM, FISH = (
    ("", "The Dam", "Smith, Ada, 2005, The Dam, Brill"),
    (*("https://doi.org/10.1/x", "Fish", "Jones, B., Roe, 1999, Fish, Lakes, https://doi.org/10.1/x"),),
)
A_PAGE = [("https://a.example", "A", "A")]

CITATIONS = {
    # short citations, with the works in a list
    "{{sfn|Smith|2005|p=3}}": [SMITHS_DAM],
    "{{sfn | Jones | Roe | 1999 }}": [FISH],
    "{{sfn|Jones|1999}}": [FISH],  # not all of its authors
    "{{sfn|Board|1990}}": [("", "Quays", "Board of Works, 1990, Quays")],
    "{{sfnm|1a1=Smith|1y=2005|1p=2|2a1=Jones|2a2=Roe|2y=1999}}": [SMITHS_DAM, FISH],
    "<ref>{{harvnb|Smith|2005}}; {{harvnb|Jones|Roe|1999|loc=ch. 2}}</ref>": [SMITHS_DAM, FISH],
    "<ref>Smith 2005, p. 1; Jones & Roe 1999, p. 7</ref>": [SMITHS_DAM, FISH],
    "<ref>Smith, ''Dam'', pp. 3 ff.</ref>{{asof}}<ref>Ibid.</ref>": [SMITHS_DAM],
    "{{sfn|Smith|2006}}": [("", "Smith 2006", "Smith 2006")],
    "<ref>Castner 1987, p. 1</ref>": [("", "Castner 1987, p. 1", "Castner 1987, p. 1")],
    # references and their templates
    f"<ref name=a>{SMITH}</ref>{{{{rp|3}}}}<ref name='a' />": [SMITHS_DAM],
    f"{{{{r|b|p1=3}}}}{{{{reflist|refs=<ref name=b>{JONES}</ref>}}}}": [FISH],
    f"<ref>\n* {SMITH}\n* {JONES}\n</ref>": [SMITHS_DAM, FISH],
    f"<ref>{SMITH} {{{{dead link|date=May 2020}}}}{{{{cbignore}}}}</ref>": [SMITHS_DAM],
    "<ref>[https://a.example/x ''A page''], 3 May 2020.</ref>": [
        ("https://a.example/x", "A page", "A page, 3 May 2020.")
    ],
    "<ref>{{webarchive|url=https://w.example|title=W}} {{cite web|url=https://a.example|title=A}}</ref>": A_PAGE,
    "<ref>{{cite web|title=A|url=https://w.example|url=https://a.example}}</ref>": A_PAGE,  # the last one counts
    "<ref>{{cite web|title=A|archiveurl=https://w.example|accessdate=3 May 2020}}</ref>": [
        ("https://w.example", "A", "A")
    ],
    "<ref>{{cite encyclopedia|editor1-last=Falk|title=Lakes|entry=Orrin|year=c. 1990|encyclopedia=E}}</ref>": [
        ("", "Orrin", "Falk, Lakes, Orrin, 1990, E")
    ],
    "<ref>{{Literatur |Autor=Ida Falk |Titel=Der See |Jahr=1990 |Verlag=Alma}}</ref>": [
        ("", "Der See", "Ida Falk, Der See, 1990, Alma")
    ],
    "{{refn|group=n|{{harvnb|Smith|2005}}}}": [SMITHS_DAM],
    "{{efn|{{sfn|Smith|2005}}{{sfn|Jones|Roe|1999}}}}": [SMITHS_DAM, FISH],
}
TEXTS = {
    "It is {{convert|5|km|mi}} long": "It is 5 km long",
    "It is {{convert|5|to|10|km|mi|0|abbr=on}} long": "It is 5 to 10 km long",
    "He is {{convert|6|ft|2|in|m}} tall": "He is 6 ft 2 in tall",
    "It weighs {{val|1.5|0.1|e=6|u=kg}}": "It weighs 1.5±0.1×10^6 kg",
    "{{nowrap|5 [[Mile|miles]]}} in": "5 miles in",
    "{{lang|de|Talsperre}} or {{langx|de|''Wehr''}} or {{lang-fr|barrage}}": "Talsperre or Wehr or barrage",
    "Born {{circa|lk=no|965|1040}}, {{transl|ar|ALA|al-Ḥasan}}": "Born c. 965–1040, al-Ḥasan",
    "By {{harvtxt|Smith|2005|p=3}} it stood": "By Smith it stood",
    "A{{citation needed|date=May 2020}} dam{{by whom|date=May}}{{snd}}{{frac|1|2}}": "A dam – 1/2",
    "Cost {{formatnum:12500}} {{unknown wrapper|crowns}}": "Cost 12500 crowns",
    "__NOTOC__\n{{Short description|x}}\n{{Main|Other}}\nA dam": "A dam",
}
LEFT_OUT = {
    "{{Infobox dam|name=[[Orrin]]|cost={{convert|5|km}}{{sfn|Smith|2005}}}}\n": ("{{infobox dam}}", 1),
    "{| class=wikitable\n! a\n|-\n| b<ref>x</ref> || {{efn|c}}\n|}\n": ("table", 2),
    "[[File:a.png|thumb|A dam.<ref>x</ref>]]\n": ("picture", 1),
    "<gallery>\nA.png|b\n</gallery>\n": ("gallery", 0),
    "Made of <math>x^2</math>. ": ("math", 0),
    "It was {{age|1990|3|2}} years old. ": ("{{age}}", 0),
}


@pytest.mark.parametrize("cited", CITATIONS)
def test_what_a_sentence_cites(cited: str) -> None:
    read = wikitext_article("X", f"A dam stands.{cited}{WORKS}")
    (sentence,) = read.article.sentences()
    references = [(read.references or {})[int(citation.source_id)] for citation in sentence.citations]
    assert [(work.url, work.title, work.entry) for work in references] == CITATIONS[cited]
    assert (sentence.text, read.invented, read.left_out) == ("A dam stands.", 0, [])


@pytest.mark.parametrize("text", TEXTS)
def test_templates_keep_their_words(text: str) -> None:
    read = wikitext_article("X", f"{text}.")
    assert [sentence.text for sentence in read.article.sentences()] == [f"{TEXTS[text]}."]
    assert not read.left_out


@pytest.mark.parametrize("text", LEFT_OUT)
def test_what_is_left_out_is_named(text: str) -> None:
    read = wikitext_article("X", f"{text}A dam stands.")
    assert list(read.article.sentences())[-1].text == "A dam stands."
    assert read.left_out == [LEFT_OUT[text]]


@pytest.mark.parametrize("note", ["{{efn|name=x|NOTE}}", "{{refn|group=n|NOTE}}", "{{#tag:ref|NOTE|group=n}}"])
def test_notes_are_sentences_with_citations_of_their_own(note: str) -> None:
    note = note.replace("NOTE", "Some say it fell.{{sfn|Smith|2005}}")
    read = wikitext_article("X", f"It rose{note} in May. It fell.\n\n== Later ==\nIt stood.{WORKS}")
    assert [(one.text, len(one.citations)) for one in read.article.sentences()] == [
        *(("It rose in May.", 0), ("It fell.", 0), ("Some say it fell.", 1), ("It stood.", 0))
    ]


def test_a_note_that_is_cited_twice_is_read_once_and_lists_of_works_are_no_sentences() -> None:
    listed = f"A dam stands.\n\n== Books ==\n{{{{refbegin}}}}\n* {SMITH}\n* {JONES}.\n{{{{refend}}}}"
    assert [sentence.text for sentence in wikitext_article("X", listed).article.sentences()] == ["A dam stands."]
    read = wikitext_article("X", "It rose.{{efn|name=x|It fell.}} It stood.{{efn|name=x}}<ref group=n name=x />")
    assert [sentence.text for sentence in read.article.sentences()] == ["It rose.", "It stood.", "It fell."]


def test_short_citations_find_documents(tmp_path: Path) -> None:
    (tmp_path / "Smith 2005 The Dam.txt").write_text("The dam of Orrin stands since 1931.")
    (tmp_path / "article.wiki").write_text(f"A dam stands since 1931.{{{{sfn|Smith|2005|p=3}}}}{WORKS}")
    read = read_for_check(tmp_path / "article.wiki")
    assert [match.documents for match in read.matches] == [("Smith 2005 The Dam.txt",)]
    assert not read.unread
