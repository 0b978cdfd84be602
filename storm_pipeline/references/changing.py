"""Articles with other sentences: the one way in which checks, exports and revisions change an article's text."""

from collections.abc import Callable, Iterable
from dataclasses import replace

from storm_pipeline.types import Article, Paragraph, Section, Sentence


def with_sentences(article: Article, change: Callable[[Sentence], Sentence]) -> Article:
    """The article with each sentence replaced; ``change`` is called in reading order, lead first."""

    def paragraphs(own: Iterable[Paragraph]) -> tuple[Paragraph, ...]:
        return tuple(Paragraph(tuple(map(change, one.sentences))) for one in own)

    def section(own: Section) -> Section:
        before = paragraphs(own.paragraphs)  # reading order: before the subsections
        return Section(own.heading, before, tuple(map(section, own.subsections)))

    lead = paragraphs(article.lead)
    return replace(article, lead=lead, sections=tuple(map(section, article.sections)))
