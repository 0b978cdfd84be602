"""Estimates of a run's calls, tokens and dollars, as ranges."""

from storm_pipeline.estimate.estimating import estimate
from storm_pipeline.estimate.questions import Question, estimate_questions
from storm_pipeline.estimate.results import Estimate, EstimateRow, Range

__all__ = ["Estimate", "EstimateRow", "Question", "Range", "estimate", "estimate_questions"]
