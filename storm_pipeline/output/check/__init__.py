"""Checks of any article against its sources, sentence by sentence."""

from storm_pipeline.output.check.judging import Checked, CheckedSentence, check_article
from storm_pipeline.output.check.reading import read_for_check

__all__ = ["Checked", "CheckedSentence", "check_article", "read_for_check"]
