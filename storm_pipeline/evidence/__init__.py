"""What was found and what it supports: search of a run, page reading, store, passages, citations, screen, judges.

May import errors, models, run, settings, sources, text, types.
"""
