"""Texts and headings of generated and human articles, as they are compared.

Metrics without their own tokenization use :func:`storm_pipeline.text.words.folded_words` on both sides. Headings and
ROUGE compare what the official STORM evaluation compares: where a data set publishes its articles as text (FreshWiki's
``txt/``), that text is the ground truth; otherwise it is rendered from the article's tree.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Literal

from storm_bench.sections import all_paragraphs, all_sections
from storm_bench.types import HumanArticle, HumanSection
from storm_pipeline import Article
from storm_pipeline.types import UNTITLED, Paragraph

HeadingsOf = Literal["outline", "article"]
"""``outline``: all headings of the outline, without one those of the body; ``article``: those of the body alone."""

_BACK_MATTER = ("references", "external links", "see also", "notes")
_REFERENCES = "# References"
_URL = re.compile(r"(?:http|www)\S+")
_NON_ASCII = re.compile(r"[^\x00-\x7f]+")
_CITATION = re.compile(r"\[\d+\]")
_PUNCTUATION = re.compile(r"[^\w\s]")


def generated_text(article: Article) -> str:
    """Return the lead and body without headings and markers, paragraphs separated by blank lines."""
    texts = (" ".join(s.text for s in paragraph.sentences) for paragraph in all_paragraphs(article))
    return "\n\n".join(text for text in texts if text.strip())


def generated_headings(article: Article, headings_of: HeadingsOf = "outline") -> tuple[str, ...]:
    """Return the headings of the outline or of the body, depth first.

    The paper evaluates outlines before writing (section 2.2). Beside articles that have no outline this is unfair:
    an outline also has the headings of sections that could not be written.
    """
    outline = tuple(article.outline.titles()) if headings_of == "outline" else ()
    return outline or body_headings(article)


def describe_headings(headings_of: HeadingsOf) -> str:
    """Return the description of :func:`generated_headings` for a metric's parameters."""
    return f"{'outline, else ' if headings_of == 'outline' else ''}body; of an undivided body none"


def body_headings(article: Article) -> tuple[str, ...]:
    """Return all headings of the body, depth first; none for an undivided body."""
    return () if is_undivided(article) else tuple(section.heading for _, section in all_sections(article))


def is_undivided(article: Article) -> bool:
    """Return whether the body came without headings: one section that only our package named, without lead or outline.

    A section that the outline names, or that follows a lead, was called :data:`storm_pipeline.types.UNTITLED` by
    its writer.
    """
    found = [section.heading for _, section in all_sections(article)]
    return found == [UNTITLED] and not article.lead and UNTITLED not in article.outline.titles()


def heading_pair(
    human: HumanArticle, article: Article, headings_of: HeadingsOf = "outline"
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the headings to compare, those of the ground truth and those generated, depth first.

    As official: from the human article's text, and both cut at the first heading of back matter.
    """
    produced = generated_headings(article, headings_of)
    lines = (line.strip() for line in human_text(human).splitlines())
    return cut_headings([line.strip("#").strip() for line in lines if line.startswith("#")]), cut_headings(produced)


def cut_headings(headings: Sequence[str]) -> tuple[str, ...]:
    """Return the headings before the first that contains ``references``, ``external links``, ``see also`` or ``notes``.

    The word may be anywhere in a heading, so that "Bank notes" ends the list too, as in the official code.
    """
    places = (i for i, heading in enumerate(headings) if any(word in heading.lower() for word in _BACK_MATTER))
    return tuple(headings[: next(places, len(headings))])


def human_text(human: HumanArticle) -> str:
    """Return the human article with ``#`` headings, as published or rendered from its tree."""
    body = (line for section in human.sections for line in _human_lines(section, 1))
    return human.published_text or "\n".join([human.lead, *body])


def article_text(article: Article) -> str:
    """Return a generated article with ``#`` headings, without citation markers; an undivided body has no heading."""
    body = (
        line
        for path, section in all_sections(article)
        for line in (f"{'#' * len(path)} {section.heading}", *map(_paragraph, section.paragraphs))
    )
    lines = (*map(_paragraph, article.lead), *body)
    return "\n".join(lines[1:] if is_undivided(article) else lines)


def plain(text: str) -> str:
    """Return a text as the official evaluation cleans it for ROUGE.

    Ends before ``# References``; headings become ``section: TITLE``; URLs, citation marks, punctuation and characters
    outside ASCII are removed.
    """
    lines: list[str] = []
    for line in filter(None, text.split("\n")):
        if line == _REFERENCES:
            break
        lines.append(f"section: {line.replace('#', '').strip()}" if line.startswith("#") else line)
    cleaned = _NON_ASCII.sub("", _URL.sub("", "\n".join(lines)))
    return _PUNCTUATION.sub("", _CITATION.sub("", cleaned))


def _human_lines(section: HumanSection, level: int) -> Iterator[str]:
    yield f"{'#' * level} {section.heading}"
    yield section.text
    for part in section.subsections:
        yield from _human_lines(part, level + 1)


def _paragraph(paragraph: Paragraph) -> str:
    return " ".join(sentence.text for sentence in paragraph.sentences)
