"""An article as one XHTML page, from which books and PDF files are made."""

import functools
from pathlib import Path
from typing import TYPE_CHECKING

from storm_pipeline.export.manuscript import HeadingBlock, Manuscript
from storm_pipeline.languages import notes_heading
from storm_pipeline.render.page import page_environment

if TYPE_CHECKING:
    from jinja2 import Template

_WEB = ("http://", "https://")


def article_page(manuscript: Manuscript, style: str) -> str:
    """The article as well-formed XHTML that is HTML too: text, marks that link to the references, and the references.

    Only http and https addresses are links. ``style``: the name of a style sheet among the templates.
    """
    return template("article.xhtml").render(
        manuscript=manuscript,
        notes_heading=notes_heading(manuscript.language),
        css=f"\n{as_it_stands(style)}",
        is_link=lambda href: href.lower().startswith(_WEB),
    )


def contents(manuscript: Manuscript) -> list[tuple[str, str, list[tuple[str, str]]]]:
    """The sections, each with its anchor and the headings right below it, with theirs."""
    found: list[tuple[str, str, list[tuple[str, str]]]] = []
    for number, block in enumerate(manuscript.blocks):
        if not isinstance(block, HeadingBlock):
            continue
        if block.level == 1 or not found:
            found.append((block.text, f"part-{number}", []))
        elif block.level == 2:
            found[-1][2].append((block.text, f"part-{number}"))
    return found


def as_it_stands(name: str) -> str:
    """A file among the templates into which nothing is put."""
    return Path(__file__).with_name("templates").joinpath(name).read_text(encoding="utf-8")


@functools.cache
def template(name: str) -> "Template":
    """A template of this package, which escapes all that is put into it."""
    return page_environment("storm_pipeline.export").get_template(name)
