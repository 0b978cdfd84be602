"""The bench of storm-pipeline: data sets, metrics, judges, reports and experiments.

Of the package it uses the public names and :mod:`storm_pipeline.api` only.
"""

__version__ = "0.1.0"
