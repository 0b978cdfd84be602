"""Any article checked against its sources, sentence by sentence."""

from storm_pipeline.check.judging import Checked, CheckedSentence, Status, check_article
from storm_pipeline.check.reading import Read, read_for_check

__all__ = ["Checked", "CheckedSentence", "Read", "Status", "check_article", "read_for_check"]
