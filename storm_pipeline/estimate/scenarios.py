"""Scenarios of a run: short, usual, long, and with poor sources.

The lengths are means over a run. The usual ones were measured on sources of four published STORM runs and of the
embedded corpus (a sentence has 22 words in both), and on replies of our own runs; the others are plausible extremes of
the mean, not of a single call.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from storm_pipeline.files import table_beside


@dataclass(frozen=True)
class Scenario:
    """Properties of a run that its settings do not determine."""

    settings: Mapping[str, int] = field(default_factory=dict, hash=False)  # upper bounds on settings in such a run
    reply: float = 1.0  # length of a reply relative to a usual one, > 0
    # length of a list: the minimum allowed, the usual one, or twice that
    items: Literal["fewest", "usual", "twice"] = "usual"
    copied: float = 0.1  # share of sentences copied verbatim from a source, in [0, 1]
    remarks: float = 0.4  # share of texts that a check returns with remarks, in [0, 1]
    alike: float = 0.3  # share of pages that repeat what others say of the topic, in [0, 1]
    headings: int = 10  # headings shown of a related article
    found: float = 1.0  # share of the requested pages that a search finds, in (0, 1]
    # share of these that answer the query; the rest are general pages that any query may find, in [0, 1]
    new: float = 0.5
    named: float = 0.8  # share of pages whose title names the topic; others are hardly used, in [0, 1]
    snippets: int = 2  # snippets per page, >= 1
    sentences: int = 3  # sentences per snippet, >= 1
    words: int = 22  # words per sentence, >= 6


_TABLE = table_beside(__file__)
USUAL = Scenario()
SHORT, LONG, POOR = (Scenario(**_TABLE[name]) for name in ("short", "long", "poor"))
