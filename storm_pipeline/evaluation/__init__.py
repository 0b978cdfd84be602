"""Experiments: data sets, metrics, the runner and its report. Nothing here is imported when an article is written."""
