"""Parses an article's HTML as rendered by MediaWiki into text, headings, citations and infobox.

HTML instead of wikitext, because only MediaWiki can expand templates (units, dates, citations).
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Any

from storm_bench.datasets.dataset import without_back_matter
from storm_bench.datasets.wiki_citations import Citations, take_citations
from storm_bench.types import HumanArticle, HumanSection, HumanSentence, TopicDocument
from storm_pipeline import DatasetError
from storm_pipeline.api import is_back_matter, plain_text, source_id, split_sentences
from storm_pipeline.output.articles.markdown_blocks import HeadingNode, TextBlock

_TAGS = frozenset("table style script figure noscript math audio video".split())
_CLASSES = frozenset(
    """navbox hatnote reflist references mw-references-wrap thumb gallery ambox toc mw-editsection noprint metadata
    shortdescription sistersitebox mw-empty-elt side-box portalbox infobox catlinks geo-nondefault""".split()
)
_HEADINGS = {f"h{level}": level for level in range(2, 7)}
_UNPRINTABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")  # invalid in XML
_MARK = re.compile(r"\[\s*\d+\s*\](?![^\W_])")
_DISPLAY = re.compile(r"\{\\displaystyle (.*)\}")


@dataclass(frozen=True)
class Features:
    """Limits in the plans of builders."""

    words: int  # words of prose
    list_words: int  # words in lists
    sections: int  # first-level sections of the body
    subsections: int  # all subsections of the body


@dataclass(frozen=True)
class WikiPage:
    """A rendered article."""

    title: str  # of the article
    url: str  # its URL
    tree: HeadingNode  # the text before the first heading; all sections are below it
    citations: Citations  # the documents its marks cite
    infobox: tuple[tuple[str, str], ...]  # field → value
    features: Features

    @cached_property
    def article(self) -> HumanArticle:
        """The article with its sentences, split lazily because that takes a second for a long article."""
        body, back = without_back_matter([_section(part, self.citations) for part in self.tree.subsections])
        cited = tuple(self.citations.values())
        lead = _text(_sentences(self.tree, self.citations))
        return HumanArticle(self.title, self.url, lead, body, cited, infobox=self.infobox, back_matter=back)

    def links(self) -> tuple[TopicDocument, ...]:
        """Return the distinct pages cited by editors, in order."""
        cited = {source_id(c.url): c for c in reversed(list(self.citations.values())) if c.url}
        return tuple(reversed(cited.values()))


def read_page(html: str, title: str, url: str) -> WikiPage:
    """Parse an article; only paragraphs count as text, as in the published data: no lists, no tables.

    ``html``: result of ``action=parse``; both heading and citation markups are supported. Raises DatasetError: there is
    no HTML.
    """
    root = _root(html, title)
    infobox = tuple(_infobox(root))
    citations = take_citations(root)
    _strip(root)
    tree = HeadingNode.of_blocks(_blocks(root))
    return WikiPage(title, url, tree, citations, infobox, _features(root, tree))


def _root(html: str, title: str) -> Any:
    import lxml.etree
    import lxml.html

    try:
        return lxml.html.fragment_fromstring(_UNPRINTABLE.sub(" ", html), create_parent="div")
    except (lxml.etree.LxmlError, ValueError) as error:
        raise DatasetError(f"the page {title!r} has no HTML; leave it out") from error


def _classes(element: Any) -> set[str]:
    return set((element.get("class") or "").split())


def _infobox(root: Any) -> Iterator[tuple[str, str]]:
    """(field, value) of the first infobox's rows that have both."""
    box = next((table for table in root.iter("table") if "infobox" in _classes(table)), None)
    for row in box.iter("tr") if box is not None else ():
        name, value = row.find("th"), row.find("td")
        if name is not None and value is not None:
            pair = plain_text(_spaced_text(name)), plain_text(_spaced_text(value))
            if all(pair):
                yield pair


def _spaced_text(element: Any) -> str:
    """Return the text with list items and lines separated by spaces, without citation marks."""
    return _MARK.sub("", " ".join(text for text in element.itertext() if text.strip()))


def _strip(root: Any) -> None:
    """Remove everything except running text."""
    for formula in list(root.iter("span")):
        if "mwe-math-element" in _classes(formula):
            image = next(formula.iter("img"), None)
            formula.tail = _DISPLAY.sub(r"\1", (image.get("alt") or "") if image is not None else "") + (
                formula.tail or ""
            )
            formula.drop_tree()
    for line in root.iter("br"):
        line.tail = " " + (line.tail or "")
    for element in list(root.iter()):
        if element is not root and _is_not_prose(element):
            element.drop_tree()


def _is_not_prose(element: Any) -> bool:
    is_comment = not isinstance(element.tag, str)
    return is_comment or element.tag in _TAGS or bool(_classes(element) & _CLASSES)


def _blocks(root: Any) -> Iterator[TextBlock]:
    for element in root.iter("p", *_HEADINGS):
        text = plain_text(element.text_content())
        if level := _HEADINGS.get(element.tag):
            yield TextBlock(plain_text(_MARK.sub("", text)), level)
        elif text:
            yield TextBlock(text)


def _section(part: HeadingNode, citations: Citations) -> HumanSection:
    paragraphs = _sentences(part, citations)
    below = tuple(_section(subsection, citations) for subsection in part.subsections)
    return HumanSection(part.heading, _text(paragraphs), below, tuple(chain.from_iterable(paragraphs)))


def _text(paragraphs: list[list[HumanSentence]]) -> str:
    return "\n\n".join(" ".join(sentence.text for sentence in paragraph) for paragraph in paragraphs if paragraph)


def _sentences(part: HeadingNode, citations: Citations) -> list[list[HumanSentence]]:
    """Return the sentences of each paragraph, with the addresses that they cite."""
    return [[found for text in split_sentences(p) for found in _cited(text, citations)] for p in part.paragraphs]


def _cited(sentence: str, citations: Citations) -> Iterator[HumanSentence]:
    numbers = [int(found) for mark in _MARK.finditer(sentence) for found in re.findall(r"\d+", mark[0])]
    cited = (citations[number].url for number in numbers if number in citations)
    if text := plain_text(_MARK.sub("", sentence)):
        yield HumanSentence(text, tuple(dict.fromkeys(filter(None, cited))))


def _features(root: Any, tree: HeadingNode) -> Features:
    body = [part for part in tree.subsections if not is_back_matter(part.heading)]
    parts = [below for part in body for below in _walk(part)]
    text = (_MARK.sub("", paragraph) for part in (tree, *parts) for paragraph in part.paragraphs)
    lists = (item.text_content() for item in root.iter("li") if next(item.iterancestors("li"), None) is None)
    words, list_words = (sum(len(text.split()) for text in texts) for texts in (text, lists))
    return Features(words, list_words, len(body), len(parts) - len(body))


def _walk(part: HeadingNode) -> Iterator[HeadingNode]:
    yield part
    for below in part.subsections:
        yield from _walk(below)
