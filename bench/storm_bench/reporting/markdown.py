"""Markdown of a report: how its template escapes texts and cells."""

import re
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from typing import NamedTuple

import jinja2

from storm_bench.reporting import formats
from storm_pipeline.api import escape

_WITHIN_WORD = re.compile(r"(?<=[^\W_])\\_(?=[^\W_])")
"""An escaped underscore inside a word, where Markdown takes it literally anyway."""
_BLANK_LINES = re.compile(r"\n{3,}")


class Cell(NamedTuple):
    """A cell of a table: its text, small text after it, and whether it is bold."""

    text: str
    detail: str = ""
    strong: bool = False


Grid = tuple[Sequence[str], list[Sequence[str | Cell]]]
"""Column headers and rows of a table."""


def tidied(text: str) -> str:
    """Leave one blank line between blocks."""
    return _BLANK_LINES.sub("\n\n", text).strip("\n") + "\n"


def _line(text: object) -> str:
    """Escape a text at the start of a line."""
    return _WITHIN_WORD.sub("_", escape(str(text)))


def _md(text: object) -> str:
    """Escape a text or a cell inside a line, where line-start syntax needs no escape."""
    if isinstance(text, Cell):
        shown = _md(text.text)
        return " ".join(filter(None, (f"**{shown}**" if text.strong and shown else shown, _md(text.detail))))
    return _line(f"x{text}")[1:].strip()


@cache
def template(package: str = "storm_bench.reporting") -> jinja2.Template:
    """Open the template of the report of a package."""
    source = files(package).joinpath("report.md.jinja").read_text(encoding="utf-8")
    strict = jinja2.StrictUndefined
    made = jinja2.Environment(trim_blocks=True, lstrip_blocks=True, undefined=strict, autoescape=False)  # noqa: S701
    made.filters |= {"md": _md, "line": _line, "listed": formats.listed, "plural": formats.plural}
    made.filters |= {"signed": formats.signed, "p_value": formats.p_value}
    made.filters["listed_items"] = lambda given: ", ".join(f"{name} {value}" for name, value in given.items())
    return made.from_string(source)
