"""Removes nearly identical sentences across sections by edits rather than by rewriting the article (paper section 3.4).

A sentence is removed only if the one that is kept has all its numbers, and its citations move there, so no cited fact
is lost.
"""

from dataclasses import dataclass

import numpy as np

from storm_pipeline.languages import denials
from storm_pipeline.run.context import RunContext
from storm_pipeline.text.words import numbers, overlap
from storm_pipeline.types import Paragraph, Section, Sentence

_ALIKE = 0.80  # minimum cosine at which a pair of sentences is a candidate
_VERBATIM = 0.9  # share of common word bigrams at or above which two sentences are nearly identical
_MOST_PAIRS = 40  # maximum number of candidate pairs


@dataclass(frozen=True)
class _Pair:
    kept: Sentence
    dropped: Sentence


def remove_certain_repetition(ctx: RunContext, sections: tuple[Section, ...]) -> tuple[Section, ...]:
    """The sections without near-identical sentences; no model is called."""
    pairs, language = _pairs(ctx, _sentences(sections)), ctx.settings.article_language
    same = [pair for pair in pairs if _is_verbatim(pair.dropped.text, pair.kept.text, language)]
    return _without(ctx, sections, same)


def _sentences(sections: tuple[Section, ...]) -> list[Sentence]:
    return [sentence for section in sections for sentence in section.sentences()]


def _without(ctx: RunContext, sections: tuple[Section, ...], repeated: list[_Pair]) -> tuple[Section, ...]:
    """The sections with the second sentence of each pair removed and its citations moved to the first."""
    gone: set[Sentence] = set()
    moved: dict[Sentence, tuple[Sentence, ...]] = {}
    for pair in repeated:
        if pair.kept in gone or pair.dropped in gone:
            continue
        gone.add(pair.dropped)
        moved[pair.kept] = (*moved.get(pair.kept, ()), pair.dropped, *moved.pop(pair.dropped, ()))
    seen: set[Sentence] = set(gone)
    edited = [_edit(section, seen, moved) for section in sections]
    left = tuple(section for section in edited if section is not None)
    ctx.events.count(repeated=len(_sentences(sections)) - len(_sentences(left)))
    return left


def _pairs(ctx: RunContext, sentences: list[Sentence]) -> list[_Pair]:
    """Candidate pairs, most similar first; of each pair, the longer sentence is kept."""
    distinct = list(dict.fromkeys(sentences))
    if len(distinct) < 2:
        return []
    vectors = ctx.store.embed([s.text for s in distinct])
    cosine = np.triu(vectors @ vectors.T, k=1)
    found = sorted(zip(*np.nonzero(cosine >= _ALIKE), strict=True), key=lambda at: -cosine[at])
    pairs = []
    for i, j in found[:_MOST_PAIRS]:
        longer, shorter = sorted((distinct[i], distinct[j]), key=lambda s: -len(s.text))
        if numbers(shorter.text) <= numbers(longer.text):
            pairs.append(_Pair(longer, shorter))
    return pairs


def _is_verbatim(dropped: str, kept: str, language: str) -> bool:
    return overlap(dropped, kept, 2) >= _VERBATIM and denials(dropped, language) == denials(kept, language)


def _edit(section: Section, seen: set[Sentence], moved: dict[Sentence, tuple[Sentence, ...]]) -> Section | None:
    """The section without sentences already ``seen``, which is updated in place."""
    paragraphs = []
    for paragraph in section.paragraphs:
        new = [s for s in dict.fromkeys(paragraph.sentences) if s not in seen]
        seen.update(new)
        paragraphs.append(Paragraph(tuple(_with_citations(s, moved.get(s, ())) for s in new)))
    below = [_edit(subsection, seen, moved) for subsection in section.subsections]
    filled = tuple(p for p in paragraphs if p.sentences)
    subsections = tuple(s for s in below if s is not None)
    return Section(section.heading, filled, subsections) if filled or subsections else None


def _with_citations(sentence: Sentence, others: tuple[Sentence, ...]) -> Sentence:
    citations = dict.fromkeys((*sentence.citations, *(c for other in others for c in other.citations)))
    return Sentence(sentence.text, tuple(citations))
