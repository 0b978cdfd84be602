"""What metrics read of a generated article, in the form that ``HumanArticle`` has: plain text, and headings.

Where a metric has no tokens of its own, words are :func:`storm_pipeline.text.words.folded_words` on both sides.
"""

from storm_pipeline.types import UNTITLED, Article, Paragraph, Section

HEADINGS = "outline, else body; of an undivided body none"
"""What :func:`generated_headings` takes, for the parameters of a metric."""


def generated_text(article: Article) -> str:
    """Lead and body without headings and markers; paragraphs are separated by blank lines."""
    paragraphs = [*article.lead, *(p for section in article.sections for p in _paragraphs(section))]
    texts = (" ".join(s.text for s in paragraph.sentences) for paragraph in paragraphs)
    return "\n\n".join(text for text in texts if text.strip())


def generated_headings(article: Article) -> tuple[str, ...]:
    """The headings of the outline, all levels, depth first; of the body where there is no outline.

    The paper measures outlines before anything is written from them (section 2.2).
    """
    return tuple(article.outline.titles()) or body_headings(article)


def body_headings(article: Article) -> tuple[str, ...]:
    """The headings of the body, all levels, depth first; none where its writer did not divide it.

    Such a body stands in one section under :data:`storm_pipeline.types.UNTITLED`, which no method wrote.
    """
    found = tuple(heading for section in article.sections for heading in _headings(section))
    return () if found == (UNTITLED,) else found


def _paragraphs(section: Section) -> tuple[Paragraph, ...]:
    return (*section.paragraphs, *(p for part in section.subsections for p in _paragraphs(part)))


def _headings(section: Section) -> tuple[str, ...]:
    return (section.heading, *(heading for part in section.subsections for heading in _headings(part)))
