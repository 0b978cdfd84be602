"""What sections are written from."""

from dataclasses import dataclass

from storm_pipeline.references.facts import Fact
from storm_pipeline.types import Heading

FEW_FACTS = 5
"""A section with fewer facts gets a search of its own, for the interviews passed it by; and it can spare none."""
FEWEST_SENTENCES = 2
"""A heading over a single sentence promises more than it holds."""


@dataclass(frozen=True)
class SectionEvidence:
    """A section's heading, the facts that it may use, and how many sections' length it may have."""

    heading: Heading
    facts: tuple[Fact, ...]
    room: int = 1


@dataclass(frozen=True)
class Evidence:
    """What an article's sections are written from, in the order of the outline.

    Attributes:
        sections: one for each first-level section.
        for_lead: facts that no section is shown, since the lead tells them.
    """

    sections: tuple[SectionEvidence, ...]
    for_lead: tuple[Fact, ...] = ()
