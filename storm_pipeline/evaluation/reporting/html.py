"""A report as one self-contained HTML page: no script, nothing loaded, plots inside.

Every text goes through jinja2's autoescaping. Plots are images, in which a browser lets nothing act or load; the page's
policy allows its own style and such images, and nothing else.
"""

import base64
import functools
from typing import TYPE_CHECKING

from storm_pipeline.evaluation.reporting.blocks import Block, Figure, Report
from storm_pipeline.render.page import page_environment
from storm_pipeline.text.words import tidy

if TYPE_CHECKING:
    from jinja2 import Template


def to_html(report: Report, *, lang: str = "en") -> str:
    """Render a report as a page.

    Args:
        report: what to render.
        lang: language tag of the report (BCP 47).
    """
    return _template().render(report=report, lang=lang)


def _image(svg: str) -> str:
    """The address of a drawing that holds the drawing itself."""
    return "data:image/svg+xml;base64," + base64.b64encode(svg.encode()).decode()


def _kind(block: Block) -> str:
    return type(block).__name__.lower()


@functools.cache
def _template() -> "Template":
    environment = page_environment("storm_pipeline.evaluation.reporting")
    environment.filters |= {"image": _image, "kind": _kind, "tidy": tidy}
    environment.tests["figure"] = lambda block: isinstance(block, Figure)
    return environment.get_template("report.html")
