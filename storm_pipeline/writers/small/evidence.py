"""The evidence of sections that are put together from sentences of the sources."""

from dataclasses import dataclass

from storm_pipeline.references.evidence import FEWEST_SENTENCES, SectionEvidence
from storm_pipeline.references.facts import Fact


@dataclass(frozen=True)
class Candidate:
    """A sentence of a source that an article may tell."""

    fact: Fact
    place: tuple[int, int]  # number of its snippet, and of the sentence in it
    opening: Fact  # the first sentence of its page, itself if it is that or where the page is not found whole
    nearness: float  # to the topic, in [-1, 1]


@dataclass(frozen=True)
class SentenceEvidence(SectionEvidence):
    """What a section tells, the nearest to the topic first, and the length allowed, in sections."""

    candidates: tuple[Candidate, ...] = ()
    room: int = 1

    @property
    def is_empty(self) -> bool:
        """Return whether there are fewer than two candidates."""
        return len(self.candidates) < FEWEST_SENTENCES

    @property
    def is_thin(self) -> bool:
        """Return True: each heading is searched for, since what was found before it was named is not about it."""
        return True

    def snippet_ids(self) -> frozenset[str]:
        """Return the ids of the snippets that the candidates come from."""
        return frozenset(one.fact.citation.snippet_id for one in self.candidates)
