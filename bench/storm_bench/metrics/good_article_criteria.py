"""Thirty-nine criteria for comparing two articles side by side, after Wikipedia's Good Article criteria.

Wikipedia asks of a Good Article that it is well written, verifiable, broad, neutral, stable and illustrated
(https://en.wikipedia.org/wiki/Wikipedia:Good_article_criteria). These criteria (``good_article.toml``) divide the first
four, in our own words. What the text of two articles does not show is left out: edit wars, images, and reference lists
and citations, which the data sets do not have for the human articles (the citation metrics judge those of the generated
ones).
"""

import tomllib
from dataclasses import dataclass
from importlib.resources import files

from storm_pipeline.api import fingerprint


@dataclass(frozen=True)
class Criterion:
    """A quality that one of two articles may have more of."""

    name: str  # short and unique
    group: str  # one of :data:`GROUPS`
    text: str  # the quality, in one sentence


_TEXTS = tomllib.loads(files("storm_bench.metrics").joinpath("good_article.toml").read_text(encoding="utf-8"))
GROUPS = tuple(_TEXTS)
"""The groups of criteria, in order."""
CRITERIA = tuple(Criterion(name, group, text) for group, own in _TEXTS.items() for name, text in own.items())
"""The criteria, in the order in which a judge is asked about them."""


def criteria_fingerprint() -> str:
    """A 12-digit hexadecimal hash of the criteria's texts, in order."""
    return fingerprint([(one.name, one.text) for one in CRITERIA])[:12]
