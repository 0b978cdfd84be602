"""Evaluation: data sets, metrics, judges and reports. Nothing here is imported while an article is written."""
