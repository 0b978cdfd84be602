"""Exports for other programs, one format per module: pure functions from a manuscript to bytes."""

from storm_pipeline.output.export.formats import FORMATS, TEXTS, export, write

__all__ = ["FORMATS", "TEXTS", "export", "write"]
