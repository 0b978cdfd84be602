"""Conversion of markup within lines: keeps exponents and indices, removes note marks and deleted text."""

from itertools import islice
from typing import Any

_RAISED = str.maketrans("0123456789+-−–=()ni", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁻⁼⁽⁾ⁿⁱ")
_LOWERED = str.maketrans("0123456789+-−–=()", "₀₁₂₃₄₅₆₇₈₉₊₋₋₋₌₍₎")
_EXPONENT = frozenset("0123456789+-−–=()ni")
_DIGITS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
_MARK = frozenset("0123456789*†‡§¶,–- \n[]()")
_ENDS_PROSE = ".,;:!?”’\"'»)]"
_NOT_READ = frozenset({"del", "s", "strike", "rt", "rp", "rtc"})  # deleted text; pronunciation in ruby
_FORMULAS = frozenset({"msup", "msub", "msubsup"})
_BLOCKS = frozenset("p td th li ul ol dl dd dt div blockquote table section article main body h1 h2 h3 h4".split())
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


def can_be_note_mark(raised: str) -> bool:
    """Return whether a text consists of characters of note marks."""
    return raised.strip() != "" and _MARK.issuperset(raised)


def flatten(root: Any, *, with_notes: bool = False) -> Any:
    """Replace the markup within the lines of a tree by text, and return the tree.

    Raised and lowered digits become Unicode superscripts and subscripts (``10⁶``, ``H₂O``); note marks, deleted text
    and ruby readings are removed; ``<q>`` gets quotation marks. Works on HTML, XHTML and JATS.

    ``with_notes``: keep note marks unchanged.
    """
    _read(root, "", with_notes=with_notes)
    return root


def _read(element: Any, line: str, *, with_notes: bool) -> str:
    """Replace the markup in an element; return the end of the line after it. ``line``: the line's end before it."""
    name = _kind(element, line)
    is_block = name in _BLOCKS or name == "br"
    match name:
        case "sup" | "sub" | "s" | "strike" if any(local_name(descendant) in _BLOCKS for descendant in element.iter()):
            pass  # an unclosed element
        case "sup" if _is_note(element, line):
            replace(element, _text(element) if with_notes else "")
        case "sup":
            replace(element, raised_text(_text(element)))
        case "sub":
            replace(element, _text(element).translate(_LOWERED))
        case _ if name in _INLINES and (_is_note_link(element) or _is_glued_note(element, line)):
            replace(element, _text(element) if with_notes else "")
        case "q":
            element.tag = "span"
            if not _text(element).lstrip().startswith(_QUOTES):
                element.text = f"“{element.text or ''}"
                element.append(element.makeelement("span"))
                element[-1].text = "”"
        case "mfrac" if len(element) == 2:
            element[0].tail = "/"
        case _ if name in _FORMULAS:
            for child in element[1:]:
                is_lower = name != "msup" and child is element[1]
                replace(child, _text(child).translate(_LOWERED) if is_lower else raised_text(_text(child)))
        case _ if name in _NOT_READ:
            replace(element, "")
    line = ("" if is_block else line) + ((name and element.text) or "")
    for child in list(element):
        line = (_read(child, line[-20:], with_notes=with_notes) + (child.tail or ""))[-20:]
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
    if not position or len(_text(element).split()) != 1:
        return name
    return position if line[-1:].strip() or (element.tail or "")[:1].isalnum() else name


def _text(element: Any) -> str:
    return "".join(element.itertext())


def _is_note(element: Any, line: str) -> bool:
    """Return whether a superscript is a note mark: by a label, a link to an anchor, or its text and position."""
    links = [child for child in element.iter() if local_name(child) in {"a", "xref"}]
    if any(_labels_note(linked) or _leads_to_place(linked) for linked in (element, *links)):
        return True
    return is_note_mark(_text(element), line, element.tail or "")


def _is_note_link(link: Any) -> bool:
    if local_name(link) not in {"a", "xref"}:
        return False
    if "noteref" in _labels(link) or (_labels_note(link, frozenset()) and not any(map(str.isalpha, _text(link)))):
        return True
    is_raised = [_kind(child, "1") for child in link] == ["sup"] and _text(link).strip() == _text(link[0]).strip()
    return is_raised and _leads_to_place(link)


def _is_glued_note(element: Any, line: str) -> bool:
    """Return whether a short mark directly after text is a note's: by a label, or as a single link to an anchor."""
    mark = "".join(islice(element.itertext(), 9)).strip().strip("[]()")  # longer than any short mark
    longest = 3 if mark.isdecimal() or set(mark) <= set("*†‡§¶") else 2 if mark.isalpha() else 0
    is_glued = (line[-1:].isalnum() or line.endswith((*_ENDS_PROSE, "%"))) and not (element.tail or "")[:1].isalnum()
    if not is_glued or not 0 < len(mark) <= longest:
        return False
    links = [child for child in element.iter() if local_name(child) == "a"]
    is_link = len(links) == 1 and bool((links[0].get("href") or "").partition("#")[2])
    if any(local_name(a) == "nav" or not _CONTENTS.isdisjoint(_labels(a).split()) for a in element.iterancestors()):
        return False  # no notes in tables of contents
    return is_link or _labels_note(element)


def _labels_note(element: Any, names: frozenset[str] = _NOTES) -> bool:
    """Return whether a label is one of ``names`` or means a footnote."""
    words = "".join(char if char.isalpha() else " " for char in _labels(element)).split()
    is_named = any(name in "".join(words) for name in ("footnote", "endnote", "noteref"))
    return is_named or any(word in names or word.startswith("fn") for word in words)


def _labels(element: Any) -> str:
    return " ".join(filter(None, map(element.get, _LABELS))).lower()


def _leads_to_place(link: Any) -> bool:
    return local_name(link) == "xref" or "#" in (link.get("href") or "")
