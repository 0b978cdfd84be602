"""Plain text and headings of a generated article, comparable with ``HumanArticle``'s.

Metrics without their own tokenization use :func:`storm_pipeline.text.words.folded_words` on both sides.
"""

from storm_pipeline.types import UNTITLED, Article, Paragraph, Section

HEADINGS = "outline, else body; of an undivided body none"
"""Description of :func:`generated_headings` for a metric's parameters."""


def generated_text(article: Article) -> str:
    """Lead and body without headings and markers, paragraphs separated by blank lines."""
    paragraphs = [*article.lead, *(p for section in article.sections for p in _paragraphs(section))]
    texts = (" ".join(s.text for s in paragraph.sentences) for paragraph in paragraphs)
    return "\n\n".join(text for text in texts if text.strip())


def generated_headings(article: Article) -> tuple[str, ...]:
    """All headings of the outline, depth first; without an outline, those of the body.

    The paper evaluates outlines before writing (section 2.2).
    """
    return tuple(article.outline.titles()) or body_headings(article)


def body_headings(article: Article) -> tuple[str, ...]:
    """All headings of the body, depth first; none for an undivided body.

    An undivided body is one section titled :data:`storm_pipeline.types.UNTITLED`.
    """
    found = tuple(heading for section in article.sections for heading in _headings(section))
    return () if found == (UNTITLED,) else found


def _paragraphs(section: Section) -> tuple[Paragraph, ...]:
    return (*section.paragraphs, *(p for part in section.subsections for p in _paragraphs(part)))


def _headings(section: Section) -> tuple[str, ...]:
    return (section.heading, *(heading for part in section.subsections for heading in _headings(part)))
