"""Removes nearly identical sentences across sections by edits rather than by rewriting the article (paper section 3.4).

A sentence is removed only if the one that is kept has all its numbers, and its citations move there, so no cited fact
is lost.
"""

import numpy as np

from storm_pipeline.languages import denials
from storm_pipeline.references.changing import sections_with
from storm_pipeline.run.context import RunContext
from storm_pipeline.text.words import numbers, overlap
from storm_pipeline.types import Section, Sentence

_ALIKE = 0.80  # minimum cosine at which a pair of sentences is a candidate
_VERBATIM = 0.9  # share of common word bigrams at or above which two sentences are nearly identical
_MOST_PAIRS = 40  # maximum number of candidate pairs


def remove_certain_repetition(ctx: RunContext, sections: tuple[Section, ...]) -> tuple[Section, ...]:
    """The sections without near-identical sentences, whose citations move to those kept; no model is called."""
    gone: set[Sentence] = set()
    moved: dict[Sentence, tuple[Sentence, ...]] = {}
    sentences = [sentence for section in sections for sentence in section.sentences()]
    for kept, dropped in _repeated(ctx, list(dict.fromkeys(sentences))):
        if kept not in gone and dropped not in gone:
            gone.add(dropped)
            moved[kept] = (*moved.get(kept, ()), dropped, *moved.pop(dropped, ()))

    def edited(sentence: Sentence) -> Sentence | None:
        if sentence in gone:
            return None
        gone.add(sentence)  # it may stand again further on
        both = (sentence, *moved.get(sentence, ()))
        return Sentence(sentence.text, tuple(dict.fromkeys(c for one in both for c in one.citations)))

    left = sections_with(sections, edited)
    ctx.events.count(repeated=len(sentences) - sum(1 for section in left for _ in section.sentences()))
    return left


def _repeated(ctx: RunContext, distinct: list[Sentence]) -> list[tuple[Sentence, Sentence]]:
    """Pairs of near-identical sentences, most similar first; the longer one of each, which is kept, comes first."""
    if len(distinct) < 2:
        return []
    vectors = ctx.store.embed([s.text for s in distinct])
    cosine = np.triu(vectors @ vectors.T, k=1)
    found = sorted(zip(*np.nonzero(cosine >= _ALIKE), strict=True), key=lambda at: -cosine[at])
    pairs = (sorted((distinct[i], distinct[j]), key=lambda s: -len(s.text)) for i, j in found[:_MOST_PAIRS])
    return [(kept, own) for kept, own in pairs if _is_repeated(own.text, kept.text, ctx.settings.article_language)]


def _is_repeated(dropped: str, kept: str, language: str) -> bool:
    if not numbers(dropped) <= numbers(kept) or overlap(dropped, kept, 2) < _VERBATIM:
        return False
    return denials(dropped, language) == denials(kept, language)
