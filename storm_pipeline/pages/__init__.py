"""Whole pages of the web: which may be had, how they are had, and the passages of them that answer a query."""
