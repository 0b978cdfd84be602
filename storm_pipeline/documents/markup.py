"""Text of pages that are all main content (books, encyclopedia articles), elements of XML, fragments of HTML."""

import html
import re
from collections.abc import Callable, Iterator
from typing import Any

from storm_pipeline.documents.plain import plain_text

_SKIPPED = frozenset("head script style template noscript nav svg annotation annotation-xml".split())
_BLOCKS = frozenset(
    """address article aside blockquote body caption dd details div dl dt figcaption figure footer form
    h1 h2 h3 h4 h5 h6 header hr li main ol p pre section summary table ul""".split()
)
_LINES = frozenset({"br", "tr"})
_CELLS = frozenset({"td", "th"})
_ENTITY = re.compile("&(?!(?:amp|lt|gt|quot|apos);)([A-Za-z][A-Za-z0-9]*;)")
_ENCODING = re.compile(rb"""<\?xml[^>]{0,200}encoding\s*=\s*["']([A-Za-z0-9._-]{1,40})["']""")
_HEADING = re.compile(r"<(?:\w+:)?title\b[^<>]*>([^<>]*)</(?:\w+:)?title\s*>", re.I)
_BLOCK = re.compile(r"</?(?:\w+:)?(?:p|sec|title|list|list-item|break|br|div|li|ul|ol|disp-formula)\b[^<>]*>", re.I)
_TAG = re.compile(r"<(?:[/?]?[a-zA-Z]|!)[^<>]*>")
_REDUNDANT_HEADING = re.compile(r"\s*(?:abstract|summary|resumen|résumé|zusammenfassung)[\s.:]*", re.I)


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

    found = _ENCODING.match(data.lstrip(b"\xef\xbb\xbf"))
    encoding = found[1].decode() if found else "utf-8"
    try:
        text = data.decode(encoding)
    except (LookupError, UnicodeDecodeError):
        text = data.decode("utf-8", "replace")
    # HTML's named entities are defined in a DTD, which is not loaded; the declared encoding no longer applies.
    plain = _ENTITY.sub(_character, re.sub(r"\A\ufeff?\s*<\?xml[^>]*\?>", "", text)).encode("utf-8", "replace")
    try:
        return parse_xml(plain)
    except etree.XMLSyntaxError:
        return parse_html(plain)


def text_of(root: Any, skipped: Callable[[Any], bool] | None = None) -> str:
    """The text of a tree: blank lines between blocks, one line per table row, cells separated by bars."""
    text = "".join(_pieces(root, skipped or (lambda _: False)))
    lines = (" ".join(line.split()).removesuffix(" |") for line in text.split("\n"))
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()


def local_name(element: Any) -> str:
    """An element's name without its namespace; empty for comments and the like."""
    return element.tag.rpartition("}")[2].lower() if isinstance(element.tag, str) else ""


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
    return re.sub(r"\s+", " ", text) if text else ""


def _character(found: re.Match[str]) -> str:
    character = html.unescape(found[0])
    return "" if character == found[0] else html.escape(character)


def element_text(element: Any) -> str:
    """Plain text of an lxml element and its descendants; empty for None. Entities are not expanded."""
    return "" if element is None else plain_text("".join(element.itertext()))


def fragment_text(fragment: object) -> str:
    """Plain text of a JATS or HTML fragment; empty for anything but a string.

    Headings become labels (``Methods: …``), the heading *Abstract* is dropped. Works by patterns, so a fragment
    may be unbalanced or use undeclared prefixes.
    """
    if not isinstance(fragment, str):
        return ""
    text = _TAG.sub("", _BLOCK.sub(" ", _HEADING.sub(_labelled, fragment)))
    text = html.unescape(html.unescape(text))  # deposited fragments are often escaped twice
    return plain_text(text)


def _labelled(heading: re.Match[str]) -> str:
    label = heading[1].strip().rstrip(":.")
    return f" {label}: " if label and not _REDUNDANT_HEADING.fullmatch(label) else " "
