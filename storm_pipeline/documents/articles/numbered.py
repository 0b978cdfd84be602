"""An article whose text cites the numbers of a list of references: what imported files have in common."""

from collections.abc import Iterable, Mapping

from storm_pipeline.documents.articles.markdown_blocks import HeadingNode, TextBlock, without_title
from storm_pipeline.documents.articles.pages import AvailablePages, Reference
from storm_pipeline.documents.articles.reference_list import is_back_matter
from storm_pipeline.references.citations import parse_marked
from storm_pipeline.text.marker_forms import MARKS
from storm_pipeline.text.markers import with_brackets
from storm_pipeline.text.outlines import is_foreign_back_matter
from storm_pipeline.text.words import tidy
from storm_pipeline.types import Article, Citation, Paragraph


def numbered_article(
    title: str, blocks: Iterable[TextBlock], references: Mapping[int, Reference], pages: AvailablePages
) -> Article:
    """An article from text in which :func:`~storm_pipeline.text.markers.mark` cites references by number.

    Each citation gets the best passages of its page. Citations of pages that are not available are dropped, and so are
    numbers without a reference; the report counts both. Back matter is left out, and an opening heading that is the
    title. A paragraph may have several lines; numbers are at most :data:`LARGEST_NUMBER`.
    """
    article, invented = _with_numbers(title, blocks, max(references, default=0))
    return pages.cite(article, references, invented)


def _with_numbers(title: str, blocks: Iterable[TextBlock], last: int) -> tuple[Article, int]:
    """An article in which a citation's source id is the number, and how many numbers are not in 1 to ``last``."""
    shown = tuple(Citation(str(number), "") for number in range(1, last + 1))
    invented = 0

    def read(text: str) -> Paragraph:
        nonlocal invented
        found = parse_marked(text, shown)
        invented += found.invented
        return Paragraph(found.sentences)

    tree = _body(HeadingNode.of_blocks(without_title(tuple(blocks), title)), 0)
    lead, sections = tree.read(read)
    return Article(title, lead, sections), invented


def _body(part: HeadingNode, level: int) -> HeadingNode:
    """A part of the tree without back matter below it, its headings without markers."""
    below = (_body(own, level + 1) for own in part.subsections)
    heading = with_brackets(tidy(MARKS.sub("", part.heading)))
    return HeadingNode(heading, part.paragraphs, tuple(own for own in below if not _is_back_matter(own, level + 1)))


def _is_back_matter(part: HeadingNode, level: int) -> bool:
    empty = not part.paragraphs and not part.subsections
    return is_back_matter(part.heading, level) or (empty and is_foreign_back_matter(part.heading))
