"""The report of an experiment: a results file, and pages made from it with tables like the papers'."""

from storm_pipeline.evaluation.reporting.results import (
    ExperimentResults,
    Judged,
    Result,
    judges_of,
    load_results,
    save_results,
    topic_means,
)
from storm_pipeline.evaluation.reporting.writing import write_report

__all__ = [
    "ExperimentResults",
    "Judged",
    "Result",
    "judges_of",
    "load_results",
    "save_results",
    "topic_means",
    "write_report",
]
