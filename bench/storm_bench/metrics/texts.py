"""Plain text and headings of a generated article, comparable with ``HumanArticle``'s.

Metrics without their own tokenization use :func:`storm_pipeline.text.words.folded_words` on both sides.
"""

from typing import Literal

from storm_bench.sections import all_paragraphs, all_sections
from storm_pipeline import Article
from storm_pipeline.types import UNTITLED

HeadingsOf = Literal["outline", "article"]
"""``outline``: all headings of the outline, without one those of the body; ``article``: those of the body alone."""
_DESCRIPTIONS: dict[HeadingsOf, str] = {
    "outline": "outline, else body; of an undivided body none",
    "article": "body; of an undivided body none",
}


def generated_text(article: Article) -> str:
    """Lead and body without headings and markers, paragraphs separated by blank lines."""
    texts = (" ".join(s.text for s in paragraph.sentences) for paragraph in all_paragraphs(article))
    return "\n\n".join(text for text in texts if text.strip())


def generated_headings(article: Article, headings_of: HeadingsOf = "outline") -> tuple[str, ...]:
    """The headings of the outline or of the body, depth first.

    The paper evaluates outlines before writing (section 2.2). Beside articles that have no outline this is unfair:
    an outline also has the headings of sections that could not be written.
    """
    outline = tuple(article.outline.titles()) if headings_of == "outline" else ()
    return outline or body_headings(article)


def describe_headings(headings_of: HeadingsOf) -> str:
    """Description of :func:`generated_headings` for a metric's parameters."""
    return _DESCRIPTIONS[headings_of]


def body_headings(article: Article) -> tuple[str, ...]:
    """All headings of the body, depth first; none for an undivided body."""
    return () if is_undivided(article) else tuple(section.heading for _, section in all_sections(article))


def is_undivided(article: Article) -> bool:
    """Return whether the body came without headings: one section that only our package named, without lead or outline.

    A section that the outline names, or that stands below a lead, was called :data:`storm_pipeline.types.UNTITLED` by
    its writer.
    """
    found = [section.heading for _, section in all_sections(article)]
    return found == [UNTITLED] and not article.lead and UNTITLED not in article.outline.titles()
