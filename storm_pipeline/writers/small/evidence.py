"""The evidence of sections that are written from single facts."""

from dataclasses import dataclass
from typing import Self

from storm_pipeline.references.evidence import SectionEvidence
from storm_pipeline.references.facts import Fact

_FEW_FACTS = 5
"""A section with fewer facts was missed by the interviews: it gets a search of its own."""
_FEWEST_FACTS = 2
"""With fewer there is no section."""


@dataclass(frozen=True)
class FactEvidence(SectionEvidence):
    """Single facts, the length allowed, in sections, and whether the heading names all that the facts are about."""

    facts: tuple[Fact, ...] = ()
    room: int = 1
    is_named: bool = False

    @property
    def is_empty(self) -> bool:
        """Whether there are fewer than two facts."""
        return len(self.facts) < _FEWEST_FACTS

    @property
    def is_thin(self) -> bool:
        """Whether there are fewer than five facts."""
        return len(self.facts) < _FEW_FACTS

    def adds_to(self, before: Self | None) -> bool:
        """Whether it has a fact that the earlier evidence lacked."""
        return before is None or not set(self.facts) <= set(before.facts)

    def snippet_ids(self) -> frozenset[str]:
        """Ids of the snippets that the facts come from."""
        return frozenset(fact.citation.snippet_id for fact in self.facts)
