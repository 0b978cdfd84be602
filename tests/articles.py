"""Small articles with citations, for tests."""

from storm_pipeline.types import Article, Citation, Paragraph, Section, Sentence, Snippet, Source


def source(name: str, *texts: str) -> Source:
    """A page called by a name, with a snippet for each text."""
    snippets = tuple(Snippet(f"https://example.org/{name}", name, text) for text in texts)
    return Source(snippets[0].source_id, snippets[0].url, name, snippets)


def sentence(text: str, *sources: Source) -> Sentence:
    """A sentence that cites all snippets of some sources."""
    return Sentence(text, tuple(Citation(own.id, snippet.id) for own in sources for snippet in own.snippets))


def section(heading: str, *sentences: Sentence | str, below: tuple[Section, ...] = ()) -> Section:
    """A section of one paragraph."""
    whole = tuple(Sentence(own) if isinstance(own, str) else own for own in sentences)
    return Section(heading, (Paragraph(whole),) if whole else (), below)


def article(
    *sections: Section, lead: tuple[Sentence, ...] = (), sources: tuple[Source, ...] = (), title: str = "Lake Orrin"
) -> Article:
    """An article with a lead of at most one paragraph."""
    return Article(title, (Paragraph(lead),) if lead else (), sections, sources)


def page_of(*snippets: Snippet) -> Source:
    """The source of some snippets of a page, titled as the first of them."""
    return Source(snippets[0].source_id, snippets[0].url, snippets[0].title, snippets)


def cites(text: str, *snippets: Snippet) -> Sentence:
    """A sentence that cites snippets."""
    return Sentence(text, tuple(Citation(own.source_id, own.id) for own in snippets))


def citing(*snippets: Snippet, text: str = "It is so.", title: str = "T") -> Article:
    """An article of one sentence that cites snippets of as many pages."""
    return article(lead=(cites(text, *snippets),), sources=tuple(map(page_of, snippets)), title=title)
