"""Reads an article from Markdown with numbered citations, footnotes or linked numbers, and a list of references."""

import re

from storm_pipeline.documents.articles.markdown_blocks import paragraph_blocks
from storm_pipeline.documents.articles.numbered import numbered_article
from storm_pipeline.documents.articles.pages import AvailablePages, Reference
from storm_pipeline.documents.articles.reference_list import LARGEST_NUMBER, take_references
from storm_pipeline.identity import source_id
from storm_pipeline.text.marker_forms import MARKS
from storm_pipeline.text.markers import literal, mark, marked, without_reserved
from storm_pipeline.types import Article

_CAPTIONED_IMAGE = re.compile(r"^!\[.{0,2000}\]\(\S{1,2000}\)\n\*.*\*$", re.M)
_COUNTS = re.compile(r"^---\n+\*[\d,]+ sentences?, .* sources? cited\.\*(?:\n+\*.*\*)?\s*\Z", re.M)
"""How :func:`storm_pipeline.render.markdown.to_markdown` ends."""
_LINKED_NUMBER = re.compile(
    r"\[(?:\\?\[)?\s*\^?(?P<number>\d{1,3})\s*(?:\\?\])?\]\(\s*<?(?P<url>(?:[^()<>\s]|\([^()\s]{0,500}\)){1,2000}?)>?"
    r"(?:\s+\"[^\"]*\")?\s*\)"
)
_FOOTNOTE_MARK = re.compile(r"(?<!\\)\[\^([^\[\]\s]{1,100})\]")
_MARK = re.compile(rf"(?<!\\)[\[【]\s*\^?\d|{MARKS.pattern}")
_ESCAPED = re.compile(r"\\(.)")


def markdown_article(
    title: str, text: str, pages: AvailablePages, references: dict[int, Reference] | None = None
) -> Article:
    """Read an article.

    ``[1]``, ``[1][2]``, ``[1, 2]``, ``[1-3]``, ``[^1]`` and ``[[1]](url)`` cite. Escaped brackets are text, unless the
    article has no others. Lines without a blank one between them are one paragraph. An opening heading that is the
    title is left out. ``references``: by number; None: those of the list in the text.
    """
    return marked_article(title, without_reserved("\n".join(text.splitlines())), pages, references)


def marked_article(
    title: str, text: str, pages: AvailablePages, references: dict[int, Reference] | None = None
) -> Article:
    """As :func:`markdown_article`, of lines in which :func:`~storm_pipeline.text.markers.mark` may cite too."""
    text = _CAPTIONED_IMAGE.sub("", _COUNTS.sub("", text))
    body, listed, footnotes = take_references(text)
    known = dict(listed if references is None else references)
    body = _with_link_numbers(body, known)
    numbers = {label: mark(number) for label, number in footnotes.items()}
    body = _FOOTNOTE_MARK.sub(lambda found: numbers.get(found[1], f"[{found[1]}]"), body)
    if _MARK.search(body):
        body = _ESCAPED.sub(lambda found: literal(found[1]) if found[1] in "[]" else found[0], body)
    return numbered_article(title, paragraph_blocks(marked(body, max(known, default=0))), known, pages)


def _with_link_numbers(text: str, references: dict[int, Reference]) -> str:
    """Replace linked numbers by plain ones, and add their pages to the references.

    A link to a place in the article keeps its number. One to a page gets the page's number, a new one if need be.
    """
    pages = {source_id(reference.url): number for number, reference in reversed(references.items()) if reference.url}

    def plain(found: re.Match[str]) -> str:
        number, url = int(found["number"]), found["url"]
        if url.startswith("#"):
            return mark(number)
        if source_id(url) not in pages:
            free = number if number and number not in references else max(references, default=0) + 1
            if free > LARGEST_NUMBER:
                return ""
            references[free] = Reference(url)
            pages[source_id(url)] = free
        return mark(pages[source_id(url)])

    return _LINKED_NUMBER.sub(plain, text)
