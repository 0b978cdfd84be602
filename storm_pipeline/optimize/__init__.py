"""Compiling programs: examples from a user's own articles, metrics with feedback, DSPy's optimisers by name."""
