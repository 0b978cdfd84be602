"""Markdown: what a viewer shows is the article's text, and exactly the cited sources are listed."""

import itertools

from articles import citing
from export_readers import parse_markdown
from hypothesis import given, settings
from markdown_it import MarkdownIt
from markdown_it.token import Token
from strategies import articles

from storm_pipeline.evidence.citations import marker, number_references
from storm_pipeline.output.render.links import is_link, is_shared_link, shared_address
from storm_pipeline.output.render.markdown import to_markdown
from storm_pipeline.text.words import tidy
from storm_pipeline.types import Article, Citation, Paragraph, Section, Sentence, Snippet, Source


def test_an_article() -> None:
    a = Source("a", "https://a.org/x_(y)", "A & B", (Snippet("https://a.org/x_(y)", "A", "t"),))
    b = Source("b", "corpus:memo.md", "Memo")
    unused = Source("c", "https://c.org", "C")
    article = Article(
        "C#",
        (Paragraph((Sentence("It [1] *is*.", (Citation("b", ""), Citation("a", ""))), Sentence("- So."))),),
        (Section("Use", (Paragraph((Sentence("1. One\nline.", (Citation("a", ""),)),)),), (Section("Deep"),)),),
        (unused, a, b),
    )
    assert to_markdown(article) == (
        "# C\\#\n\n"
        "It \\[1\\] \\*is\\*.[1][2]\n\\- So.\n\n"
        "## Use\n\n1\\. One line.[2]\n\n### Deep\n\n"
        "## References\n\n1. Memo — corpus:memo.md\n2. [A & B](https://a.org/x_\\(y\\))\n\n"
        "---\n\n*3 sentences, 1 without a citation; 2 sources cited.*\n"
    )


def paged(url: str, *pages: int) -> Article:
    """An article that cites a passage on each of these pages, and holds one more that it does not cite."""
    passages = tuple(Snippet(url, "Port books", f"Passage {n}.", page=n) for n in pages)
    source = Source(passages[0].source_id, url, "Port books", (*passages, Snippet(url, "Port books", "x", page=99)))
    sentences = tuple(Sentence(f"Sentence {s.page}.", (Citation(source.id, s.id),)) for s in passages)
    return Article("Trade", sections=(Section("Ships", (Paragraph(sentences),)),), sources=(source,))


def test_pages_stand_in_the_reference() -> None:
    assert "\n1. Port books — a.pdf, p. 3\n" in to_markdown(paged("file:///home/me/a.pdf", 3))
    assert "\n1. Port books — a.pdf, pp. 3, 12\n" in to_markdown(paged("file:///a.pdf", 12, 3))
    assert "\n1. Port books — corpus:a, p. 3\n" in to_markdown(paged("corpus:a", 3))


def shown(token: Token) -> str:
    """The characters that a viewer shows for an inline token."""
    assert all(child.type in {"text", "softbreak", "text_special"} for child in token.children or ()), token.children
    return "".join("\n" if child.type == "softbreak" else child.content for child in token.children or ())


@given(articles())
def test_a_viewer_shows_the_texts_literally(article: Article) -> None:
    numbers = number_references(article)
    tokens = MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(to_markdown(article))
    end = next(i for i, t in enumerate(tokens) if t.type in {"ordered_list_open", "hr"})
    seen = [shown(t) for before, t in itertools.pairwise(tokens[:end]) if before.type == "paragraph_open"]
    paragraphs = [*article.lead]
    todo = list(article.sections)
    while todo:
        section = todo.pop(0)
        paragraphs.extend(section.paragraphs)
        todo[:0] = section.subsections
    rows = [[tidy(s.text) + marker(s, numbers) for s in p.sentences if tidy(s.text)] for p in paragraphs]
    assert seen == ["\n".join(row) for row in rows if row]


@given(articles())
@settings(max_examples=50)
def test_links_are_the_cited_linkable_sources(article: Article) -> None:
    tokens = MarkdownIt("commonmark").parse(to_markdown(article))
    links = [c for t in tokens for c in t.children or () if c.type == "link_open"]
    assert len(links) <= sum(is_link(source.url) for source in article.references)
    assert all(str(link.attrs["href"]).lower().startswith(("http://", "https://", "file:")) for link in links)


def test_preprints_are_marked_and_read_back() -> None:
    snippet = Snippet("https://arxiv.org/abs/2402.14207", "STORM", "It is so.", page=3)
    text = to_markdown(citing(snippet))
    assert "1. [STORM](https://arxiv.org/abs/2402.14207), p. 3, preprint" in text
    assert parse_markdown(text) == [("It is so.", (snippet.url,))]


def test_a_local_file_is_shared_by_its_name() -> None:
    assert shared_address("file:///home/a/my%20notes.pdf") == "my notes.pdf"
    assert shared_address("https://example.org/a b") == "https://example.org/a%20b"
    assert [is_shared_link(u) for u in ["http://a", "file:///a", "FILE:///a", "data:x"]] == [True, False, False, False]
