"""What sections are written from."""

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Generic, Self, TypeVar

from storm_pipeline.references.facts import Fact
from storm_pipeline.references.passages import Passage
from storm_pipeline.types import Heading, Outline, Section, Sentence

FEW_FACTS = 5
"""A section with fewer facts gets a search of its own, for the interviews passed it by; and it can spare none."""
FEWEST_SENTENCES = 2
"""A heading over a single sentence promises more than it holds."""
_FEWEST_FACTS = 2
_FEW_WORDS = 200
"""A section whose passages have fewer words gets a search of its own."""


@dataclass(frozen=True)
class SectionEvidence(ABC):
    """A section's heading and what it is written from."""

    heading: Heading

    @property
    @abstractmethod
    def is_empty(self) -> bool:
        """Whether no section can be written from it."""

    @property
    @abstractmethod
    def is_thin(self) -> bool:
        """Whether a search of its own should add to it."""

    @abstractmethod
    def adds_to(self, before: Self | None) -> bool:
        """Whether it has something that the same section's earlier evidence had not."""

    @abstractmethod
    def snippet_ids(self) -> frozenset[str]:
        """Ids of the snippets that the writer is shown, or sentences of them."""


@dataclass(frozen=True)
class FactEvidence(SectionEvidence):
    """Single facts, and how many sections' length the section may have."""

    facts: tuple[Fact, ...] = ()
    room: int = 1

    @property
    def is_empty(self) -> bool:
        """Whether there are fewer than two facts."""
        return len(self.facts) < _FEWEST_FACTS

    @property
    def is_thin(self) -> bool:
        """Whether there are fewer than five facts."""
        return len(self.facts) < FEW_FACTS

    def adds_to(self, before: Self | None) -> bool:
        """Whether it has a fact that the earlier evidence had not."""
        return before is None or not set(self.facts) <= set(before.facts)

    def snippet_ids(self) -> frozenset[str]:
        """Ids of the snippets that the facts stand in."""
        return frozenset(fact.citation.snippet_id for fact in self.facts)


@dataclass(frozen=True)
class PassageEvidence(SectionEvidence):
    """Passages, and what the interviews made of them.

    Attributes:
        passages: in the order in which they are shown.
        findings: sentences of interview answers that rest on these passages.
        own: how many of them, the first ones, fit this section better than any other.
        target_words: length that the text should have.
    """

    passages: tuple[Passage, ...] = ()
    findings: tuple[Sentence, ...] = ()
    own: int = 0
    target_words: int = 0

    @property
    def own_findings(self) -> tuple[Sentence, ...]:
        """The findings that belong here."""
        return self.findings[: self.own]

    @property
    def words(self) -> int:
        """Words of all passages."""
        return sum(passage.words for passage in self.passages)

    @property
    def is_empty(self) -> bool:
        """Whether there is no passage."""
        return not self.passages

    @property
    def is_thin(self) -> bool:
        """Whether the passages have fewer than 200 words."""
        return self.words < _FEW_WORDS

    def adds_to(self, before: Self | None) -> bool:
        """Whether a finding of its own was not there before."""
        return before is None or not {f.text for f in self.own_findings} <= {f.text for f in before.findings}

    def since(self, before: Self, section: Section) -> Self:
        """What a section's reviser needs: the passages that the section cites, and what was not shown before."""
        cited = {c.snippet_id for sentence in section.sentences() for c in sentence.citations}
        shown = before.snippet_ids() - cited
        passages = tuple(p for p in self.passages if not {c.snippet_id for c in p.citations()} <= shown)
        known = {finding.text for finding in before.findings}
        findings = tuple(finding for finding in self.findings if finding.text not in known)
        return replace(self, passages=passages, findings=findings, own=0)

    def snippet_ids(self) -> frozenset[str]:
        """Ids of the snippets of all passages, copies included."""
        return frozenset(c.snippet_id for passage in self.passages for c in passage.citations())


E = TypeVar("E", bound=SectionEvidence)


@dataclass(frozen=True)
class Evidence(Generic[E]):
    """What an article is written from.

    Attributes:
        outline: the outline that the evidence can fill.
        sections: one for each first-level section of it.
        for_lead: facts that no section is shown, since the lead tells them.
    """

    outline: Outline
    sections: tuple[E, ...]
    for_lead: tuple[Fact, ...] = ()

    def snippet_ids(self) -> frozenset[str]:
        """Ids of the snippets that any section is shown."""
        return frozenset[str]().union(*(own.snippet_ids() for own in self.sections))
