"""Articles as text and files: rendering, exporting, reading, checking against sources, refreshing.

May import errors, evidence, method, run, sources, text, types.
"""
