"""Compiling programs: examples from a user's own articles, metrics with feedback, DSPy's optimisers by name.

May import errors, evidence, method, models, output, run, settings, text, types.
"""
