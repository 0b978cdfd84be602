"""Articles as files for other programs, one format a file: pure functions, a manuscript in, bytes out."""

from storm_pipeline.output.export.formats import FORMATS, TEXTS, export, write

__all__ = ["FORMATS", "TEXTS", "export", "write"]
