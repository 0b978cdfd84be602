"""The evidence that sections are written from."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Self

from storm_pipeline.evidence.passages import Passage
from storm_pipeline.types import Heading, Outline, Sentence

FEWEST_SENTENCES = 2
"""Minimum sentences of a section."""
_OVERSHOOT = 1.1  # factor by which the requested length exceeds the target: repetition is cut later
_YIELD = 0.7  # words of article text per word of evidence
_SHORTEST = 60  # minimum target length of a text in words


def words_asked(article_words: int, evidence_words: float = math.inf) -> int:
    """Return the words that a prompt asks for: one rule for every method, so that comparisons are fair.

    ``evidence_words``: words of the text's passages, which bound it.
    """
    return max(_SHORTEST, round(min(article_words * _OVERSHOOT, _YIELD * evidence_words)))


def words_of_sections(article_words: int, parts: Sequence[float], evidence_words: Sequence[float]) -> list[int]:
    """Divide the words of :func:`words_asked` among sections; one without evidence has 0 words.

    No section gets more than its passages support; words above that limit go to the others. So the sum is that of any
    other method, unless all passages together support less.

    Args:
        parts: the section's shares of the article, > 0; only their ratios count.
        evidence_words: words of each section's passages.
    """
    whole = article_words * _OVERSHOOT
    least = min(_SHORTEST, whole / max(1, sum(map(bool, evidence_words))))
    most = [max(least, _YIELD * words) if words else 0.0 for words in evidence_words]
    low, high = 0.0, max(whole, _SHORTEST) / min(parts, default=1.0)  # words of a section per unit of its part
    for _ in range(50):  # halvings, to far below a word
        scale = (low + high) / 2
        words = [min(max(least, scale * part), limit) for part, limit in zip(parts, most, strict=True)]
        low, high = (scale, high) if sum(words) < whole else (low, scale)
    return list(map(round, words))


@dataclass(frozen=True)
class FindingNotes:
    """Notes on findings, which are identified by their texts."""

    same: Mapping[str, str] = field(default_factory=dict)  # a finding → a more complete one with the same statement
    contradicting: tuple[tuple[str, str], ...] = ()  # pairs
    doubtful: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()  # beyond the article's room, off the topic, or about the sources
    sections: Mapping[str, str] = field(default_factory=dict)  # a finding → title of the section where it is placed
    order: tuple[str, ...] = ()  # the order in which the sections should use them
    shares: Mapping[str, float] = field(default_factory=dict)  # title of a section → its percentage of the words

    def after_merge(self, same: Mapping[str, str]) -> Self:
        """Return the notes after a merge of findings: notes on a merged finding apply to the one that is kept."""

        def now(text: str) -> str:
            return same.get(text, text)

        pairs = ((now(first), now(other)) for first, other in self.contradicting)
        return replace(
            self,
            same={text: now(kept) for text, kept in self.same.items()} | dict(same),
            contradicting=tuple(dict.fromkeys(pair for pair in pairs if pair[0] != pair[1])),
            doubtful=tuple(dict.fromkeys(map(now, self.doubtful))),
            sections={now(text): title for text, title in self.sections.items()} | dict(self.sections),
            order=tuple(dict.fromkeys(map(now, self.order))),
        )


NO_NOTES = FindingNotes()


@dataclass(frozen=True)
class PassageEvidence:
    """The evidence for one section: passages, and the interview findings drawn from them."""

    heading: Heading
    passages: tuple[Passage, ...] = ()  # in display order
    findings: tuple[Sentence, ...] = ()  # sentences of interview answers that are assigned to this section
    related: tuple[Sentence, ...] = ()  # those of other sections that cite these passages
    target_words: int = 0  # target length of the section
    notes: FindingNotes = NO_NOTES

    @property
    def words(self) -> int:
        """Words of all passages."""
        return sum(passage.words for passage in self.passages)

    @property
    def is_empty(self) -> bool:
        """Whether there is no passage."""
        return not self.passages

    def snippet_ids(self) -> frozenset[str]:
        """Return the ids of the snippets of all passages, copies included."""
        return frozenset[str]().union(*(passage.snippet_ids for passage in self.passages))


@dataclass(frozen=True)
class Evidence:
    """The evidence that an article is written from."""

    outline: Outline  # the outline after merging sections without evidence
    sections: tuple[PassageEvidence, ...]  # one for each of its first-level sections

    def snippet_ids(self) -> frozenset[str]:
        """Return the ids of the snippets in any section's evidence."""
        return frozenset[str]().union(*(section.snippet_ids() for section in self.sections))
