"""Renderers of articles, one module per format: pure functions from an article to a string."""
