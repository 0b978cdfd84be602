"""Three pages, and articles that cite them, for the tests of imported articles."""

from collections.abc import Iterable

from hypothesis import strategies as st

from storm_pipeline.output.articles import AvailablePages, Reference
from storm_pipeline.output.articles.markdown import markdown_article
from storm_pipeline.output.articles.reading import json_article
from storm_pipeline.output.articles.wikitext import wikitext_article
from storm_pipeline.types import Article, Citation, Paragraph, Section, Sentence, Snippet, Source

DAM = "https://dam.example/history"
LAKE = "https://lake.example/a_(b)?x=1&y=2"
BIRDS = "https://birds.example/list.html"
DOCUMENTS = (
    Reference(DAM, "The dam", f"Begun in 1929. {'It is made of stone. ' * 60}The dam cost 12 million crowns."),
    Reference(LAKE, "The lake", "Lake Orrin is a reservoir in Valmere. It was filled in 1931."),
    Reference(BIRDS, "", "Ospreys nest at the northern shore."),
)
PAGES = AvailablePages(DOCUMENTS)
TITLE = "Lake Orrin"


def read_markdown(text: str) -> Article:
    return PAGES.cite(markdown_article(TITLE, text))


def read_wikitext(text: str) -> Article:
    return PAGES.cite(wikitext_article(TITLE, text))


def read_json(text: str) -> Article:
    return PAGES.cite(json_article(TITLE, text))


def rows(article: Article) -> list[tuple[str, list[str]]]:
    """Every sentence with the addresses of the pages it cites."""
    urls = {source.id: source.url for source in article.sources}
    return [(own.text, [urls[one.source_id] for one in own.citations]) for own in article.sentences()]


def passages(article: Article) -> list[list[str]]:
    """The passages that every sentence cites, each below the title of its page."""
    held = {
        snippet.id: f"{source.title}\n{snippet.text}".strip()
        for source in article.sources
        for snippet in source.snippets
    }
    return [[held[one.snippet_id] for one in own.citations] for own in article.sentences()]


WORDS = st.sampled_from("dam lake stone 1931 <b> a_b *c* [d] [1] [^2] (x) | x|y & 3.5 $4 ~e~ `f` £7 #8 - ö 中".split())
sentences = st.lists(WORDS, min_size=1, max_size=8).map(lambda own: f"The {' '.join(own)} stays.")
pages = st.sampled_from([DAM, LAKE, BIRDS])


@st.composite
def cited_articles(draw: st.DrawFn) -> Article:
    """Articles of plain sentences that cite the topic's documents."""
    sources = {}
    for document in DOCUMENTS:
        snippet = Snippet(document.url, document.title, document.text[:80])
        sources[document.url] = Source(snippet.source_id, document.url, document.title, (snippet,))

    def paragraphs(most: int) -> tuple[Paragraph, ...]:
        return tuple(
            Paragraph(tuple(sentence() for _ in range(draw(st.integers(1, 3)))))
            for _ in range(draw(st.integers(0, most)))
        )

    def sentence() -> Sentence:
        cited = [sources[url] for url in draw(st.lists(pages, unique=True, max_size=3))]
        return Sentence(draw(sentences), tuple(Citation(own.id, own.snippets[0].id) for own in cited))

    headings = st.sampled_from(["History", "Later [years]", "Birds & fish", "C#", "1 | 2"])
    parts = tuple(
        Section(draw(headings), paragraphs(2), (Section(draw(headings), paragraphs(1)),) if draw(st.booleans()) else ())
        for _ in range(draw(st.integers(0, 2)))
    )
    language = draw(st.sampled_from(["en", "de", "zh"]))
    return Article("Lake Orrin", paragraphs(2), parts, tuple(sources.values()), language=language)


def headings(sections: Iterable[Section]) -> list[object]:
    return [(own.heading, headings(own.subsections)) for own in sections]


def require_same(found: Article, article: Article) -> None:
    """Check that an article came back whole: its sentences with their sources, its headings and its lead."""
    assert [(text, set(urls)) for text, urls in rows(found)] == [(text, set(urls)) for text, urls in rows(article)]
    assert headings(found.sections) == headings(article.sections)
    assert [len(one.sentences) for one in found.lead] == [len(one.sentences) for one in article.lead]
    assert (found.report.invented_citations, found.report.unavailable_citations) == (0, 0)


def cites_all(article: Article) -> bool:
    """Whether what is cited is what is held, and held of the topic's documents alone."""
    held = {(source.id, snippet.id) for source in article.sources for snippet in source.snippets}
    cited = {(one.source_id, one.snippet_id) for sentence in article.sentences() for one in sentence.citations}
    return cited == held and {source.url for source in article.sources} <= {document.url for document in DOCUMENTS}
