"""Judges of support: whether passages say what a sentence claims, and which of their words decide it."""
