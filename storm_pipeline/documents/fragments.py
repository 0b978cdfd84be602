"""Text of small pieces of markup: XML elements, and the JATS or HTML fragments of deposited abstracts."""

import html
import re
from typing import Any

from storm_pipeline.documents.plain import plain_text

_HEADING = re.compile(r"<(?:\w+:)?title\b[^<>]*>([^<>]*)</(?:\w+:)?title\s*>", re.I)
_BLOCK = re.compile(r"</?(?:\w+:)?(?:p|sec|title|list|list-item|break|br|div|li|ul|ol|disp-formula)\b[^<>]*>", re.I)
_TAG = re.compile(r"<(?:[/?]?[a-zA-Z]|!)[^<>]*>")
_REDUNDANT_HEADING = re.compile(r"\s*(?:abstract|summary|resumen|résumé|zusammenfassung)[\s.:]*", re.I)


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
