"""Writes the report's files into one folder."""

from pathlib import Path

from storm_bench.errors import ExperimentError
from storm_bench.reporting.html import to_html
from storm_bench.reporting.markdown import PLOTS, to_markdown
from storm_bench.reporting.report_content import report_of
from storm_bench.reporting.results_file import RESULTS, ExperimentResults, save_results
from storm_pipeline.api import write_atomically


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
