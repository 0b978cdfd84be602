"""The evidence that sections are written from."""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Generic, Self, TypeVar

from storm_pipeline.references.citations import cited_snippet_ids
from storm_pipeline.references.facts import Fact
from storm_pipeline.references.passages import Passage
from storm_pipeline.types import Heading, Outline, Section, Sentence

FEWEST_SENTENCES = 2
"""Minimum sentences of a section."""
_OVERSHOOT = 1.1  # factor by which the requested length exceeds the target: repetition is cut later
_YIELD = 0.7  # words of article text that one word of evidence supports
_SHORTEST = 60  # minimum target length of a text in words
_FEW_WORDS = 200  # a section whose passages have fewer words gets a search of its own


def words_asked(article_words: int, part: float = 1.0, evidence_words: float = math.inf) -> int:
    """The words that a prompt asks for: one rule for every method, so that comparisons are fair.

    ``evidence_words``: words of the passages that the text is written from, which bound it.
    """
    return max(_SHORTEST, round(min(article_words * _OVERSHOOT * part, _YIELD * evidence_words)))


@dataclass(frozen=True)
class SectionEvidence(ABC):
    """A section's heading and what it is written from."""

    heading: Heading

    @property
    @abstractmethod
    def is_empty(self) -> bool:
        """Whether it is too little to write a section from."""

    @property
    @abstractmethod
    def is_thin(self) -> bool:
        """Whether a search of its own should add to it."""

    @abstractmethod
    def adds_to(self, before: Self | None) -> bool:
        """Whether it has something that the section's earlier evidence lacked."""

    @abstractmethod
    def snippet_ids(self) -> frozenset[str]:
        """Ids of the snippets that the evidence comes from."""


@dataclass(frozen=True)
class PassageEvidence(SectionEvidence):
    """Passages, and the interview findings drawn from them."""

    passages: tuple[Passage, ...] = ()  # in the order in which they are shown
    # sentences of interview answers that cite these passages, the section's own first
    findings: tuple[Sentence, ...] = ()
    own: int = 0  # number of findings assigned to this section
    target_words: int = 0  # target length of the section

    @property
    def own_findings(self) -> tuple[Sentence, ...]:
        """The findings assigned to this section."""
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
        """Whether it has an own finding that the earlier evidence lacked."""
        return before is None or not {f.text for f in self.own_findings} <= {f.text for f in before.findings}

    def since(self, before: Self, section: Section) -> Self:
        """The evidence for revising a section: new findings, the passages they and the section cite, and new passages.

        Passages that were shown before and that nothing cites are left out; those that the section cites and that were
        not selected again come last.
        """
        known = {finding.text for finding in before.findings}
        findings = tuple(finding for finding in self.findings if finding.text not in known)
        own = sum(finding.text not in known for finding in self.own_findings)
        cited = cited_snippet_ids(section.sentences())
        shown = before.snippet_ids() - cited - cited_snippet_ids(findings)
        selected = tuple(p for p in self.passages if not p.snippet_ids <= shown)
        missing = cited - self.snippet_ids()
        earlier = tuple(p for p in before.passages if not missing.isdisjoint(p.snippet_ids))
        return replace(self, passages=(*selected, *earlier), findings=findings, own=own)

    def snippet_ids(self) -> frozenset[str]:
        """Ids of the snippets of all passages, copies included."""
        return frozenset[str]().union(*(passage.snippet_ids for passage in self.passages))


E = TypeVar("E", bound=SectionEvidence)


@dataclass(frozen=True)
class Evidence(Generic[E]):
    """The evidence that an article is written from."""

    outline: Outline  # the outline after merging sections without evidence
    sections: tuple[E, ...]  # one for each of its first-level sections
    for_lead: tuple[Fact, ...] = ()  # facts reserved for the lead
    # texts of findings that are shown to no section: they repeat others, or are about something else
    left_out: frozenset[str] = frozenset()

    def snippet_ids(self) -> frozenset[str]:
        """Ids of the snippets in any section's evidence."""
        return frozenset[str]().union(*(own.snippet_ids() for own in self.sections))
