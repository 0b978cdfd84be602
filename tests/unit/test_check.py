"""Any article checked against its sources, wherever they are; and looked at again, where what did not change stays."""

import json
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from articles import article, section, sentence
from hypothesis import given, settings
from lxml import html as lxml_html
from strategies import articles
from year_judge import YearJudge

from storm_pipeline.errors import DatasetError, PageError
from storm_pipeline.evidence.judges.spans import with_spans
from storm_pipeline.evidence.judges.support import support_of
from storm_pipeline.output.check import CheckedArticle, check_article, read_for_check
from storm_pipeline.output.check.reading import Read, SourceNote
from storm_pipeline.output.check.refreshing import RefreshedArticle, refresh
from storm_pipeline.output.check.report import rows, source_rows, summary, to_page, to_record
from storm_pipeline.run.article_json import from_json
from storm_pipeline.sources.pages.extract import Page
from storm_pipeline.text.plain import web_address
from storm_pipeline.text.words import has_word
from storm_pipeline.types import Article, Snippet, Source

ORRIN = "https://example.org/orrin"
DAM = "Lake Orrin lies in the hills. The dam was finished in 1926 by two hundred workers. Trout live in the lake."
WRITTEN = f"""# Lake Orrin

Lake Orrin lies in the hills.[^1] The dam was finished in 1999.[^1] Nothing is cited here. It is deep.[^2]

[^1]: [Orrin]({ORRIN})
[^2]: Smith, A book, 1999.
"""


def check(path: Path, sources: Path | None = None, fetch: Callable[[str], Page] | None = None) -> CheckedArticle:
    read = read_for_check(path, sources, fetch)
    return check_article(read.article, YearJudge(), read.unread)


def page(url: str) -> Page:
    if url != ORRIN:
        raise PageError(f"{url} answered 404; the page cannot be fetched")
    return Page(url, "Orrin", ((None, DAM),))


def verdicts(checked: CheckedArticle) -> list[str]:
    return [own.status for own in checked.sentences]


def test_sources_are_fetched_and_those_that_cannot_be_are_named(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text(WRITTEN.replace("Smith, A book, 1999.", "https://example.org/gone"))
    checked = check(tmp_path / "a.md", fetch=page)
    assert verdicts(checked) == ["supported", "not", "uncited", "unread"]
    (why,) = checked.unread.values()
    assert "answered 404" in why
    assert "1 source could not be read" in summary(checked)
    offline = check(tmp_path / "a.md")
    assert verdicts(offline) == ["unread", "unread", "uncited", "unread"]
    assert offline.support is None


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.wiki", f"Orrin lies in hills.<ref>{{{{cite web|url={ORRIN}}}}}</ref> Built 1999.<ref>[{ORRIN} x]</ref>"),
        ("a.json", json.dumps({"markdown": "Orrin lies in hills [1]. Built 1999 [1].", "sources": [{"url": ORRIN}]})),
        ("a.html", f'<p>It lies.<a href="#f">1</a> Built 1999.<a href="#f">1</a></p><p id="f"><a href="{ORRIN}">x</a>'),
    ],
)
def test_other_formats_are_checked(tmp_path: Path, name: str, content: str) -> None:
    (tmp_path / name).write_text(content)
    assert verdicts(check(tmp_path / name, fetch=page)) == ["supported", "not"]


def test_more_than_can_be_compared_is_refused(tmp_path: Path) -> None:
    (tmp_path / "article.md").write_text(WRITTEN)
    (tmp_path / "orrin.md").write_text(f"{DAM}\n")
    found = read_for_check(tmp_path / "article.md").article
    with pytest.raises(DatasetError, match=r"characters, of which a check or a page may have 10"):
        check_article(found, YearJudge(), most=10)


def test_a_folder_with_several_articles_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text(WRITTEN)
    (tmp_path / "b.md").write_text(WRITTEN)
    with pytest.raises(DatasetError, match=r"several files .*a\.md, b\.md"):
        read_for_check(tmp_path)
    with pytest.raises(DatasetError, match="no article"):
        read_for_check(tmp_path / "nowhere")


def test_a_page_says_what_is_not_supported_behind_the_sentence(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text(WRITTEN)
    root = lxml_html.fromstring(to_page(check(tmp_path / "a.md", fetch=page)))
    remarks = [(own.get("class"), own.text) for own in root.xpath("//small")]
    assert remarks == [
        ("remark not", "not supported: 1999 not found"),
        ("remark uncited", "no source cited"),
        ("remark unread", "source not read"),
    ]
    assert "as years judges" in root.xpath("string(//footer)")


@given(articles())
@settings(max_examples=40)
def test_every_sentence_with_words_has_one_verdict(own: Article) -> None:
    checked = check_article(own, YearJudge())
    texts = [one.text for one in own.sentences()]
    assert [one.sentence.text for one in checked.sentences] == [text for text in texts if has_word(text)]
    assert [one.text for one in checked.article.sentences()] == texts
    assert sum(checked.counts.values()) == len(checked.sentences)
    uncited = [one for one in own.sentences() if has_word(one.text) and not one.citations]
    assert checked.counts["uncited"] == len(uncited)
    assert len(rows(checked)) == len(checked.sentences) - checked.counts["supported"]
    assert json.loads(json.dumps(to_record(checked)))["counts"] == checked.counts


@given(articles())
@settings(max_examples=40)
def test_a_check_of_our_own_article_finds_what_its_run_reported(own: Article) -> None:
    reported, checked = support_of(own, YearJudge()), check_article(from_json(own.to_json()), YearJudge())
    assert reported.sentences == len(checked.sentences)
    assert reported.recall == (checked.counts["supported"] / reported.sentences if reported.sentences else None)
    assert dict(reported.errors).get("no citation", 0) == checked.counts["uncited"]


def page_of(name: str, text: str, origin: str = "page") -> Source:
    snippet = Snippet(f"https://example.org/{name}", name, text, origin=origin)
    return Source(snippet.source_id, snippet.url, name, (snippet,))


def refreshed(own: Article, **now: str) -> RefreshedArticle:
    def fetch(url: str) -> Page:
        name = url.rpartition("/")[2]
        if name not in now:
            raise PageError(f"{url} answered 404; the page cannot be fetched")
        return Page(url, name, ((None, now[name]),))

    return refresh(Read(own, {}), YearJudge(), fetch)


LAKE, FALK = page_of("orrin", DAM), page_of("falk", "Dag Falk was a lawyer in 1931. He wrote letters.")
DATED = with_spans(
    article(
        section("Dam", sentence("The dam is of 1926.", LAKE), sentence("Trout live in it.", LAKE)),
        lead=(sentence("Falk was a lawyer.", FALK),),
        sources=(LAKE, FALK),
    )
)
ALL = {"orrin": DAM, "falk": FALK.snippets[0].text}


@given(articles())
@settings(max_examples=40)
def test_an_article_whose_sources_did_not_change_is_byte_identical(drawn: Article) -> None:
    own = with_spans(drawn)
    texts = {source.id: "\n\n".join(snippet.text for snippet in source.snippets) for source in own.sources}
    pages = {source.url: texts[source.id] for source in own.sources}
    found = refresh(Read(own, {}), YearJudge(), lambda url: Page(url, "", ((None, pages[url]),)))
    assert {change.kind for change in found.changes} <= {"unread"}
    assert all(not web_address(change.source) for change in found.changes)
    assert found.checked.article.to_json() == own.to_json()
    assert found.failing == frozenset()


def test_a_sentence_whose_passage_changed_cites_what_the_page_says_now() -> None:
    found = refreshed(DATED, orrin=DAM.replace("1926", "1927"), falk=ALL["falk"])
    assert [(one.kind, one.text) for one in found.changes] == [("changed", "The dam is of 1926.")]
    assert found.failing == {1}
    before, after = list(DATED.sentences()), list(found.checked.article.sentences())
    assert (after[0], after[2]) == (before[0], before[2])
    texts = {own.id: own.text for source in found.checked.article.sources for own in source.snippets}
    (cited,) = after[1].citations
    assert "1927" in texts[cited.snippet_id]
    still = refreshed(DATED, orrin=f"It was in 1926 that the dam was ready. {DAM[95:]}", falk=ALL["falk"])
    assert still.failing == frozenset()
    assert {one.kind for one in still.changes} == {"changed"}


def foreign(tmp_path: Path, before: dict[str, str], now: dict[str, str]) -> RefreshedArticle:
    """A Markdown article read with former pages, and refreshed with current ones; other pages answer 404."""

    def pages(texts: dict[str, str], url: str) -> Page:
        if url not in texts:
            raise PageError(f"{url} answered 404", is_gone=True)
        return Page(url, "", ((None, texts[url]),))

    (tmp_path / "article.md").write_text(MARKDOWN)
    read = read_for_check(tmp_path / "article.md", None, partial(pages, before))
    return refresh(read, YearJudge(), partial(pages, now))


MARKDOWN = """The dam is of 1926.[^1] Falk was a lawyer in 1931.[^2] Ships came in 1702.[^3] A mill is of 1803.[^4]

[^1]: [Orrin](https://example.org/orrin)
[^2]: Falk, https://example.org/falk, archived at https://web.archive.org/web/2019/https://example.org/falk.
[^3]: [Ships](https://www.dailymail.co.uk/ships)
[^4]: mill.txt
"""
URLS = {name: f"https://example.org/{name}" for name in ("orrin", "falk")}
ARCHIVED, SHIPS = f"https://web.archive.org/web/2019/{URLS['falk']}", "https://www.dailymail.co.uk/ships"


def test_an_article_without_passages_is_compared_with_the_pages_read_before(tmp_path: Path) -> None:
    (tmp_path / "mill.txt").write_text("A mill of 1803 is on the river.")
    before = {URLS["orrin"]: DAM, ARCHIVED: ALL["falk"]}
    now = {URLS["orrin"]: DAM.replace("1926", "1927"), SHIPS: "Ships came in 1702."}
    found = foreign(tmp_path, before, now)
    kinds = {change.text: change.kind for change in found.changes}
    assert kinds == {
        "The dam is of 1926.": "changed",
        "Falk was a lawyer in 1931.": "unread",
        "Ships came in 1702.": "new",
    }
    assert {sentence.sentence.text: sentence.status for sentence in found.checked.sentences} == {
        "The dam is of 1926.": "not",
        "Ships came in 1702.": "supported",
    }
    still = foreign(tmp_path, before, before | {SHIPS: "None."})
    assert {change.text for change in still.changes} == {"Ships came in 1702."}
    assert still.failing == {2}


def test_sources_that_are_gone_archived_or_rated_down_are_named(tmp_path: Path) -> None:
    found = foreign(tmp_path, {}, {URLS["orrin"]: DAM, ARCHIVED: ALL["falk"]})
    notes = {s.url: found.checked.notes[s.id] for s in found.checked.article.sources}
    assert notes[URLS["falk"]].archive == ARCHIVED
    assert "404" in notes[URLS["falk"]].gone and "404" in notes[SHIPS].gone
    assert "deprecated" in notes[SHIPS].rated and not notes[URLS["falk"]].rated
    assert [name for name, note in notes.items() if note == SourceNote()] == [URLS["orrin"], "reference:mill.txt"]
    assert [own.status for own in found.checked.sentences] == ["supported", "supported"], "by the archived copy"
    rows = {row[0].partition("]")[2].strip(): row[1:] for row in source_rows(found.checked)}
    assert all(cells[0].startswith("gone: ") for cells in rows.values())
    assert sorted(bool(cells[2]) for cells in rows.values()) == [False, True]
    record = {source["url"]: source for source in to_record(found.checked)["sources"]}
    assert (record[URLS["falk"]]["archive"], record[URLS["orrin"]]["gone"]) == (ARCHIVED, "")


WIKITEXT = "Falk was a lawyer.<ref>{{cite web |title=Falk |url=%s |archive-url=%s}}</ref>\n"
HTML = (
    '<article><p>Falk was a lawyer.<sup><a href="#n">[1]</a></sup></p><ol><li id="n"><a href="%s">Falk</a>. '
    'Archived from <a href="%s">the original</a>.</li></ol></article>'
)


@pytest.mark.parametrize(
    ("name", "text"), [("a.wiki", WIKITEXT % (URLS["falk"], ARCHIVED)), ("a.html", HTML % (ARCHIVED, URLS["falk"]))]
)
def test_the_archived_copies_of_wikipedias_citations_are_known(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)
    read = read_for_check(tmp_path / name)
    (source,) = read.article.sources
    assert (source.url, read.notes[source.id].archive) == (URLS["falk"], ARCHIVED)


def test_words_of_a_search_engine_and_missing_words_are_not_compared() -> None:
    engine = page_of("orrin", DAM, origin="snippet")
    own = article(section("Dam", sentence("The dam is of 1926.", engine)), sources=(engine,))
    missing = replace(own, sources=(replace(engine, snippets=()),))
    for cited in (own, missing):
        found = refreshed(cited, orrin="Something else.")
        assert (found.changes, found.uncompared) == ((), 1)
