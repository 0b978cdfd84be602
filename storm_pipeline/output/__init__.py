"""Articles as text and as files: rendered, exported, read back, checked against their sources, refreshed.

May import errors, evidence, method, models, run, settings, sources, text, types.
"""
