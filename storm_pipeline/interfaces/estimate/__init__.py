"""Estimates of a run's calls, tokens and dollars, as ranges."""

from storm_pipeline.interfaces.estimate.estimating import Question, estimate, estimate_questions
from storm_pipeline.interfaces.estimate.results import Estimate, EstimateRow, Range

__all__ = ["Estimate", "EstimateRow", "Question", "Range", "estimate", "estimate_questions"]
