"""Ratings of sources, and filters of the pages that an article may use."""
