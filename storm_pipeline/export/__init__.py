"""Articles as files for other programs, one format a file: pure functions, a manuscript in, bytes out.

:mod:`storm_pipeline.export.formats` lists the formats.
"""
