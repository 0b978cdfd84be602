"""Estimates of a run's calls, tokens and dollars, as ranges."""

from storm_pipeline.interfaces.estimate.estimating import Estimate, EstimateRow, Range, estimate

__all__ = ["Estimate", "EstimateRow", "Range", "estimate"]
