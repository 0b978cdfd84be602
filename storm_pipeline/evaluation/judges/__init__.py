"""Judges behind their seams: does a passage support a claim, and what grade does a text deserve."""
