"""Reads an article from Markdown with numbered citations, footnotes or linked numbers, and a list of references."""

import re
from collections.abc import Iterable, Mapping

from storm_pipeline.evidence.citations import parse_marked
from storm_pipeline.method.outlines import is_foreign_back_matter
from storm_pipeline.output.articles.markdown_blocks import HeadingNode, TextBlock, paragraph_blocks, without_title
from storm_pipeline.output.articles.pages import NumberedArticle, Reference
from storm_pipeline.output.articles.reference_list import LARGEST_NUMBER, listed_works, take_references
from storm_pipeline.text.back_matter import is_back_matter
from storm_pipeline.text.identity import source_id
from storm_pipeline.text.languages import detect
from storm_pipeline.text.markers import MARKS, literal, mark, mark_citations, with_brackets, without_reserved
from storm_pipeline.text.words import tidy
from storm_pipeline.types import Article, Citation, Paragraph, Sentence

_CAPTIONED_IMAGE = re.compile(r"^!\[.{0,2000}\]\(\S{1,2000}\)\n\*.*\*$", re.M)
_COUNTS = re.compile(r"^---\n+\*[\d,]+ sentences?, .* sources? cited\.\*(?:\n+\*.*\*)?\s*\Z", re.M)
"""The end of a text by :func:`storm_pipeline.output.render.markdown.to_markdown`."""
_LINKED_NUMBER = re.compile(
    r"\[(?:\\?\[)?\s*\^?(?P<number>\d{1,3})\s*(?:\\?\])?\]\(\s*<?(?P<url>(?:[^()<>\s]|\([^()\s]{0,500}\)){1,2000}?)>?"
    r"(?:\s+\"[^\"]*\")?\s*\)"
)
_FOOTNOTE_MARK = re.compile(r"(?<!\\)\[\^([^\[\]\s]{1,100})\]")
_MARK = re.compile(rf"(?<!\\)[\[【]\s*\^?\d|{MARKS.pattern}")
_ESCAPED = re.compile(r"\\(.)")


def markdown_article(title: str, text: str, references: Mapping[int, Reference] | None = None) -> NumberedArticle:
    """Read an article.

    Citations are ``[1]``, ``[1][2]``, ``[1, 2]``, ``[1-3]``, ``[^1]`` and ``[[1]](url)``. Escaped brackets are text,
    unless the article has no others. Paragraphs are separated by blank lines. Metadata in YAML and an opening heading
    that is the title are left out. ``references``: by number; None: those of the list in the text.
    """
    text = without_reserved("\n".join(text.splitlines()))
    head, _, below = text.partition("\n---\n")
    has_metadata = head.startswith("---\n") and all(":" in line or line[:1] in " -#" for line in head.splitlines())
    text = _CAPTIONED_IMAGE.sub("", _COUNTS.sub("", below if has_metadata else text))
    body, listed, footnotes = take_references(text)
    known = dict(listed if references is None else references)
    body = _with_link_numbers(body, known)
    numbers = {label: "".join(map(mark, cited)) for label, cited in footnotes.items()}
    body = _FOOTNOTE_MARK.sub(lambda match: numbers.get(match[1], f"[{match[1]}]"), body)
    if _MARK.search(body):
        body = _ESCAPED.sub(lambda match: literal(match[1]) if match[1] in "[]" else match[0], body)
    return numbered_article(title, paragraph_blocks(mark_citations(body, max(known, default=0))), known)


def _with_link_numbers(text: str, references: dict[int, Reference]) -> str:
    """Replace linked numbers by plain ones, and add their pages to the references.

    A link within the article keeps its number. A link to a page gets the page's number, which may be new.
    """
    pages = {source_id(reference.url): number for number, reference in reversed(references.items()) if reference.url}

    def plain(match: re.Match[str]) -> str:
        number, url = int(match["number"]), match["url"]
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


def numbered_article(title: str, blocks: Iterable[TextBlock], references: Mapping[int, Reference]) -> NumberedArticle:
    """Return an article from text in which :func:`~storm_pipeline.text.markers.mark` cites references by number.

    Leaves out back matter and an opening heading that is the title. A paragraph may have several lines; numbers are at
    most :data:`LARGEST_NUMBER`. Sentences are split by the rules of the text's language.
    """
    body = without_title(tuple(blocks), title)
    language = detect("\n".join(MARKS.sub("", block.text) for block in body if not block.level)) or "en"
    shown = tuple(Citation(str(number), "") for number in range(1, max(references, default=0) + 1))
    invented = 0

    def read(text: str) -> Paragraph:
        nonlocal invented
        claims, more = parse_marked(text, len(shown), language)
        invented += more
        return Paragraph(tuple(Sentence(claim.text, tuple(shown[i] for i in claim.cited)) for claim in claims))

    article = Article(title, *_body(HeadingNode.of_blocks(body), 0).read(read), language=language)
    return NumberedArticle(article, references, invented, listed=tuple(listed_works(body)))


def _body(part: HeadingNode, level: int) -> HeadingNode:
    """Return a part of the tree without back matter and without markers in headings."""
    below = (_body(part, level + 1) for part in part.subsections)
    heading = with_brackets(tidy(MARKS.sub("", part.heading)))
    kept = (part for part in below if not is_back_matter(part.heading, level + 1))
    foreign = (part for part in kept if part.paragraphs or part.subsections or not is_foreign_back_matter(part.heading))
    return HeadingNode(heading, part.paragraphs, tuple(foreign))
