"""The bench of storm-pipeline: data sets, metrics, judges, reports and experiments.

It uses only the package's public names and :mod:`storm_pipeline.api`.
"""

__version__ = "0.1.0"
