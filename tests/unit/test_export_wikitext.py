"""Wikitext as Wikipedia's editors want it, and sources that they do not accept."""

from dataclasses import replace
from pathlib import Path

import pytest
from articles import citing
from test_export_documents import history
from typer.testing import CliRunner

from storm_pipeline.interfaces.cli import app
from storm_pipeline.output.export.formats import export
from storm_pipeline.output.export.manuscript import manuscript
from storm_pipeline.output.export.wikitext import objections
from storm_pipeline.run.article_json import to_json
from storm_pipeline.types import Article, Snippet


def on(url: str, sentence: str = "Coral bleaching is a disease of corals that heat causes.") -> Article:
    snippet = Snippet(url, "A page", "Text.", "2019-05-02", accessed="2026-11-20")
    return replace(citing(snippet, text=sentence, title="Coral bleaching"), written="2026-11-22")


def test_a_page_has_title_website_dates_and_reflist() -> None:
    assert export(on("https://www.nature.com/a"), "wikitext").decode() == (
        "<!-- Written by a program on 22 November 2026 from the sources below: "
        "1 of its 1 sentence rests on 1 source. -->\n"
        "\n"
        "'''Coral bleaching''' is a disease of corals that heat causes."
        '<ref name="nature-com2019">{{cite web |title=A page |website=nature.com |url=https://www.nature.com/a '
        "|date=2 May 2019 |access-date=20 November 2026}}</ref>\n"
        "\n"
        "== References ==\n"
        "{{Reflist}}\n"
    )


def test_each_citation_has_its_pages_and_a_work_its_fields() -> None:
    text = export(history(), "wikitext").decode()
    assert (
        '<ref name="nedkvitne2008">{{cite book |last1=Nedkvitne |first1=Arnved |last2=van der Berg |first2=Jörg '
        "|chapter=Fish and Debt |title=Towns of the North |editor1-last=Falck |editor1-first=Ida |publisher=Brepols "
        "|location=Turnhout |date=2008 |pages=117–140}}</ref>{{Rp|117}}" in text
    )
    assert '<ref name="nedkvitne2008" />{{Rp|118–119}}' in text
    assert "|journal=Journal of Northern Trade |volume=12 |issue=2 |date=1 March 2019 |pages=233–250 " in text
    assert "chapter scan.pdf" not in text


def test_names_of_references_are_short() -> None:
    article = on("https://www.the-very-long-name-of-a-society-for-the-study-of-corals.example.org/a")
    (reference,) = manuscript(article).references
    assert len(reference.key) <= 28


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("https://en.wikipedia.org/wiki/Coral", "is Wikipedia or a copy of it"),
        ("https://www.dailymail.co.uk/news/1", "deprecated"),
        ("https://arxiv.org/abs/2402.14207", "preprint"),
        ("file:///home/me/notes.pdf", "not known to be published"),
    ],
)
def test_sources_that_wikipedia_does_not_accept(url: str, reason: str) -> None:
    (found,) = objections(on(url))
    assert reason in found.reason
    assert found.is_wikipedia == ("wikipedia" in url)


def test_sources_that_wikipedia_accepts() -> None:
    assert objections(on("https://www.nature.com/articles/a")) == ()
    assert objections(history()) == ()


def exported(folder: Path, article: Article, *arguments: str) -> tuple[int, str]:
    (folder / "article.json").write_text(to_json(article), encoding="utf-8")
    result = CliRunner().invoke(app, ["export", str(folder), *arguments])
    return result.exit_code, " ".join(result.output.split())


def test_export_says_what_wikipedia_does_not_accept(tmp_path: Path) -> None:
    code, output = exported(tmp_path, on("https://www.dailymail.co.uk/news/1"), "--to", "wikitext")
    assert code == 0
    assert "Wikipedia does not accept [1] A page: it" in output
    assert (tmp_path / "article.wiki").is_file()


def test_wikipedia_is_no_source_for_wikitext_unless_asked(tmp_path: Path) -> None:
    article = on("https://en.wikipedia.org/wiki/Coral")
    code, output = exported(tmp_path, article, "--to", "wikitext")
    assert code != 0
    assert "--cite-wikipedia" in output
    assert not (tmp_path / "article.wiki").exists()
    assert exported(tmp_path, article, "--to", "docx,ris")[0] == 0
    code, _ = exported(tmp_path, article, "--to", "wikitext", "--cite-wikipedia")
    assert code == 0
    assert (tmp_path / "article.wiki").is_file()
