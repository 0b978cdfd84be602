"""Readers of foreign articles with citations: Markdown, JSON, wikitext, Word, HTML, and formats of plug-ins."""

from storm_pipeline.output.articles.pages import AvailablePages, Reference
from storm_pipeline.output.articles.reading import SUFFIXES, read_article

__all__ = ["SUFFIXES", "AvailablePages", "Reference", "read_article"]
