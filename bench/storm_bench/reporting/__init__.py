"""The report of an experiment: a results file, and a page made from it with tables like the papers'."""

from storm_bench.reporting.report import Report, write_report
from storm_bench.reporting.results_file import (
    NO_JUDGE,
    ExperimentResults,
    JudgedMeasures,
    Result,
    judges_of,
    load_results,
    save_results,
    topic_means,
)
from storm_bench.reporting.tables import with_failures

__all__ = [
    "NO_JUDGE",
    "ExperimentResults",
    "JudgedMeasures",
    "Report",
    "Result",
    "judges_of",
    "load_results",
    "save_results",
    "topic_means",
    "with_failures",
    "write_report",
]
