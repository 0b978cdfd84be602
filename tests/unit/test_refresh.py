"""An article whose sources are looked at again: what changed is named and judged, the rest stays byte for byte."""

from articles import article, section, sentence
from hypothesis import given, settings
from strategies import articles
from year_judge import YearJudge

from storm_pipeline.errors import PageError
from storm_pipeline.evidence.judges.spans import with_spans
from storm_pipeline.output.check.refreshing import Refreshed, refresh
from storm_pipeline.sources.pages.extract import Page
from storm_pipeline.text.plain import web_address
from storm_pipeline.types import Article, Snippet, Source

DAM = "Lake Orrin lies in the hills. The dam was finished in 1926 by two hundred workers. Trout live in the lake."


def page_of(name: str, text: str, origin: str = "page") -> Source:
    snippet = Snippet(f"https://example.org/{name}", name, text, origin=origin)
    return Source(snippet.source_id, snippet.url, name, (snippet,))


def refreshed(own: Article, **now: str) -> Refreshed:
    def fetch(url: str) -> Page:
        name = url.rpartition("/")[2]
        if name not in now:
            raise PageError(f"{url} answered 404; the page cannot be fetched")
        return Page(url, name, ((None, now[name]),))

    return refresh(own, YearJudge(), fetch)


ORRIN, FALK = page_of("orrin", DAM), page_of("falk", "Dag Falk was a lawyer in 1931. He wrote letters.")
WRITTEN = with_spans(
    article(
        section("Dam", sentence("The dam is of 1926.", ORRIN), sentence("Trout live in it.", ORRIN)),
        lead=(sentence("Falk was a lawyer.", FALK),),
        sources=(ORRIN, FALK),
    )
)
ALL = {"orrin": DAM, "falk": FALK.snippets[0].text}


@given(articles())
@settings(max_examples=40)
def test_an_article_whose_sources_did_not_change_is_byte_identical(drawn: Article) -> None:
    own = with_spans(drawn)
    texts = {source.id: "\n\n".join(snippet.text for snippet in source.snippets) for source in own.sources}
    pages = {source.url: texts[source.id] for source in own.sources}
    found = refresh(own, YearJudge(), lambda url: Page(url, "", ((None, pages[url]),)))
    assert {change.kind for change in found.changes} <= {"unread"}
    assert all(not web_address(change.source) for change in found.changes)
    assert found.checked.article.to_json() == own.to_json()
    assert found.failing == frozenset()


def test_a_sentence_whose_passage_changed_cites_what_the_page_says_now() -> None:
    found = refreshed(WRITTEN, orrin=DAM.replace("1926", "1927"), falk=ALL["falk"])
    assert [(one.kind, one.text) for one in found.changes] == [("changed", "The dam is of 1926.")]
    assert found.failing == {1}
    before, after = list(WRITTEN.sentences()), list(found.checked.article.sentences())
    assert (after[0], after[2]) == (before[0], before[2])
    texts = {own.id: own.text for source in found.checked.article.sources for own in source.snippets}
    (cited,) = after[1].citations
    assert "1927" in texts[cited.snippet_id]
    still = refreshed(WRITTEN, orrin=f"It was in 1926 that the dam was ready. {DAM[95:]}", falk=ALL["falk"])
    assert still.failing == frozenset()
    assert {one.kind for one in still.changes} == {"changed"}


def test_words_of_a_search_engine_are_not_compared() -> None:
    engine = page_of("orrin", DAM, origin="snippet")
    own = article(section("Dam", sentence("The dam is of 1926.", engine)), sources=(engine,))
    found = refreshed(own, orrin="Something else.")
    assert (found.changes, found.uncompared) == ((), 1)
