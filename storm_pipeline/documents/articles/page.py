"""Reads an article from an HTML page whose marks lead to entries of its list of references, as footnotes do."""

from collections.abc import Iterable, Iterator
from typing import Any
from urllib.parse import unquote

from storm_pipeline.documents.articles.markdown import markdown_article
from storm_pipeline.documents.articles.markdown_blocks import TextBlock
from storm_pipeline.documents.articles.numbered import numbered_article
from storm_pipeline.documents.articles.pages import AvailablePages, Reference
from storm_pipeline.documents.articles.reference_list import LARGEST_NUMBER, reference_of
from storm_pipeline.documents.decoding import declared_charsets, decoded
from storm_pipeline.documents.inline_markup import local_name
from storm_pipeline.documents.markup import parse_html
from storm_pipeline.documents.plain import web_address
from storm_pipeline.errors import DatasetError
from storm_pipeline.text.markers import literal, mark, without_reserved
from storm_pipeline.text.words import tidy
from storm_pipeline.types import Article

_SKIPPED = frozenset("head script style template noscript nav svg header footer aside figure table form button".split())
_BLOCKS = frozenset("p li dd dt blockquote div section article main ol ul dl body hr h1 h2 h3 h4 h5 h6".split())
_ENTRIES = frozenset({"li", "dd", "p", "div"})
_MARKS = frozenset({"sup", "a"})


def page_article(title: str, data: bytes, pages: AvailablePages) -> Article:
    """Read an article: a short link to an entry on the page cites it; the entry's page is its first link elsewhere.

    Text outside of ``<article>`` or ``<main>``, if there is one, is left out, and so are navigation, tables, figures
    and headers. Without such marks, numbers in brackets cite the list of references, as in Markdown. A page of ours
    has the passages that it cites. ``title``: of a page without a first heading. Raises DatasetError: it is empty or
    damaged.
    """
    from lxml import etree

    try:
        root = parse_html(without_reserved(decoded(data, declared_charsets(data))).encode())
    except (etree.LxmlError, ValueError, AssertionError) as error:
        raise DatasetError(f"no HTML page ({error})") from error
    title = next((text for own in root.iter("h1") if (text := _text(own))), title)
    notes = _Notes(root)
    body = next((own for name in ("article", "main", "body") for own in root.iter(name)), root)
    blocks = [TextBlock(title, 1), *_blocks(body, notes)]
    if notes.references:
        return numbered_article(title, blocks, notes.references, pages)
    return markdown_article(title, "\n\n".join(f"{'#' * own.level} {own.text}".strip() for own in blocks), pages)


class _Notes:
    """The entries of a page that marks lead to, numbered in the order in which they are cited."""

    def __init__(self, root: Any) -> None:
        self.references: dict[int, Reference] = {}
        self.entries: set[Any] = set()
        self._numbers: dict[str, int] = {}
        ids = {own.get("id"): own for own in root.iter() if isinstance(own.tag, str) and own.get("id")}
        passages = _passages(root)
        for link in root.iter("a"):
            name = _target(link)
            entry = ids.get(name)
            if name in self._numbers or not _is_mark(_text(link)) or len(self.references) >= LARGEST_NUMBER:
                continue
            if entry is not None and local_name(entry) in _ENTRIES and entry not in link.iterancestors():
                self._numbers[name] = len(self.references) + 1
                self.references[len(self.references) + 1] = _reference(entry, passages.get(name, {}))
                self.entries.add(entry)

    def marker(self, link: Any) -> str:
        """The marker of a link; empty if it leads to no entry."""
        number = self._numbers.get(_target(link))
        return mark(number) if number else ""


def _is_mark(text: str) -> bool:
    """Whether the words of a link can be the mark of a note: ``[3]``, ``*`` or ``note 3``."""
    mark = text.strip("[] ").lower().removeprefix("note ").removeprefix("n ")
    return 0 < len(mark) <= 4 and all(char.isalnum() or char in "*†‡" for char in mark)


def _target(link: Any) -> str:
    href = link.get("href") or ""
    return unquote(href[1:]) if href.startswith("#") else ""


def _text(element: Any) -> str:
    return tidy("".join(element.itertext()))


def _passages(root: Any) -> dict[str, dict[str, None]]:
    """The passages that the marks of our own pages show, by the name of the entry that a mark leads to."""
    found: dict[str, dict[str, None]] = {}
    for passage in root.xpath("//span[@class='passage']"):
        for link in passage.xpath("(ancestor::*[@class='entry' or @class='cite'])[last()]/a[1]"):
            found.setdefault(_target(link), {})[tidy("".join(passage.xpath("text() | mark//text()")))] = None
    return found


def _reference(entry: Any, passages: Iterable[str]) -> Reference:
    """The page that an entry names: by its first link elsewhere, whose words are the title, else by its text."""
    links = [own for own in entry.iter("a") if web_address(own.get("href") or "")]
    text = tidy("".join(entry.xpath(".//text()[not(ancestor::a[starts-with(@href, '#')])]")))
    if not links:
        return reference_of(text)
    return Reference(links[0].get("href"), _text(links[0]) or text, "\n\n".join(passages))


def _blocks(body: Any, notes: _Notes) -> Iterator[TextBlock]:
    """Headings and paragraphs in reading order; a block ends where another one begins."""
    pieces: list[str] = []
    level = 0
    for text, begins in (*_pieces(body, notes), ("", 0)):
        if begins is None:
            pieces.append(text)
            continue
        if own := tidy("".join(pieces)):
            yield TextBlock(own, level)
        pieces, level = [], begins


def _pieces(element: Any, notes: _Notes) -> Iterator[tuple[str, int | None]]:
    """Texts, with None; and where blocks begin or end, the level of the heading that begins (0: none)."""
    name = local_name(element)
    if name in _SKIPPED or element in notes.entries or not name or name == "h1":
        return
    if name in _BLOCKS:
        yield "", int(name[1]) if name[0] == "h" and name[1:].isdecimal() else 0
    marker = "".join(filter(None, map(notes.marker, element.iter("a")))) if name in _MARKS else ""
    if marker:  # what else stands in a mark, such as a card, is no text of the article
        yield marker, None
        return
    shown = literal if notes.references else str
    yield shown(element.text or ""), None
    for child in element:
        yield from _pieces(child, notes)
        yield shown(child.tail or ""), None
    if name in _BLOCKS:
        yield "", 0
