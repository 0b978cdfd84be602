"""Reads an article from an HTML page or a Word file, whose marks link to notes or a list of references."""

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import replace as replaced
from typing import Any
from urllib.parse import parse_qs, unquote

from storm_pipeline.errors import DatasetError
from storm_pipeline.output.articles.markdown import (
    LARGEST_NUMBER,
    markdown_article,
    numbered_article,
    reference_of,
    short_notes,
    with_archive,
)
from storm_pipeline.output.articles.markdown_blocks import TextBlock
from storm_pipeline.output.articles.pages import NumberedArticle, Reference
from storm_pipeline.sources.documents.decoding import declared_charsets, decode
from storm_pipeline.sources.documents.docx import docx_tree
from storm_pipeline.sources.documents.markup import blocks, local_name, parse_html, replace
from storm_pipeline.text.identity import host_of
from storm_pipeline.text.markers import MARKS, literal, mark, without_reserved
from storm_pipeline.text.plain import web_address
from storm_pipeline.text.words import tidy, without_controls

_SKIPPED = frozenset("header footer aside figure table form button h1".split())
_ASIDE = frozenset({"noprint", "mw-editsection", "citation", "note"})  # classes and roles of no text in MediaWiki
_HEADINGS = tuple(f"h{level}" for level in range(1, 7))
_NOT_OF_ENTRY = "ancestor::a[starts-with(@href, '#')] or ancestor::details or ancestor::span[@class='n']"
"""Links back, and on our own pages the sentences that rest on a source and its number."""
_ASIDES = """.//*[self::aside or self::figure or self::form or self::header][not(@role)]
    [not(ancestor::aside or ancestor::figure or ancestor::form or ancestor::header or ancestor::table
        or ancestor::nav or ancestor::footer)]
    [.//text()[normalize-space()][not(ancestor::h1 or ancestor::nav or ancestor::script or ancestor::style
        or ancestor::button or ancestor::table)]]"""
"""Parts with text that are not read, outside of others; a header with more than the title."""
_ENTRIES = frozenset({"li", "dd", "p", "div"})


def page_article(title: str, data: bytes) -> NumberedArticle:
    """Read an article: a short link to an entry on the page cites the entry's first external link.

    Leaves out text outside of ``<article>`` or ``<main>``, navigation, tables and figures; those within that have text
    are named, but for navigation. Without such links, numbers
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
        element.text, element.tail = (
            without_reserved(without_controls(text or "")) for text in (element.text, element.tail)
        )
    title = next((text for heading in root.iter("h1") if (text := _text(heading))), title)
    wikis = [part for part in root.iter() if "mw-parser-output" in _classes(part) and part.find(".//p") is not None]
    bodies = (part for name in ("article", "main", "body") for part in root.iter(name))
    body = wikis[0] if wikis else next(bodies, root)
    references = _take_references(root, body if wikis else None)

    def skipped(element: Any) -> bool:
        is_aside = bool(wikis) and not {*_classes(element), element.get("role")}.isdisjoint(_ASIDE)
        return is_aside or local_name(element) in _SKIPPED

    tables = body.xpath(".//table[not(ancestor::table)][not(ancestor-or-self::*[@role])]")
    names = ("infobox" if "infobox" in _classes(table) else "table" for table in tables)
    left_out = [(name, len(MARKS.findall(_text(table)))) for name, table in zip(names, tables, strict=True)]
    asides = body.xpath(_ASIDES)
    left_out += [(local_name(part), len(MARKS.findall(_text(part)))) for part in asides]
    parts = blocks(body, skipped, with_notes=not references)
    if references:
        texts = [TextBlock(title, 1), *(TextBlock(literal(text), level) for level, text in parts)]
        return replaced(numbered_article(title, texts, references), left_out=left_out)
    text = "\n\n".join(f"{'#' * level} {text}".strip() for level, text in parts)
    return replaced(markdown_article(title, text), left_out=left_out)


def _take_references(root: Any, wiki: Any) -> dict[int, Reference]:
    """Remove the entries that marks link to, numbered by first citation, and replace the marks by markers.

    ``wiki``: the text on a page of MediaWiki, where remarks become paragraphs at the end of their section; else None.
    """
    references: dict[int, Reference] = {}
    numbers: dict[str, list[int]] = {}  # id of an entry → numbers of its works; a remark has none
    known: dict[tuple[str, ...], int] = {}
    notes: list[Any] = []
    last: list[int] = []
    ids = {part.get("id"): part for part in reversed(list(root.iter())) if isinstance(part.tag, str)}  # first ones
    passages = _passages(root)
    stated = [(cite, work) for cite, work in map(_of_coins, root.iter("span")) if work is not None]
    works = {key: work for cite, work in stated for key in (cite, cite.get("id")) if key is not None}
    for element in list(root.iter("a", *_HEADINGS)):
        while notes and local_name(element) != "a":
            element.addprevious(notes.pop(0))
        name = _target(element)
        entry = ids.get(name) if name and _is_mark(_text(element)) and len(references) < LARGEST_NUMBER else None
        if name in numbers or entry is None or local_name(entry) not in _ENTRIES or entry in element.iterancestors():
            last = numbers.get(name, [])[-1:] or last
            continue
        cited = [work for part in entry.iter("a", "cite") if (work := works.get(_target(part) or part)) is not None]
        numbers[name] = []
        is_works = bool(cited or entry.xpath(".//a[contains(@class, 'external')]")) and not entry.xpath(".//sup/a")
        if wiki is not None and not is_works and not _text(element).strip("[]").isdecimal():
            notes.append(deepcopy(next(iter(entry.xpath(".//*[contains(@class, 'reference-text')]")), entry)))
            notes[-1].tag, notes[-1].tail = "p", None
            continue
        before = (*works.values(), *references.values(), *map(references.__getitem__, last))
        for work in cited or _references(entry, passages.get(name, {}), before):
            number = known.setdefault((work.url, work.title, work.text, work.entry), len(references) + 1)
            references.setdefault(number, work)
            numbers[name].append(number)
        last = numbers[name][-1:]
    if notes:
        wiki.extend(notes)
    for element in list(root.iter("sup", "a")):
        targets = [name for link in element.iter("a") if (name := _target(link)) in numbers]
        if targets:  # other content of a mark, such as a card, is not text of the article
            replace(element, "".join(mark(number) for name in targets for number in numbers[name]))
    for name in numbers:
        replace(ids[name], "")
    return references


def _of_coins(span: Any) -> tuple[Any, Reference | None]:
    """Return the element of a citation and its work, from the record that MediaWiki puts behind it (COinS)."""
    cite = span.getprevious()
    if "Z3988" not in _classes(span) or cite is None or not local_name(cite):  # a comment
        return cite, None
    stated = parse_qs(span.get("title") or "")

    def values(*names: str) -> list[str]:
        return [tidy(value) for name in names for value in stated.get(f"rft.{name}", ())]

    addresses = [name.replace("info:doi/", "https://doi.org/") for name in stated.get("rft_id", ())]
    url = next(filter(web_address, sorted(addresses, key=lambda name: "doi.org" in name)), "")
    links = [link for link in cite.iter("a") if "external" in _classes(link)]
    if links and url and host_of(url) not in {host_of(link.get("href") or "") for link in links}:
        return cite, None  # the record names another site than readers see
    titles = values("atitle", "btitle", "title")
    people = [", ".join(values("aulast", "aufirst")), *values("au")]
    entry = [*people, *(date[:4] for date in values("date")), *titles, *values("jtitle", "pub")]
    work = Reference(url, next(iter(titles), _text(cite)), entry=". ".join(filter(None, entry)))
    return cite, with_archive(work, (link.get("href") or "" for link in cite.iter("a")))


def _classes(element: Any) -> list[str]:
    return (element.get("class") or "").split() if isinstance(element.tag, str) else []


def _is_mark(text: str) -> bool:
    mark = text.strip("[] ").lower().removeprefix("note ").removeprefix("n ")
    return 0 < len(mark) <= 4 and all(char.isalnum() or char in "*†‡" for char in mark)


def _target(link: Any) -> str:
    """Return the id that a link within the page leads to; saved pages of MediaWiki have whole addresses."""
    address, _, name = (link.get("href") or "").partition("#")
    return unquote(name) if not address or name.lower().startswith("cite") else ""


def _text(element: Any) -> str:
    return tidy("".join(element.itertext()))


def _passages(root: Any) -> dict[str, dict[str, None]]:
    """Return the passages in the cards of our own pages, by the name of the linked entry."""
    passages: dict[str, dict[str, None]] = {}
    for passage in root.xpath("//span[@class='passage']"):
        for link in passage.xpath("(ancestor::*[@class='entry' or @class='cite'])[last()]/a[1]"):
            passages.setdefault(_target(link), {})[tidy("".join(passage.xpath("text() | mark//text()")))] = None
    return passages


def _references(entry: Any, passages: dict[str, None], works: Sequence[Reference]) -> Sequence[Reference]:
    """Return the works that an entry names: its first external link with the link's text as title, else from its text.

    Short notes ("Falk, “Dam,” 3", "Ibid.") name works of earlier ones.
    """
    hrefs = {link: (link.get("href") or "").strip() for link in entry.iter("a")}
    relative = [link for link, href in hrefs.items() if href and not href.startswith("#") and ":" not in href]
    links = sorted((link for link in hrefs if web_address(hrefs[link])), key=lambda a: not _text(a)) or relative
    if entry.xpath("ancestor::*[contains(@class, 'mw-parser-output')]"):  # other links lead to articles
        links = [link for link in links if "external" in _classes(link)]
    text = tidy("".join(entry.xpath(f".//text()[not({_NOT_OF_ENTRY})]")))
    if links:
        stated = Reference(hrefs[links[0]], _text(links[0]) or text, "\n\n".join(passages), text)
        return [with_archive(stated, (hrefs[link] for link in links))]
    stated = reference_of(text)
    if passages:
        return [Reference(stated.url or f"document:{text}", stated.title, "\n\n".join(passages), stated.entry)]
    return (not stated.url and short_notes(text, works)) or [stated]
