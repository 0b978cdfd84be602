"""The sections of an article, in reading order: what every metric that reads its body walks through."""

from collections.abc import Iterable, Iterator

from storm_pipeline import Article
from storm_pipeline.types import Paragraph, Section


def all_sections(article: Article) -> Iterator[tuple[tuple[str, ...], Section]]:
    """Return all sections of the body, depth first, each with the headings that lead to it, its own last."""
    return _below(article.sections, ())


def all_paragraphs(article: Article) -> Iterator[Paragraph]:
    """Yield the paragraphs of lead and body."""
    yield from article.lead
    for _, section in all_sections(article):
        yield from section.paragraphs


def _below(sections: Iterable[Section], above: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Section]]:
    for section in sections:
        path = (*above, section.heading)
        yield path, section
        yield from _below(section.subsections, path)
