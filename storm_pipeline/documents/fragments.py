"""From small pieces of markup to text: XML elements, and the tagged fragments that abstracts are deposited as."""

import html
import re
from typing import Any

from storm_pipeline.documents.plain import plain_text

_HEADING = re.compile(r"<(?:\w+:)?title\b[^<>]*>([^<>]*)</(?:\w+:)?title\s*>", re.I)
_BLOCK = re.compile(r"</?(?:\w+:)?(?:p|sec|title|list|list-item|break|br|div|li|ul|ol|disp-formula)\b[^<>]*>", re.I)
_TAG = re.compile(r"<(?:[/?]?[a-zA-Z]|!)[^<>]*>")
_NO_CONTENT = re.compile(r"\s*(?:abstract|summary|resumen|résumé|zusammenfassung)[\s.:]*", re.I)


def element_text(element: Any) -> str:
    """The text of an lxml element and all below it, plain; empty for None. Entities are left as they are written."""
    return "" if element is None else plain_text("".join(element.itertext()))


def fragment_text(fragment: object) -> str:
    """The text of a JATS or HTML fragment, plain; empty for anything that is no string.

    Headings become labels (``Methods: …``), a heading that only says *Abstract* goes. Nothing is parsed, so a fragment
    may be unbalanced or use prefixes that it does not declare.
    """
    if not isinstance(fragment, str):
        return ""
    text = _TAG.sub("", _BLOCK.sub(" ", _HEADING.sub(_labelled, fragment)))
    text = html.unescape(html.unescape(text))  # deposited fragments are often escaped twice
    return plain_text(text)


def _labelled(heading: re.Match[str]) -> str:
    label = heading[1].strip().rstrip(":.")
    return f" {label}: " if label and not _NO_CONTENT.fullmatch(label) else " "
