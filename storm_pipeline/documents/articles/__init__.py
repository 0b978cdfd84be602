"""Articles written elsewhere, read with their citations: Markdown, JSON, wikitext, and what other packages add."""

from storm_pipeline.documents.articles.pages import AvailablePages, Reference
from storm_pipeline.documents.articles.reading import SUFFIXES, read_article

__all__ = ["SUFFIXES", "AvailablePages", "Reference", "read_article"]
