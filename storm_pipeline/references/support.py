"""Which shown facts support a sentence: attribution after writing, and a check of what the writer cited.

The score of a sentence against a fact is the mean of the cosine of their embeddings and the share of the
sentence's content words that the fact (or its title, or the topic) has. It tells an off-topic citation from a
fitting one reliably and judges full entailment only weakly, so it is used for what it can do: to drop what nothing
shown supports, and to cite what was left uncited. Numbers are exact: a sentence with a number that its sources
lack is not supported by them; nor is an uncited sentence given to a fact that lacks its names.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from storm_pipeline.references.facts import Fact, stems
from storm_pipeline.text import words
from storm_pipeline.types import Citation, Sentence

Embed = Callable[[Sequence[str]], npt.NDArray[np.float32]]
"""Texts to unit vectors, a row a text."""
ATTRIBUTED = 0.60
"""Least score at which an uncited sentence is given to a fact."""
CITED = 0.40
"""Least score at which a citation that the writer made stands."""
_ALSO = 0.04
"""A second fact is cited too when its score is this near to the best one's."""

_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")


@dataclass(frozen=True)
class Checked:
    """Sentences after the check. ``unsupported`` ones are in place, without citations."""

    sentences: tuple[Sentence, ...]
    attributed: int = 0
    unsupported: int = 0


def check_support(sentences: Sequence[Sentence], facts: Sequence[Fact], *, known: str, embed: Embed) -> Checked:
    """Keep citations that hold, attribute uncited sentences, and leave without citation what nothing supports.

    Args:
        sentences: as parsed, with citations among those of ``facts``.
        facts: what the writer was shown.
        known: text whose words and numbers need no source here (topic and heading).
        embed: texts to unit vectors.
    """
    if not sentences or not facts:
        return Checked(tuple(Sentence(s.text) for s in sentences), unsupported=len(sentences))
    scores = _scores([s.text for s in sentences], facts, known, embed)
    checked, attributed, unsupported = [], 0, 0
    for sentence, row in zip(sentences, scores, strict=True):
        kept = _standing(sentence, row, facts, known)
        if not kept:
            kept = _attributed(sentence, row, facts, known)
            attributed += bool(kept)
            unsupported += not kept
        checked.append(Sentence(sentence.text, kept))
    return Checked(tuple(checked), attributed, unsupported)


def _standing(
    sentence: Sentence, row: npt.NDArray[np.float64], facts: Sequence[Fact], known: str
) -> tuple[Citation, ...]:
    """The sentence's own citations whose best fact scores high enough, if together they have its numbers."""
    best: dict[Citation, float] = {}
    for score, fact in zip(row, facts, strict=True):
        best[fact.citation] = max(best.get(fact.citation, 0.0), float(score))
    kept = tuple(c for c in sentence.citations if best.get(c, 0.0) >= CITED)
    shown = " ".join(f"{f.title} {f.text}" for f in facts if f.citation in kept)
    return kept if numbers(sentence.text) <= numbers(f"{shown} {known}") else ()


def _attributed(
    sentence: Sentence, row: npt.NDArray[np.float64], facts: Sequence[Fact], known: str
) -> tuple[Citation, ...]:
    needed, named = numbers(sentence.text), set(stems(" ".join(_names(sentence.text))))
    fitting = [
        (float(score), fact.citation)
        for score, fact in zip(row, facts, strict=True)
        if score >= ATTRIBUTED
        and needed <= numbers(f"{fact.title} {fact.text} {known}")
        and named <= set(stems(f"{fact.title} {fact.text} {known}"))
    ]
    top = max((score for score, _ in fitting), default=0.0)
    return tuple(dict.fromkeys(c for score, c in sorted(fitting, key=lambda p: -p[0]) if score >= top - _ALSO))[:2]


def _names(text: str) -> list[str]:
    """Words with a capital that do not open the text."""
    return [word for word in words(text)[1:] if word[0].isupper()]


def _scores(texts: Sequence[str], facts: Sequence[Fact], known: str, embed: Embed) -> npt.NDArray[np.float64]:
    vectors = embed([*texts, *(f"{fact.title}: {fact.text}" for fact in facts)])
    cosine = vectors[: len(texts)] @ vectors[len(texts) :].T
    has = [set(stems(f"{fact.title} {fact.text} {known}")) for fact in facts]
    shared = np.array([[_recall(set(stems(text)), own) for own in has] for text in texts])
    return np.asarray((np.clip(cosine, 0, 1) + shared) / 2, dtype=np.float64)


def _recall(needed: set[str], had: set[str]) -> float:
    return len(needed & had) / len(needed) if needed else 0.0


def numbers(text: str) -> set[str]:
    """The numbers of a text in digits, without thousands separators."""
    return {number.replace(",", "") for number in _NUMBER.findall(text)}
