"""Reads articles written elsewhere, with citations: Markdown, JSON, wikitext, Word, HTML, and what packages add."""

from storm_pipeline.output.articles.pages import AvailablePages, Reference
from storm_pipeline.output.articles.reading import SUFFIXES, read_article

__all__ = ["SUFFIXES", "AvailablePages", "Reference", "read_article"]
