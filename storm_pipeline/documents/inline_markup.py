"""Markup within lines, as people read it: superscripts, marks of notes, deletions, ruby, quotations."""

import copy
from collections.abc import Iterator
from itertools import islice
from typing import Any

from storm_pipeline.documents.raised import is_note_mark, lowered_text, raised_text

_NOT_READ = frozenset({"del", "s", "strike", "rt", "rp", "rtc"})  # deleted; pronunciation, in ruby
_FORMULAS = frozenset({"msup", "msub", "msubsup"})
_BLOCKS = frozenset("p td th li ul ol dl dd dt div blockquote table section article main body h1 h2 h3 h4".split())
_LABELS = ("class", "id", "role", "rel", "ref-type", "epub:type", "{http://www.idpf.org/2007/ops}type")
_QUOTES = "\"'“”„«»‹›‘’「『"
_LEVELS = 4  # elements around a mark, and before it, in which the text before it is looked for
_INLINES = frozenset("a b cite em font i small span strong u xref".split())
_POSITIONS = {"sup": "sup", "super": "sup", "superscript": "sup", "sub": "sub", "subscript": "sub"}
_CONTENTS = frozenset({"toc", "doc-toc", "contents", "table-of-contents"})
_LINE_LABELS = frozenset("note notes reference references citation citations cite bibr".split())
_CLOSING = ".,;:!?%”’\"'»)]"


def as_read(root: Any) -> Any:
    """Copy a tree and replace the markup within its lines by what people read.

    Digits above and below the line become Unicode's superscripts and subscripts (``10⁶``, ``H₂O``); marks of notes,
    deleted text and the readings of ruby are left out; ``<q>`` has quotation marks. Works on HTML, XHTML and JATS.
    """
    root = copy.deepcopy(root)
    for element in list(root.iter()):
        match name := _kind(element):
            case "sup" | "sub" | "s" | "strike" if _has_blocks(element):  # it was not closed
                continue
            case "sup":
                _replace(element, "" if _is_note(element) else raised_text(_text(element)))
            case "sub":
                _replace(element, lowered_text(_text(element)))
            case "a" | "xref" if _is_note_link(element):
                _replace(element, "")
            case _ if name in _INLINES and _is_glued_note(element):
                _replace(element, "")
            case "q":
                _quote(element)
            case "mfrac" if len(element) == 2:
                element[0].tail = "/"
            case _ if name in _FORMULAS:
                for child in element[1:]:
                    is_lower = name != "msup" and child is element[1]
                    _replace(child, (lowered_text if is_lower else raised_text)(_text(child)))
            case _ if name in _NOT_READ:
                _replace(element, "")
    return root


def local_name(element: Any) -> str:
    """An element's name without its namespace or prefix; empty for comments and the like."""
    return element.tag.rpartition("}")[2].rpartition(":")[2].lower() if isinstance(element.tag, str) else ""


def _kind(element: Any) -> str:
    """An element's name; ``sup`` or ``sub`` for one that its style or class raises or lowers, directly at text."""
    name = local_name(element)
    if name not in _INLINES:
        return name
    style = (element.get("style") or "").lower().replace(" ", "").partition("vertical-align:")[2][:3]
    classes = (element.get("class") or "").lower().split()
    position = style if style in {"sup", "sub"} else next((_POSITIONS[own] for own in classes if own in _POSITIONS), "")
    if not position or len(_text(element).split()) != 1:
        return name
    is_at_text = bool(_text_before(element)[-1:].strip()) or (element.tail or "")[:1].isalnum()
    return position if is_at_text else name


def _replace(element: Any, text: str) -> None:
    """Give an element a text in place of its content, and a name that means nothing."""
    for child in list(element):
        element.remove(child)
    element.text = text
    element.tag = "span"


def _text(element: Any) -> str:
    return "".join(element.itertext())


def _quote(element: Any) -> None:
    if not _text(element).lstrip().startswith(tuple(_QUOTES)):
        element.text = f"“{element.text or ''}"
        if len(element):
            element[-1].tail = f"{element[-1].tail or ''}”"
        else:
            element.text += "”"
    element.tag = "span"


def _has_blocks(element: Any) -> bool:
    return any(local_name(own) in _BLOCKS for own in element.iterdescendants())


def _is_note(element: Any) -> bool:
    """Whether a superscript is the mark of a note: by a label, a link to a place of a page, or as it stands."""
    links = [own for own in element.iter() if local_name(own) in {"a", "xref"}]
    if any(labels_note(_labels(own)) or _leads_to_place(own) for own in (element, *links)):
        return True
    return is_note_mark(_text(element), _text_before(element), element.tail or "")


def _is_note_link(link: Any) -> bool:
    """Whether a link is the mark of a note: by a label, or as a superscript that leads to a place."""
    text, labels = _text(link), _labels(link)
    if _labels_footnote(labels) and not any(map(str.isalpha, text)):
        return True
    if "noteref" in labels:
        return True
    is_raised = [_kind(child) for child in link] == ["sup"] and text.strip() == _text(link[0]).strip()
    return is_raised and _leads_to_place(link)


def _is_glued_note(element: Any) -> bool:
    """Whether an element that stands directly behind text is the mark of a note: by a label, or as a lone link.

    The link leads to a place of a page, and all of the text is a short mark. Tables of contents have no notes.
    """
    text = "".join(islice(element.itertext(), 9)).strip()  # a short mark has fewer characters
    before = _text_before(element)[-1:]
    is_glued = (before.isalnum() or before in _CLOSING) and not (element.tail or "")[:1].isalnum()
    if not before or not is_glued or not _is_short_mark(text):
        return False
    links = [own for own in element.iter() if local_name(own) == "a"]
    is_link = len(links) == 1 and bool((links[0].get("href") or "").partition("#")[2])
    labels = _labels(element)
    is_labelled = _labels_footnote(labels) or not _LINE_LABELS.isdisjoint(_words(labels))
    return (is_link or is_labelled) and not any(map(_is_contents, element.iterancestors()))


def labels_note(labels: str) -> bool:
    """Whether a label of a superscript (class, role, kind of reference) makes it the mark of a note."""
    words = _words(labels)
    is_named = any(name in word for name in ("note", "reference", "citation") for word in words)
    return is_named or any(word.startswith(("fn", "cite", "ref", "xref", "bib")) for word in words)


def _labels_footnote(labels: str) -> bool:
    words = _words(labels)
    joined = "".join(words)
    return any(name in joined for name in ("footnote", "endnote", "noteref")) or any(
        word.startswith("fn") for word in words
    )


def _words(labels: str) -> list[str]:
    return "".join(char if char.isalpha() else " " for char in labels.lower()).split()


def _is_short_mark(text: str) -> bool:
    mark = text.strip("[]()")
    longest = 3 if mark.isdecimal() or set(mark) <= set("*†‡§¶") else 2 if mark.isalpha() else 0
    return 0 < len(mark) <= longest


def _is_contents(element: Any) -> bool:
    return local_name(element) == "nav" or not _CONTENTS.isdisjoint(_labels(element).lower().split())


def _leads_to_place(link: Any) -> bool:
    return local_name(link) == "xref" or "#" in (link.get("href") or "")


def _labels(element: Any) -> str:
    return " ".join(filter(None, map(element.get, _LABELS)))


def _text_before(element: Any) -> str:
    """The end of the text before an element on its line."""
    for _ in range(_LEVELS):
        if text := next(_texts_before(element), ""):
            return text[-20:]
        element = element.getparent()
        if element is None or local_name(element) in _BLOCKS:
            return ""
    return ""


def _texts_before(element: Any) -> Iterator[str]:
    siblings = list(islice(element.itersiblings(preceding=True), _LEVELS))
    for before in siblings:
        if before.tail:
            yield before.tail
        if local_name(before) in _BLOCKS or local_name(before) == "br":
            yield "\n"
        if isinstance(before.tag, str) and (text := _text(before)):
            yield text
    parent = element.getparent()
    if len(siblings) < _LEVELS and parent is not None and parent.text:
        yield parent.text
