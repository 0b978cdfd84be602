"""Retrieval: embedders, lexical index, rank fusion, vector databases."""
