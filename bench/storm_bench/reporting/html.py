"""A report as one self-contained HTML page: no scripts, no external resources, embedded plots.

All text is autoescaped by jinja2. Plots are embedded as images, in which browsers run and load nothing; the page's
Content-Security-Policy allows only its own style and data images.
"""

import base64
import functools
from typing import TYPE_CHECKING

from storm_bench.reporting.blocks import Block, Figure, ReportPage
from storm_pipeline.api import page_environment, tidy

if TYPE_CHECKING:
    from jinja2 import Template


def to_html(report: ReportPage, *, lang: str = "en") -> str:
    """Render a report as a page."""
    return _template().render(report=report, lang=lang)


def _image(svg: str) -> str:
    """An SVG document as a data URL."""
    return "data:image/svg+xml;base64," + base64.b64encode(svg.encode()).decode()


def _kind(block: Block) -> str:
    return type(block).__name__.lower()


@functools.cache
def _template() -> "Template":
    environment = page_environment("storm_bench.reporting")
    environment.filters |= {"image": _image, "kind": _kind, "tidy": tidy}
    environment.tests["figure"] = lambda block: isinstance(block, Figure)
    return environment.get_template("report.html")
