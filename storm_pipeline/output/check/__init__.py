"""Checks of any article against its sources, sentence by sentence."""

from storm_pipeline.output.check.judging import CheckedArticle, CheckedSentence, check_article
from storm_pipeline.output.check.reading import read_for_check

__all__ = ["CheckedArticle", "CheckedSentence", "check_article", "read_for_check"]
