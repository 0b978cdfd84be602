"""Compiling programs: examples from the user's articles, metrics with feedback, DSPy's optimisers by name.

May import errors, evidence, method, models, output, run, settings, text, types.
"""
