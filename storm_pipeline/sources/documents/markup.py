"""Parsing of HTML and XML: the iterator over blocks that all formats share, and the markup within lines as text.

Exponents and indices are kept; note marks and deleted text are removed.
"""

import html
import re
from collections.abc import Callable, Iterator
from itertools import chain, islice, pairwise, takewhile
from typing import Any

from storm_pipeline.sources.documents.decoding import declared_charsets, decode
from storm_pipeline.text.plain import plain_text

_RAISED = str.maketrans("0123456789+-−–=()ni", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁻⁼⁽⁾ⁿⁱ")
_LOWERED = str.maketrans("0123456789+-−–=()", "₀₁₂₃₄₅₆₇₈₉₊₋₋₋₌₍₎")
_EXPONENT = frozenset("0123456789+-−–=()ni")
_DIGITS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
_MARK = frozenset("0123456789*†‡§¶,–- \n[]()")
_ENDS_PROSE = ".,;:!?”’\"'»)]"
_NOT_READ = frozenset({"del", "s", "strike", "rt", "rp", "rtc"})  # deleted text; pronunciation in ruby
_FORMULAS = frozenset({"msup", "msub", "msubsup"})
_BREAKING = frozenset("p td th li ul ol dl dd dt div blockquote table section article main body h1 h2 h3 h4".split())
_LABELS = ("class", "id", "role", "rel", "ref-type", "epub:type", "{http://www.idpf.org/2007/ops}type")
_QUOTES = ('"', "'", *"“”„«»‹›‘’「『")
_INLINES = frozenset("a b cite em font i small span strong u xref".split())
_POSITIONS = {"sup": "sup", "super": "sup", "superscript": "sup", "sub": "sub", "subscript": "sub"}
_CONTENTS = frozenset({"toc", "doc-toc", "contents", "table-of-contents"})
_NOTES = frozenset("note notes reference references citation citations cite bibr ref xref biblioref".split())


def raised_text(text: str) -> str:
    """Return a superscript as text: ``⁶`` and ``ⁿ⁺¹``, ``^(2x)`` if Unicode lacks a character, ``st`` unchanged."""
    content = text.strip()
    if " " in content and any(map(str.isalpha, content)):  # words: an unclosed element
        return text
    has_value = content.lstrip("+-−–") in {"n", "i"} or any(map(str.isdecimal, content))
    if has_value and _EXPONENT.issuperset(content):
        return text.translate(_RAISED)
    is_mixed = any(map(str.isdecimal, content)) and any(map(str.isalpha, content))
    return text.replace(content, f"^({content})") if is_mixed else text.translate(_DIGITS)


def is_note_mark(raised: str, before: str, after: str = "") -> bool:
    """Return whether a superscript is the mark of a note: in brackets, or digits and signs after a word.

    After a number or a short word, digits may be an exponent; before a letter or a slash, they begin a nuclide
    (``¹⁴C``) or a fraction.

    ``before``: the text before it on its line; if empty, it is a mark. ``after``: the text after it.
    """
    if raised.strip()[:1] == "[" and raised.strip()[-1:] == "]":
        return True
    if not can_be_note_mark(raised) or after[:1].isalnum() or after.startswith(("/", "⁄")):
        return False
    last = before.rstrip()
    return not last or last[-1] in _ENDS_PROSE or (len(last) >= 4 and last[-4:].isalpha())


def can_be_note_mark(text: str) -> bool:
    """Return whether a text consists of characters of note marks."""
    return text.strip() != "" and _MARK.issuperset(text)


def flatten(root: Any, *, with_notes: bool = False) -> Any:
    """Replace the markup within the lines of a tree by text, and return the tree.

    Raised and lowered digits become Unicode superscripts and subscripts (``10⁶``, ``H₂O``); note marks, deleted text
    and ruby readings are removed; ``<q>`` gets quotation marks. Works on HTML, XHTML and JATS.

    ``with_notes``: keep note marks unchanged.
    """
    unclosed = set[Any]()  # elements with blocks, found once and not for each that is nested
    for block in filter(lambda element: local_name(element) in _BREAKING, root.iter()):
        unclosed.update(takewhile(lambda element: element not in unclosed, block.iterancestors()))
    _read(root, "", unclosed, with_notes=with_notes, is_contents=any(map(_is_contents, root.iterancestors())))
    return root


def _read(element: Any, line: str, unclosed: set[Any], *, with_notes: bool, is_contents: bool) -> str:
    """Replace the markup in an element; return the end of the line after it. ``line``: the line's end before it."""
    name = _kind(element, line)
    is_block = name in _BREAKING or name == "br"
    match name:
        case "sup" | "sub" | "s" | "strike" if element in unclosed:
            pass
        case _ if (name == "sup" and _is_note(element, line)) or (
            name in _INLINES and (_is_note_link(element) or _is_glued_note(element, line, is_contents=is_contents))
        ):
            replace(element, _text(element) if with_notes else "")
        case "sup":
            replace(element, raised_text(_text(element)))
        case "sub":
            replace(element, _text(element).translate(_LOWERED))
        case "q":
            element.tag = "span"
            if not _start_of(element).lstrip().startswith(_QUOTES):
                element.text = f"“{element.text or ''}"
                element.append(element.makeelement("span"))
                element[-1].text = "”"
        case "mfrac" if len(element) == 2:
            element[0].tail = "/"
        case _ if name in _FORMULAS:
            for child in islice(element.iterchildren("*"), 1, None):
                is_lower = name != "msup" and child is element[1]
                replace(child, _text(child).translate(_LOWERED) if is_lower else raised_text(_text(child)))
        case _ if name in _NOT_READ:
            replace(element, "")
    line = ("" if is_block else line) + ((name and element.text) or "")
    is_contents = is_contents or _is_contents(element)
    for child in list(element):
        read = _read(child, line[-20:], unclosed, with_notes=with_notes, is_contents=is_contents)
        line = (read + (child.tail or ""))[-20:]
    return "" if is_block else line


def local_name(element: Any) -> str:
    """Return an element's name without its namespace or prefix; empty for comments and the like."""
    return element.tag.rpartition("}")[2].rpartition(":")[2].lower() if isinstance(element.tag, str) else ""


def replace(element: Any, text: str) -> None:
    """Replace an element's content by a text, and its name by a neutral one."""
    element.clear(keep_tail=True)
    element.tag, element.text = "span", text


def _kind(element: Any, line: str) -> str:
    """Return an element's name; ``sup`` or ``sub`` if its style or class raises or lowers it next to text."""
    name = local_name(element)
    if name not in _INLINES:
        return name
    style = (element.get("style") or "").lower().replace(" ", "").partition("vertical-align:")[2][:3]
    classes = (element.get("class") or "").lower().split()
    position = style if style in {"sup", "sub"} else next((_POSITIONS[c] for c in classes if c in _POSITIONS), "")
    if not position or len(_start_of(element).split()) != 1:
        return name
    return position if line[-1:].strip() or (element.tail or "")[:1].isalnum() else name


def _text(element: Any) -> str:
    return "".join(element.itertext())


def _start_of(element: Any) -> str:
    """Return the beginning of an element's text, longer than any mark, since nested elements hold all of it."""
    texts = ((local_name(e) and e.text, "" if e is element else e.tail) for e in islice(element.iter(), 64))
    return "".join(filter(None, chain.from_iterable(texts)))[:200]


def _is_note(element: Any, line: str) -> bool:
    """Return whether a superscript is a note mark: by a label, a link to an anchor, or its text and position."""
    links = [child for child in element.iter() if local_name(child) in {"a", "xref"}]
    if any(_labels_note(linked) or _leads_to_place(linked) for linked in (element, *links)):
        return True
    return is_note_mark(_text(element), line, element.tail or "")


def _is_note_link(link: Any) -> bool:
    if local_name(link) not in {"a", "xref"}:
        return False
    if "noteref" in _labels(link) or (_labels_note(link, frozenset()) and not any(map(str.isalpha, _start_of(link)))):
        return True
    kinds = [_kind(child, "1") for child in link]
    return kinds == ["sup"] and not f"{link.text or ''}{link[0].tail or ''}".strip() and _leads_to_place(link)


def _is_contents(element: Any) -> bool:  # where no mark is a note's
    return local_name(element) == "nav" or not _CONTENTS.isdisjoint(_labels(element).split())


def _is_glued_note(element: Any, line: str, *, is_contents: bool) -> bool:
    """Return whether a short mark directly after text is a note's: by a label, or as a single link to an anchor."""
    mark = _start_of(element).strip().strip("[]()")
    longest = 3 if mark.isdecimal() or set(mark) <= set("*†‡§¶") else 2 if mark.isalpha() else 0
    is_glued = (line[-1:].isalnum() or line.endswith((*_ENDS_PROSE, "%"))) and not (element.tail or "")[:1].isalnum()
    if is_contents or not is_glued or not 0 < len(mark) <= longest:
        return False
    nodes = list(islice(element.iter(), 64))
    links = [child for child in nodes if local_name(child) == "a"]
    is_link = len(links) == 1 and bool((links[0].get("href") or "").partition("#")[2])
    return len(nodes) < 64 and (is_link or _labels_note(element))


def _labels_note(element: Any, names: frozenset[str] = _NOTES) -> bool:
    """Return whether a label is one of ``names`` or means a footnote."""
    words = "".join(char if char.isalpha() else " " for char in _labels(element)).split()
    is_named = any(name in "".join(words) for name in ("footnote", "endnote", "noteref"))
    return is_named or any(word in names or word.startswith("fn") for word in words)


def _labels(element: Any) -> str:
    return " ".join(filter(None, map(element.get, _LABELS))).lower()


def _leads_to_place(link: Any) -> bool:
    return local_name(link) == "xref" or "#" in (link.get("href") or "")


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
    :func:`storm_pipeline.sources.documents.markup.flatten`, which reads markup within lines.
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
            # The inner ones first, since each is read with all within it.
            for heading in [element for element in root.iter() if local_name(element) == "h6"][::-1]:
                label = "".join(heading.itertext()).strip().rstrip(":.")
                heading.tail = f" {heading.tail or ''}"
                replace(heading, f" {label}: " if label and label.lower() not in _REDUNDANT else " ")
            text = text_of(root)
    return plain_text(html.unescape(text))
