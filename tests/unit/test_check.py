"""Any article is checked against its sources: those beside it, those it holds, those that are fetched."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from lxml import html as lxml_html
from strategies import articles
from year_judge import YearJudge

from storm_pipeline.errors import DatasetError, PageError
from storm_pipeline.evidence.judges.support import support_of
from storm_pipeline.output.check import CheckedArticle, check_article, read_for_check
from storm_pipeline.output.check.report import rows, summary, to_page, to_record
from storm_pipeline.run.article_json import from_json
from storm_pipeline.sources.pages.extract import Page
from storm_pipeline.text.words import has_word
from storm_pipeline.types import Article

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
        (
            "a.wiki",
            f"Lake Orrin lies in the hills.<ref>{{{{cite web|url={ORRIN}}}}}</ref> Built 1999.<ref>[{ORRIN} x]</ref>",
        ),
        ("a.json", json.dumps({"markdown": "Orrin lies in hills [1]. Built 1999 [1].", "sources": [{"url": ORRIN}]})),
        (
            "a.html",
            f'<p>Orrin lies.<a href="#f">1</a> Built 1999.<a href="#f">1</a></p><p id="f"><a href="{ORRIN}">x</a>',
        ),
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
