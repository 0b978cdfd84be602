"""Reads an article from a page of HTML, or a Word file made one, whose marks lead to notes or a list of references."""

from collections.abc import Sequence
from typing import Any
from urllib.parse import unquote

from storm_pipeline.errors import DatasetError
from storm_pipeline.output.articles.markdown import markdown_article, numbered_article
from storm_pipeline.output.articles.markdown_blocks import TextBlock
from storm_pipeline.output.articles.pages import NumberedArticle, Reference
from storm_pipeline.output.articles.reference_list import LARGEST_NUMBER, reference_of
from storm_pipeline.sources.documents.decoding import declared_charsets, decoded
from storm_pipeline.sources.documents.docx import docx_tree
from storm_pipeline.sources.documents.inline_markup import local_name, replace
from storm_pipeline.sources.documents.markup import blocks, parse_html
from storm_pipeline.text.markers import literal, mark, without_reserved
from storm_pipeline.text.plain import web_address
from storm_pipeline.text.words import folded_words, tidy

_SKIPPED = frozenset("header footer aside figure table form button h1".split())
_ENTRIES = frozenset({"li", "dd", "p", "div"})
_LOCATORS = frozenset({"p", "pp", "s", "ff"})


def page_article(title: str, data: bytes) -> NumberedArticle:
    """Read an article: a short link to an entry on the page cites it; the entry's page is its first link elsewhere.

    Text outside of ``<article>`` or ``<main>``, if there is one, is left out, as are navigation, tables and figures.
    Without such marks, numbers in brackets cite the list of references, as in Markdown. A page of ours has the passages
    that it cites. ``title``: of a page without a first heading. Raises DatasetError: it is empty or damaged.
    """
    from lxml import etree

    try:
        root = parse_html(decoded(data, declared_charsets(data)).encode())
    except (etree.LxmlError, ValueError, AssertionError) as error:
        raise DatasetError(f"no HTML page ({error})") from error
    return _article(title, root)


def docx_article(title: str, data: bytes) -> NumberedArticle:
    """Read an article from a Word file, as a page whose entries are the notes; cross-references to notes cite too.

    ``title``: of an article that has no paragraph in the style Title. Raises DatasetError: it is damaged.
    """
    stated, root = docx_tree(data)
    return _article(stated or title, root)


def _article(title: str, root: Any) -> NumberedArticle:
    for element in root.iter():
        element.text, element.tail = (without_reserved(text or "") for text in (element.text, element.tail))
    title = next((text for heading in root.iter("h1") if (text := _text(heading))), title)
    references = _take_references(root)
    body = next((part for name in ("article", "main", "body") for part in root.iter(name)), root)
    found = blocks(body, lambda element: local_name(element) in _SKIPPED, with_notes=not references)
    if references:
        texts = [TextBlock(title, 1), *(TextBlock(literal(text), level) for level, text in found)]
        return numbered_article(title, texts, references)
    return markdown_article(title, "\n\n".join(f"{'#' * level} {text}".strip() for level, text in found))


def _take_references(root: Any) -> dict[int, Reference]:
    """Remove the entries that marks link to, numbered as they are cited, and replace the marks by markers."""
    references: dict[int, Reference] = {}
    numbers: dict[str, int] = {}
    ids = {element.get("id"): element for element in root.iter() if isinstance(element.tag, str)}
    passages = _passages(root)
    for link in root.iter("a"):
        name = _target(link)
        entry = ids.get(name) if name else None
        if entry is None or name in numbers or not _is_mark(_text(link)) or len(references) >= LARGEST_NUMBER:
            continue
        if local_name(entry) in _ENTRIES and entry not in link.iterancestors():
            numbers[name] = len(references) + 1
            references[numbers[name]] = _reference(entry, passages.get(name, {}), tuple(references.values()))
    for element in list(root.iter("sup", "a")):
        cited = [numbers[name] for link in element.iter("a") if (name := _target(link)) in numbers]
        if cited:  # what else stands in a mark, such as a card, is not text of the article
            replace(element, "".join(map(mark, cited)))
    for name in numbers:
        replace(ids[name], "")
    return references


def _is_mark(text: str) -> bool:
    mark = text.strip("[] ").lower().removeprefix("note ").removeprefix("n ")
    return 0 < len(mark) <= 4 and all(char.isalnum() or char in "*†‡" for char in mark)


def _target(link: Any) -> str:
    href = link.get("href") or ""
    return unquote(href[1:]) if href.startswith("#") else ""


def _text(element: Any) -> str:
    return tidy("".join(element.itertext()))


def _passages(root: Any) -> dict[str, dict[str, None]]:
    """Return the passages in the cards of our own pages, by the name of the entry that a mark links to."""
    found: dict[str, dict[str, None]] = {}
    for passage in root.xpath("//span[@class='passage']"):
        for link in passage.xpath("(ancestor::*[@class='entry' or @class='cite'])[last()]/a[1]"):
            found.setdefault(_target(link), {})[tidy("".join(passage.xpath("text() | mark//text()")))] = None
    return found


def _reference(entry: Any, passages: dict[str, None], before: Sequence[Reference]) -> Reference:
    """Return the page that an entry names: by its first link elsewhere, whose words are the title, else by its text.

    A short note ("Falk, “Dam,” 3", "Ibid.") names that of one before it.
    """
    links = [link for link in entry.iter("a") if web_address(link.get("href") or "")]
    text = tidy("".join(entry.xpath(".//text()[not(ancestor::a[starts-with(@href, '#')])]")))
    if links:
        return Reference(links[0].get("href"), _text(links[0]) or text, "\n\n".join(passages))
    stated = reference_of(text)
    words = {word for word in folded_words(text) if not word.isdigit()} - _LOCATORS
    if stated.url or not words:
        return stated
    return next((one for one in reversed(before) if one.url and words <= {*folded_words(one.title), "ibid"}), stated)
