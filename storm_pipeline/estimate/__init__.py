"""Estimates of a run's calls, tokens and dollars, as ranges."""

from storm_pipeline.estimate.estimating import estimate
from storm_pipeline.estimate.results import Estimate, EstimateRow, Range

__all__ = ["Estimate", "EstimateRow", "Range", "estimate"]
