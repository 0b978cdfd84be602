"""Evidence, and checks of text against it: a run's search, pages, store, passages, citations, screen, judges.

May import errors, models, run, settings, sources, text, types.
"""
