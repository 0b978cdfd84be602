"""Metrics for optimisers, a score in [0, 1], and what to do better, in words."""
