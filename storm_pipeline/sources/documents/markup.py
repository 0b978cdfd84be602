"""Parsing of HTML and XML, and the iterator over blocks that all formats share."""

import html
import re
from collections.abc import Callable, Iterator
from itertools import pairwise, takewhile
from typing import Any

from storm_pipeline.sources.documents.decoding import declared_charsets, decode
from storm_pipeline.sources.documents.inline_markup import flatten, local_name, replace
from storm_pipeline.text.plain import plain_text

_SKIPPED = frozenset("head script style template noscript nav svg annotation annotation-xml".split())
_BLOCKS = frozenset(
    """address article aside blockquote body caption dd details div dl dt figcaption figure footer form
    h1 h2 h3 h4 h5 h6 header hr li main ol p pre section summary table ul
    sec title list list-item disp-formula""".split()
)
_LINES = frozenset({"br", "break", "tr"})
_CELLS = frozenset({"td", "th"})
_LEVELS = {f"h{level}": level for level in range(1, 7)}
HEADINGS = " › "  # separator of nested headings
_ENTITY = re.compile("&(?!(?:amp|lt|gt|quot|apos);)([A-Za-z][A-Za-z0-9]*;)")
_DECLARATION = re.compile(r"\A\ufeff?\s*<\?xml[^>]*\?>")
_REDUNDANT = frozenset("abstract summary resumen résumé zusammenfassung".split())


def parse_html(data: bytes) -> Any:
    """Parse a UTF-8 page to its root element. Raises etree.LxmlError: it is empty."""
    import lxml.html

    return lxml.html.document_fromstring(data, parser=lxml.html.HTMLParser(encoding="utf-8"))


def parse_xml(data: bytes) -> Any:
    """Parse an XML document without expanding its entities or loading external content.

    Raises etree.XMLSyntaxError: it is not well-formed.
    """
    from lxml import etree

    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False)
    return etree.fromstring(data, parser)


def parse_xhtml(data: bytes) -> Any:
    """Parse an XHTML page, as HTML if it is not well-formed. Raises etree.LxmlError: it is empty."""
    from lxml import etree

    def character(match: re.Match[str]) -> str:
        return "" if (known := html.unescape(match[0])) == match[0] else html.escape(known)

    text = decode(data, declared_charsets(data))
    # HTML's named entities are defined in a DTD, which is not loaded; the declared encoding no longer applies.
    plain = _ENTITY.sub(character, _DECLARATION.sub("", text)).encode("utf-8", "replace")
    try:
        return parse_xml(plain)
    except etree.XMLSyntaxError:
        return parse_html(plain)


def parse_page(text: str) -> Any:
    """Parse a decoded page for trafilatura with inline markup converted to text; None if it is not HTML."""
    import trafilatura

    tree = trafilatura.load_html(_DECLARATION.sub("", text).replace("\0", ""))
    return None if tree is None else flatten(tree)


def blocks(
    root: Any, skipped: Callable[[Any], bool] = lambda _: False, *, with_notes: bool = False
) -> Iterator[tuple[int, str]]:
    """Yield the level (0 for other than headings) and the non-empty text of each block of a tree in order.

    A table is one block with a line per row and bars between cells.

    ``skipped``: whether an element is left out; ``with_notes``: as in
    :func:`storm_pipeline.sources.documents.inline_markup.flatten`, which reads markup within lines.
    """
    level, pieces = 0, list[str]()
    for piece in (*_pieces(flatten(root, with_notes=with_notes), skipped), 0):
        if isinstance(piece, str):
            pieces.append(piece)
            continue
        lines = [" ".join(line.split()).removesuffix(" |") for line in "".join(pieces).split("\n")]
        shown = [line if line.strip(" |") else "" for line in lines]
        if text := "\n".join(line for before, line in pairwise(["", *shown]) if line or before).strip():
            yield level, text
        level, pieces = piece, []


def text_of(root: Any, skipped: Callable[[Any], bool] = lambda _: False) -> str:
    """Return the text of a tree, with blank lines between its :func:`blocks`."""
    return "\n\n".join(text for _, text in blocks(root, skipped))


def _pieces(root: Any, skipped: Callable[[Any], bool]) -> Iterator[str | int]:
    """Yield texts and, at each start or end of a block, the level of its heading."""
    from lxml import etree

    walk = etree.iterwalk(root, events=("start", "end", "comment", "pi"))
    cells = 0  # no line breaks within a table cell
    for event, element in walk:
        name = local_name(element)
        if event == "start":
            cells += name in _CELLS
            if name in _SKIPPED or skipped(element):
                walk.skip_subtree()  # its end event still follows
                continue
            if name in _BLOCKS:
                yield " " if cells else _LEVELS.get(name, 0)
            yield _flat(element.text)
            continue
        if event == "end":
            cells -= name in _CELLS
            if name in _BLOCKS | _LINES:
                yield " " if cells else 0 if name in _BLOCKS else "\n"
            elif name in _CELLS:
                yield " " if cells else " | "
        if element is not root:
            yield _flat(element.tail)


def _flat(text: str | None) -> str:
    return re.sub(r"\s+", " ", text.replace("\xad", "")) if text else ""


def with_headings(text: str, root: Any) -> str:
    """Return a page's text with the headings above its lines, each a Markdown line: ``## Trade``.

    ``text``: of the page or its main part, one block per line; lines that are not in the tree keep their place.
    ``root``: the tree of the page.
    """
    lines: list[tuple[int, str]] = [(0, "")]  # with levels of headings; the first is a placeholder
    paths: list[tuple[tuple[int, str], ...]] = [()]  # for each line, its headings, including itself
    places: dict[str, list[int]] = {}  # line numbers by words
    for line in ((level, line) for level, block in blocks(root) for line in block.splitlines() if line):
        above = tuple(heading for heading in paths[-1] if heading[0] < line[0])
        paths.append((*above, line) if line[0] else paths[-1])
        places.setdefault(_words(line[1]), []).append(len(lines))
        lines.append(line)
    shown, waiting, at, above = list[str](), list[tuple[int, str]](), 0, tuple[tuple[int, str], ...]()
    for text_line in text.splitlines():
        line_numbers = places.get(_words(text_line), [at])
        at = next((i for i in line_numbers if i > at), line_numbers[0])
        level, title = lines[at]
        if text_line.strip() and level and _words(title) == _words(text_line):
            waiting.append(lines[at])
            continue
        shown += [title for level, title in waiting if (level, title) not in paths[at]]  # headings without text
        known = takewhile(lambda pair: pair[0] == pair[1], zip(above, paths[at], strict=False))
        shown += [f"{'#' * level} {title}" for level, title in paths[at][len(list(known)) :]]
        shown.append(text_line)
        above, waiting = paths[at], []
    return "\n".join([*shown, *(title for _, title in waiting)])


def _words(line: str) -> str:
    return "".join(filter(str.isalnum, line)).casefold()


def under_headings(text: str) -> Iterator[tuple[str, str]]:
    """Yield the parts of a Markdown text between headings, each with its headings joined by ``›``.

    A heading without text below it is text.
    """
    above: dict[int, str] = {}
    part: list[str] = []
    for line in (*text.splitlines(), "# \n"):  # the last heading ends the text
        mark, _, title = line.strip(" \t").partition(" ")
        level = len(mark)
        if not title or f"h{level}" not in _LEVELS or mark != "#" * level:
            part.append(line)
            continue
        if any(map(str.strip, part)):
            yield HEADINGS.join(above.values()), "\n".join(part)
        elif above and max(above) >= level:
            yield HEADINGS.join([*above.values()][:-1]), above[max(above)]
        part = []
        above = {depth: name for depth, name in above.items() if depth < level} | {level: title.strip()}


def element_text(element: Any) -> str:
    """Return the plain text of an lxml element and its descendants; empty for None. Entities are not expanded."""
    return "" if element is None else plain_text("".join(flatten(element).itertext()))


def fragment_text(fragment: object) -> str:
    """Return the plain text of a JATS or HTML fragment; empty for anything but a string.

    Headings become labels (``Methods: …``), the heading *Abstract* is dropped. A fragment may be unbalanced.
    """
    import lxml.html

    text = plain_text(fragment)  # lxml ends a text at a lone surrogate
    for tag in ("", "</"):  # deposited fragments are often escaped twice
        if tag in text:
            # The HTML parser would read everything after <title> as text.
            root = lxml.html.fragment_fromstring(text.replace("title>", "h6>"), create_parent="div")
            for heading in [element for element in root.iter() if local_name(element) == "h6"]:
                label = "".join(heading.itertext()).strip().rstrip(":.")
                heading.tail = f" {heading.tail or ''}"
                replace(heading, f" {label}: " if label and label.lower() not in _REDUNDANT else " ")
            text = text_of(root)
    return plain_text(html.unescape(text))
