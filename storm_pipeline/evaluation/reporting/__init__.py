"""The report of an experiment: results in one file, and pages with tables like the papers' made from it."""

from storm_pipeline.evaluation.reporting.results import (
    ExperimentResults,
    Judged,
    Result,
    judged,
    load_results,
    save_results,
    topic_means,
)
from storm_pipeline.evaluation.reporting.writing import write_report

__all__ = [
    "ExperimentResults",
    "Judged",
    "Result",
    "judged",
    "load_results",
    "save_results",
    "topic_means",
    "write_report",
]
