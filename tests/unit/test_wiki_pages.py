"""Thirty pages as Wikipedia has them: no citation template is misread, in wikitext or in MediaWiki's HTML."""

from collections import Counter
from collections.abc import Callable

import pytest
from wiki_pages import Page, pages

from storm_pipeline.output.articles.page import page_article
from storm_pipeline.output.articles.pages import NumberedArticle
from storm_pipeline.output.articles.wikitext import wikitext_article
from storm_pipeline.text.words import folded_words

PAGES = pages()
FORMS: dict[str, Callable[[Page], NumberedArticle]] = {
    "wikitext": lambda page: wikitext_article("A thing", page.wikitext),
    "html": lambda page: page_article("A thing", page.html.encode()),
}
MOST_USED = [
    *("cite web", "cite news", "cite book", "cite journal", "cite magazine", "cite encyclopedia", "cite report"),
    *("cite thesis", "cite press release", "cite conference", "cite av media", "citation", "sfn", "sfnp", "sfnm"),
    *("harvnb", "r", "refn", "efn", "rp", "webarchive", "dead link", "cbignore", "notelist", "reflist", "harvid"),
    *("citation needed", "convert", "val", "nowrap", "langx"),
]


@pytest.fixture(autouse=True)
def parser() -> None:
    pytest.importorskip("mwparserfromhell", reason="reading wikitext needs mwparserfromhell")


def test_the_pages_have_each_of_the_most_used_templates() -> None:
    import mwparserfromhell

    found = Counter[str]()
    for page in PAGES:
        templates = mwparserfromhell.parse(page.wikitext).ifilter_templates()
        found.update({str(t.name).strip().replace("_", " ").lower() for t in templates})
    assert {name: found[name] for name in MOST_USED if found[name] < 5} == {}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("number", range(len(PAGES)))
def test_each_citation_is_read_to_its_works(number: int, form: str) -> None:
    page = PAGES[number]
    imported = FORMS[form](page)
    read = [
        (sentence.text, [(imported.references or {})[int(citation.source_id)] for citation in sentence.citations])
        for sentence in imported.article.sentences()
    ]
    stated = [(text, [(reference.url, reference.title) for reference in references]) for text, references in read]
    assert stated == [(text, [(work.url, work.title) for work in works]) for text, works in page.expected]
    for (_, references), (_, works) in zip(read, page.expected, strict=True):
        for reference, work in zip(references, works, strict=True):
            words = set(folded_words(reference.entry))
            assert not work.year or (str(work.year) in words and words.isdisjoint({"1899", "2021"}))
            assert {word for family, _ in work.people for word in folded_words(family)} <= words
    assert imported.invented == 0


def test_parts_without_sentences_are_named() -> None:
    for page in PAGES:
        assert FORMS["wikitext"](page).left_out == [("{{infobox lake}}", 1)]
        assert FORMS["html"](page).left_out == [("infobox", 0)]
