"""Reads an article from an HTML page or a Word file, whose marks link to notes or a list of references."""

from collections.abc import Sequence
from typing import Any
from urllib.parse import unquote

from storm_pipeline.errors import DatasetError
from storm_pipeline.output.articles.markdown import markdown_article, numbered_article
from storm_pipeline.output.articles.markdown_blocks import TextBlock
from storm_pipeline.output.articles.pages import NumberedArticle, Reference
from storm_pipeline.output.articles.reference_list import LARGEST_NUMBER, LOCATORS, reference_of
from storm_pipeline.sources.documents.decoding import declared_charsets, decode
from storm_pipeline.sources.documents.docx import docx_tree
from storm_pipeline.sources.documents.inline_markup import local_name, replace
from storm_pipeline.sources.documents.markup import blocks, parse_html
from storm_pipeline.text.markers import literal, mark, without_reserved
from storm_pipeline.text.plain import web_address
from storm_pipeline.text.words import folded_words, tidy

_SKIPPED = frozenset("header footer aside figure table form button h1".split())
_NOT_OF_ENTRY = "ancestor::a[starts-with(@href, '#')] or ancestor::details or ancestor::span[@class='n']"
"""Links back, and on our own pages the sentences that rest on a source and its number."""
_ENTRIES = frozenset({"li", "dd", "p", "div"})


def page_article(title: str, data: bytes) -> NumberedArticle:
    """Read an article: a short link to an entry on the page cites the entry's first external link.

    Leaves out text outside of ``<article>`` or ``<main>``, navigation, tables and figures. Without such links, numbers
    in brackets cite the list of references, as in Markdown. Our own pages contain the cited passages. ``title``: used
    if the page has no first heading. Raises DatasetError: it is empty or damaged.
    """
    from lxml import etree

    try:
        root = parse_html(decode(data, declared_charsets(data)).encode())
    except (etree.LxmlError, ValueError, AssertionError) as error:
        raise DatasetError(f"no HTML page ({error})") from error
    return _article(title, root)


def docx_article(title: str, data: bytes) -> NumberedArticle:
    """Read an article from a Word file; notes and cross-references to notes are its citations.

    ``title``: used if no paragraph has the style Title. Raises DatasetError: it is damaged.
    """
    stated, root = docx_tree(data)
    return _article(stated or title, root)


def _article(title: str, root: Any) -> NumberedArticle:
    for element in root.iter():
        element.text, element.tail = (without_reserved(text or "") for text in (element.text, element.tail))
    title = next((text for heading in root.iter("h1") if (text := _text(heading))), title)
    references = _take_references(root)
    body = next((part for name in ("article", "main", "body") for part in root.iter(name)), root)
    parts = blocks(body, lambda element: local_name(element) in _SKIPPED, with_notes=not references)
    if references:
        texts = [TextBlock(title, 1), *(TextBlock(literal(text), level) for level, text in parts)]
        return numbered_article(title, texts, references)
    return markdown_article(title, "\n\n".join(f"{'#' * level} {text}".strip() for level, text in parts))


def _take_references(root: Any) -> dict[int, Reference]:
    """Remove the entries that marks link to, numbered by first citation, and replace the marks by markers."""
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
        if cited:  # other content of a mark, such as a card, is not text of the article
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
    """Return the passages in the cards of our own pages, by the name of the linked entry."""
    passages: dict[str, dict[str, None]] = {}
    for passage in root.xpath("//span[@class='passage']"):
        for link in passage.xpath("(ancestor::*[@class='entry' or @class='cite'])[last()]/a[1]"):
            passages.setdefault(_target(link), {})[tidy("".join(passage.xpath("text() | mark//text()")))] = None
    return passages


def _reference(entry: Any, passages: dict[str, None], before: Sequence[Reference]) -> Reference:
    """Return the work that an entry names: its first external link with the link's text as title, else from its text.

    A short note ("Falk, “Dam,” 3", "Ibid.") names the work of an earlier one.
    """
    hrefs = {link: (link.get("href") or "").strip() for link in entry.iter("a")}
    relative = [link for link, href in hrefs.items() if href and not href.startswith("#") and ":" not in href]
    links = [link for link, href in hrefs.items() if web_address(href)] or relative
    text = tidy("".join(entry.xpath(f".//text()[not({_NOT_OF_ENTRY})]")))
    if links:
        return Reference(hrefs[links[0]], _text(links[0]) or text, "\n\n".join(passages), text)
    stated = reference_of(text)
    if passages:
        return Reference(stated.url or f"document:{text}", stated.title, "\n\n".join(passages), stated.entry)
    words = {word for word in folded_words(text) if not word.isdigit()} - LOCATORS
    if stated.url or not words:
        return stated
    return next((e for e in reversed(before) if words <= {*folded_words(e.entry or e.title), "ibid"}), stated)
