"""Judges and their protocols: support judges (does a passage support a claim?) and graders (texts by rubrics)."""
