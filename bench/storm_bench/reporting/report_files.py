"""Writes the report's files into one folder.

The page is self-contained: no scripts, no external resources, embedded plots. All text is autoescaped by jinja2. Plots
are images, in which browsers run and load nothing; the page's Content-Security-Policy allows only its own style and
data images.
"""

import base64
import functools
from pathlib import Path
from typing import TYPE_CHECKING

from storm_bench.errors import ExperimentError
from storm_bench.reporting.blocks import Figure, ReportSection
from storm_bench.reporting.markdown import PLOTS, to_markdown
from storm_bench.reporting.report_content import report_of
from storm_bench.reporting.results_file import RESULTS, ExperimentResults, save_results
from storm_pipeline.api import page_environment, tidy, write_atomically

if TYPE_CHECKING:
    from jinja2 import Template


def to_html(report: ReportSection) -> str:
    """Render a report as a page."""
    return _template().render(report=report, lang="en")


@functools.cache
def _template() -> "Template":
    environment = page_environment("storm_bench.reporting")
    environment.filters |= {
        "image": lambda svg: "data:image/svg+xml;base64," + base64.b64encode(svg.encode()).decode(),
        "kind": lambda block: type(block).__name__.lower(),
        "tidy": tidy,
    }
    environment.tests["figure"] = lambda block: isinstance(block, Figure)
    return environment.get_template("report.html")


def write_report(folder: Path, results: ExperimentResults) -> tuple[Path, ...]:
    """Write ``results.json``, ``report.md``, ``report.html`` and ``plots/*.svg``; byte-identical for equal results.

    The results are written first, so that they survive an error in the pages. Outdated plots in this folder are
    deleted; no other file is touched.

    Returns:
        The files, in the order above.

    Raises:
        ExperimentError: the folder cannot be written.
        MissingExtraError: a library of the extra ``eval`` is not installed.
    """
    plots = folder / PLOTS
    try:
        plots.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ExperimentError(f"cannot create the folder {plots}: {error.strerror}; choose another") from error
    save_results(folder / RESULTS, results)
    report = report_of(results)
    files = {folder / "report.md": to_markdown(report), folder / "report.html": to_html(report)}
    files |= {plots / figure.name: figure.svg for figure in report.figures()}
    try:
        for path, text in files.items():
            write_atomically(path, text)
        for old in {*plots.glob("difference-*.svg"), *plots.glob("cost-*.svg")} - files.keys():
            old.unlink()
    except OSError as error:
        raise ExperimentError(f"cannot write {error.filename}: {error.strerror}; choose another folder") from error
    return (folder / RESULTS, *files)
