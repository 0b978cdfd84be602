"""Rendering articles as text, one module per format: pure functions from an article to a string."""
