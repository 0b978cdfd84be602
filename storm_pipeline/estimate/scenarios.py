"""How a run may go: a short, a usual and a long one, and one whose sources say little.

The lengths are means over a run. The usual ones were measured on sources of four published STORM runs and of the
embedded corpus (a sentence has 22 words in both), and on replies of our own runs; the others lie where the mean of many
calls may lie, not where a single call may.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal


@dataclass(frozen=True)
class Scenario:
    """What settings leave open about a run.

    Attributes:
        settings: bounds of the settings that such a run does not reach.
        reply: length of a reply for each word of a usual one, > 0.
        items: length of a list: the least that is allowed, a usual one, or twice that.
        copied: share of the sentences that follow a source word for word, in [0, 1].
        remarks: share of the texts that a check hands back with remarks, in [0, 1].
        alike: share of the pages that say of the topic what others say, in [0, 1].
        headings: those shown of a related article.
        found: share of the pages wanted that a search finds, in (0, 1].
        new: share of these that tell what was asked for; any other search may find the rest as well, in [0, 1].
        named: share of the pages whose title names the topic; others are hardly used, in [0, 1].
        snippets: of a page, >= 1.
        sentences: of a snippet, >= 1.
        words: of a sentence, >= 6.
    """

    settings: Mapping[str, int] = field(default_factory=dict)
    reply: float = 1.0
    items: Literal["fewest", "usual", "twice"] = "usual"
    copied: float = 0.1
    remarks: float = 0.5
    alike: float = 0.3
    headings: int = 10
    found: float = 1.0
    new: float = 0.5
    named: float = 0.3
    snippets: int = 2
    sentences: int = 3
    words: int = 22


SHORT = Scenario(
    settings={"turns": 1, "queries": 1, "max_sections": 1, "rounds": 1},
    reply=1 / 3,
    items="fewest",
    copied=0.0,
    remarks=0.0,
    alike=0.0,
    headings=0,
    found=0.3,
    new=0.3,
    named=1.0,
    snippets=1,
    sentences=2,
    words=14,
)
USUAL = Scenario()
LONG = Scenario(
    reply=2.0,
    items="twice",
    copied=0.3,
    remarks=1.0,
    alike=1.0,
    headings=14,
    named=1.0,
    snippets=3,
    sentences=4,
    words=30,
)
POOR = Scenario(items="twice", copied=0.0, alike=0.0, new=0.02, snippets=1, sentences=1)
"""Sections lack facts, so that searches are made for them."""
