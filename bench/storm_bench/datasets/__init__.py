"""Readers and builders of the papers' data sets, one per file."""
