"""The metrics of the papers, one a file, behind the one interface of :mod:`storm_pipeline.evaluation.metrics.base`."""
