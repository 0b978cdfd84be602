"""Readers and builders of the data sets that the papers measure on, one a file."""
