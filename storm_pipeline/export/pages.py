"""An article as one XHTML page, from which books and PDF files are made."""

import functools
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from storm_pipeline.export.manuscript import HeadingBlock, Manuscript
from storm_pipeline.languages import notes_heading
from storm_pipeline.render.page import page_environment

if TYPE_CHECKING:
    from jinja2 import Template

_WEB = ("http://", "https://")


@dataclass(frozen=True)
class Contents:
    """A heading in the table of contents, its anchor, and the headings below it."""

    text: str
    anchor: str
    below: tuple["Contents", ...] = ()


def article_page(manuscript: Manuscript, style: str) -> str:
    """The article as well-formed XHTML that is HTML too: text, marks that link to the references, and the references.

    Only http and https addresses are links. ``style``: the name of a style sheet among the templates.
    """
    return template("article.xhtml").render(
        manuscript=manuscript,
        notes_heading=notes_heading(manuscript.language),
        css=f"\n{as_it_stands(style)}",
        contents=contents(manuscript),
        is_link=lambda href: href.lower().startswith(_WEB),
    )


def contents(manuscript: Manuscript) -> tuple[Contents, ...]:
    """The sections and the headings right below them."""
    found: list[tuple[str, str, list[Contents]]] = []
    for number, block in enumerate(manuscript.blocks):
        if not isinstance(block, HeadingBlock):
            continue
        if block.level == 1 or not found:
            found.append((block.text, f"part-{number}", []))
        elif block.level == 2:
            found[-1][2].append(Contents(block.text, f"part-{number}"))
    return tuple(Contents(text, anchor, tuple(below)) for text, anchor, below in found)


def as_it_stands(name: str) -> str:
    """A file among the templates into which nothing is put."""
    return Path(__file__).with_name("templates").joinpath(name).read_text(encoding="utf-8")


@functools.cache
def template(name: str) -> "Template":
    """A template of this package, which escapes all that is put into it."""
    environment = page_environment("storm_pipeline.export")
    is_heading: Callable[[object], bool] = lambda block: isinstance(block, HeadingBlock)  # noqa: E731
    environment.tests["heading"] = is_heading
    return environment.get_template(name)
