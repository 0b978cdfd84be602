"""Replaces sentences of articles: the one way in which checks, exports and revisions change an article's text."""

from collections.abc import Callable, Iterable
from dataclasses import replace

from storm_pipeline.evidence.editions import Editions
from storm_pipeline.types import Article, Citation, Paragraph, Section, Sentence


def with_sentences(article: Article, change: Callable[[Sentence], Sentence]) -> Article:
    """Return the article with each sentence replaced; ``change`` is called in reading order, lead first."""

    def paragraphs(own: Iterable[Paragraph]) -> tuple[Paragraph, ...]:
        return tuple(Paragraph(tuple(map(change, one.sentences))) for one in own)

    def section(own: Section) -> Section:
        before = paragraphs(own.paragraphs)  # reading order: before the subsections
        return Section(own.heading, before, tuple(map(section, own.subsections)))

    lead = paragraphs(article.lead)
    return replace(article, lead=lead, sections=tuple(map(section, article.sections)))


def one_source_per_text(article: Article, editions: Editions) -> Article:
    """Return the article with one source per text (:meth:`.Editions.sources`), and its citations pointing to these."""
    conversations = tuple(conversation.with_answers(editions.cited) for conversation in article.conversations)
    merged = replace(article, sources=editions.sources(), conversations=conversations)
    return with_sentences(merged, editions.cited)


def sections_with(sections: Iterable[Section], change: Callable[[Sentence], Sentence | None]) -> tuple[Section, ...]:
    """Replace or drop (None) each sentence in reading order; paragraphs and sections left empty are dropped."""
    edited: list[Section] = []
    for section in sections:
        changed = [[change(sentence) for sentence in paragraph.sentences] for paragraph in section.paragraphs]
        kept = (tuple(sentence for sentence in some if sentence is not None) for some in changed)
        filled = tuple(Paragraph(sentences) for sentences in kept if sentences)
        below = sections_with(section.subsections, change)
        if filled or below:
            edited.append(Section(section.heading, filled, below))
    return tuple(edited)


def citing(sentence: Sentence, is_kept: Callable[[Citation], bool]) -> Sentence | None:
    """Return the sentence with only the citations that pass ``is_kept``; None if it had citations and none passes."""
    left = tuple(filter(is_kept, sentence.citations))
    return replace(sentence, citations=left) if left or not sentence.citations else None
