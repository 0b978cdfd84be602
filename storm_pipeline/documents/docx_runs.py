"""Runs of Word files as people read them: exponents and indices stay, marks of notes, struck and hidden text do not."""

from collections.abc import Mapping
from itertools import groupby
from typing import Any

from storm_pipeline.documents.raised import is_note_mark, lowered_text, raised_text

W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
"""The namespace of Word's elements, as lxml writes it."""
_NOT_READ = (f"{W}strike", f"{W}dstrike", f"{W}vanish")
_NEAR = 4  # runs before a mark in which the text before it is looked for
_NOTE_STYLES = frozenset({"footnote reference", "endnote reference"})


def read_raised(body: Any, styles: Any) -> None:
    """Replace the texts of a body's runs by what people read.

    Args:
        body: a ``w:body``; it is changed.
        styles: the ``w:styles`` of the document.
    """
    of_styles = _positions_of_styles(styles)
    for paragraph in body.iter(f"{W}p"):
        groups = [
            (position, [text for run in runs for text in run.iter(f"{W}t")])
            for position, runs in groupby(paragraph.iter(f"{W}r"), lambda run: _position(run, of_styles))
        ]
        contents = ["".join(text.text or "" for text in texts) for _, texts in groups]
        for i, (position, texts) in enumerate(groups):
            if position and texts:
                before, after = "".join(contents[max(0, i - _NEAR) : i]), "".join(contents[i + 1 : i + 2])
                shown = _shown(position, contents[i], before, after)
                for n, text in enumerate(texts):
                    text.text = "" if n else shown


def value(element: Any) -> str:
    """The ``w:val`` of an element; empty if there is none."""
    return "" if element is None else str(element.get(f"{W}val") or "")


def is_on(switch: Any) -> bool:
    """Whether a property such as ``w:strike`` is set."""
    return switch is not None and value(switch) not in {"0", "false", "off"}


def _shown(position: str, text: str, before: str, after: str) -> str:
    if position == "subscript":
        return lowered_text(text)
    is_dropped = position != "superscript" or is_note_mark(text, before, after)
    return "" if is_dropped else raised_text(text)


def _positions_of_styles(styles: Any) -> dict[str, str]:
    """Id of a style → where its text stands."""
    found = {}
    for style in styles.iter(f"{W}style"):
        is_note = value(style.find(f"{W}name")).lower() in _NOTE_STYLES
        position = "note" if is_note else value(style.find(f"{W}rPr/{W}vertAlign"))
        found[style.get(f"{W}styleId") or ""] = position
    return found


def _position(run: Any, of_styles: Mapping[str, str]) -> str:
    """Where a run stands: superscript, subscript, note or hidden; empty if on the line."""
    properties = run.find(f"{W}rPr")
    if properties is None:
        return ""
    if any(is_on(properties.find(name)) for name in _NOT_READ):
        return "hidden"
    styled = of_styles.get(value(properties.find(f"{W}rStyle")), "")
    own = value(properties.find(f"{W}vertAlign")) or styled
    parent = run.getparent()
    is_linked = parent.tag == f"{W}hyperlink" and bool(parent.get(f"{W}anchor"))
    if styled == "note" or (own == "superscript" and is_linked):
        return "note"
    return own if own in {"superscript", "subscript"} else ""
