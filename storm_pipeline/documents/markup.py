"""Text of pages that are all main content (books, encyclopedia articles), elements of XML, fragments of HTML."""

import html
import re
from collections.abc import Callable, Iterator
from itertools import pairwise, takewhile
from typing import Any

from storm_pipeline.documents.decoding import declared_charsets, decoded
from storm_pipeline.documents.inline_markup import as_read, local_name
from storm_pipeline.documents.plain import plain_text

_SKIPPED = frozenset("head script style template noscript nav svg annotation annotation-xml".split())
_BLOCKS = frozenset(
    """address article aside blockquote body caption dd details div dl dt figcaption figure footer form
    h1 h2 h3 h4 h5 h6 header hr li main ol p pre section summary table ul
    sec title list list-item disp-formula""".split()
)
_LINES = frozenset({"br", "break", "tr"})
_CELLS = frozenset({"td", "th"})
_LEVELS = range(1, 7)
HEADINGS = " › "
"""Joins the headings above a text."""
_HEADINGS = {f"h{level}": level for level in _LEVELS}
_HEADING = "\ue000"  # begins a heading's line, before its level: a private character, which no text has
_ENTITY = re.compile("&(?!(?:amp|lt|gt|quot|apos);)([A-Za-z][A-Za-z0-9]*;)")
_DECLARATION = re.compile(r"\A\ufeff?\s*<\?xml[^>]*\?>")
_REDUNDANT = frozenset("abstract summary resumen résumé zusammenfassung".split())


def parse_html(data: bytes) -> Any:
    """Parse a UTF-8 page to its root element. Raises etree.LxmlError: it is empty."""
    import lxml.html

    return lxml.html.document_fromstring(data, parser=lxml.html.HTMLParser(encoding="utf-8"))


def parse_xml(data: bytes) -> Any:
    """Parse an XML document. Entities defined in it are not expanded, and nothing external is loaded.

    Raises etree.XMLSyntaxError: it is not well-formed.
    """
    from lxml import etree

    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False)
    return etree.fromstring(data, parser)


def parse_xhtml(data: bytes) -> Any:
    """Parse an XHTML page; one that is not well-formed is parsed as HTML. Raises etree.LxmlError: it is empty."""
    from lxml import etree

    text = decoded(data, declared_charsets(data))
    # HTML's named entities are defined in a DTD, which is not loaded; the declared encoding no longer applies.
    plain = _ENTITY.sub(_character, _DECLARATION.sub("", text)).encode("utf-8", "replace")
    try:
        return parse_xml(plain)
    except etree.XMLSyntaxError:
        return parse_html(plain)


def parse_page(text: str) -> Any:
    """Parse a decoded page for trafilatura, its inline markup as people read it; None if it is no HTML."""
    import trafilatura

    tree = trafilatura.load_html(_DECLARATION.sub("", text).replace("\0", ""))
    return None if tree is None else as_read(tree)


def text_of(root: Any, skipped: Callable[[Any], bool] | None = None) -> str:
    """The text of a tree: blank lines between blocks, one line per table row, cells separated by bars.

    Markup within lines is read by :func:`storm_pipeline.documents.inline_markup.as_read`.
    """
    text = "".join(_pieces(as_read(root), skipped or (lambda _: False)))
    lines = [" ".join(line.split()).removesuffix(" |") for line in text.split("\n")]
    return "\n".join(line for before, line in pairwise(["", *lines]) if line or before).strip()


def with_headings(text: str, root: Any) -> str:
    """A page's text with the headings above its lines, each a Markdown line of its own: ``## Trade``.

    Args:
        text: of the page, or of its main part, a block a line; a line that is not in the tree stands where it stood.
        root: the tree of the page; changed.
    """
    for element in root.iter(*_HEADINGS):
        element.text = f"{_HEADING}{_HEADINGS[element.tag]} {element.text or ''}"
    lines = text_of(root).splitlines()
    paths: list[tuple[str, ...]] = [()]  # of each line, those above it and itself, if it is one
    places: dict[str, list[int]] = {}  # lines by their words
    for i, line in enumerate(lines, 1):
        own = tuple(one for one in paths[-1] if _level(one) < _level(line))
        paths.append((*own, line) if _level(line) else paths[-1])
        places.setdefault(_words(line), []).append(i)
    shown, waiting, at, above = list[str](), list[str](), 0, tuple[str, ...]()
    for line in text.splitlines():
        found = places.get(_words(line), [at])
        at = next((i for i in found if i > at), found[0])
        if line.strip() and at and _level(lines[at - 1]) and _words(lines[at - 1]) == _words(line):
            waiting.append(lines[at - 1])
            continue
        shown += [_title(one) for one in waiting if one not in paths[at]]  # nothing stands under these
        known = takewhile(lambda pair: pair[0] == pair[1], zip(above, paths[at], strict=False))
        shown += [f"{'#' * _level(one)} {_title(one)}" for one in paths[at][sum(1 for _ in known) :]]
        shown.append(line)
        above, waiting = paths[at], []
    return "\n".join([*shown, *map(_title, waiting)])


def under_headings(text: str) -> Iterator[tuple[str, str]]:
    """The parts of a Markdown text between its headings, each with those above it, outermost first, joined by ``›``.

    A heading that nothing stands under is text.
    """
    above: dict[int, str] = {}
    part: list[str] = []

    def ended(level: int) -> Iterator[tuple[str, str]]:
        if any(map(str.strip, part)):
            yield HEADINGS.join(above.values()), "\n".join(part)
        elif above and max(above) >= level:
            yield HEADINGS.join([*above.values()][:-1]), above[max(above)]

    for line in text.splitlines():
        mark, _, title = line.strip().partition(" ")
        level = len(mark)
        if level not in _LEVELS or mark != "#" * level or not title.strip():
            part.append(line)
            continue
        yield from ended(level)
        part = []
        above = {own: name for own, name in above.items() if own < level} | {level: title.strip()}
    yield from ended(0)


def _level(line: str) -> int:
    """The level of a line of :func:`with_headings` that is a heading; 0 for any other."""
    return max(0, "0123456".find(line[1])) if line.startswith(_HEADING) and line[1:2] else 0


def _title(line: str) -> str:
    return line[2:].strip()


def _words(line: str) -> str:
    return "".join(filter(str.isalnum, _title(line) if _level(line) else line)).casefold()


def _pieces(root: Any, skipped: Callable[[Any], bool]) -> Iterator[str]:
    from lxml import etree

    walk = etree.iterwalk(root, events=("start", "end", "comment", "pi"))
    cells = 0  # blocks inside a table cell do not break the line
    for event, element in walk:
        name = local_name(element)
        if event == "start":
            cells += name in _CELLS
            if name in _SKIPPED or skipped(element):
                walk.skip_subtree()  # its end event follows nevertheless
                continue
            yield _break(name, inside=cells > 0) if name in _BLOCKS else ""
            yield _flat(element.text)
            continue
        if event == "end":
            cells -= name in _CELLS
            yield _break(name, inside=cells > 0)
        if element is not root:
            yield _flat(element.tail)


def _break(name: str, *, inside: bool) -> str:
    if name in _CELLS:
        return " " if inside else " | "
    if name in _BLOCKS or name in _LINES:
        return " " if inside else "\n\n" if name in _BLOCKS else "\n"
    return ""


def _flat(text: str | None) -> str:
    return re.sub(r"\s+", " ", text.replace("\xad", "")) if text else ""


def _character(found: re.Match[str]) -> str:
    character = html.unescape(found[0])
    return "" if character == found[0] else html.escape(character)


def element_text(element: Any) -> str:
    """Plain text of an lxml element and its descendants; empty for None. Entities are not expanded."""
    return "" if element is None else plain_text("".join(as_read(element).itertext()))


def fragment_text(fragment: object) -> str:
    """Plain text of a JATS or HTML fragment; empty for anything but a string.

    Headings become labels (``Methods: …``), the heading *Abstract* is dropped. A fragment may be unbalanced.
    """
    import lxml.html

    text = plain_text(fragment)  # lxml ends a text at a lone surrogate
    for tag in ("", "</"):  # deposited fragments are often escaped twice
        if tag in text:
            # HTML's parser takes all behind <title> for text.
            root = lxml.html.fragment_fromstring(text.replace("title>", "h6>"), create_parent="div")
            for heading in [own for own in root.iter() if local_name(own) == "h6"]:
                label = "".join(heading.itertext()).strip().rstrip(":.")
                heading.tail = f" {heading.tail or ''}"
                _fill(heading, f" {label}: " if label and label.lower() not in _REDUNDANT else " ")
            text = text_of(root)
    return plain_text(html.unescape(text))


def _fill(element: Any, text: str) -> None:
    for child in list(element):
        element.remove(child)
    element.text = text
