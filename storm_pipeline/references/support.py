"""Checks a writer's citations against the facts shown, and attributes uncited sentences to facts.

The score of a sentence against a fact is the mean of the cosine of their embeddings and the share of the
sentence's content words that the fact (or its title, or the topic) has. It reliably separates
off-topic citations from fitting ones but is a weak test of entailment, so it is used only to drop sentences that no
fact supports, and to cite uncited ones. Numbers are compared exactly: a sentence with a number, or a range of
numbers, that its sources lack is unsupported; nor is an uncited sentence attributed to a fact that lacks its names.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from storm_pipeline.languages import stem_set
from storm_pipeline.references.facts import Fact, recall
from storm_pipeline.text.index_terms import STOP_WORDS
from storm_pipeline.text.words import words
from storm_pipeline.types import Citation, Sentence

Embed = Callable[[Sequence[str]], npt.NDArray[np.float32]]
"""Texts to unit vectors, shape (texts, dimension)."""
ATTRIBUTED = 0.60
"""Minimum score at which an uncited sentence is attributed to a fact."""
CITED = 0.40
"""Minimum score at which a writer's citation is kept."""
_ALSO = 0.04
"""Maximum gap to the best score at which a second fact is cited too."""

_OF_A_NAME = 4
"""Minimum length of the common prefix of a name and its other forms."""
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_RANGE = re.compile(
    r"(\d+(?:[.,]\d+)*)(?:st|nd|rd|th)?(?:\s(?:century|centuries|BC|AD|CE|BCE))*"
    r"\s?(?:[-–—]|\bto\b|\buntil\b)\s?(?:the\s|about\s|around\s|c\.\s?)?(\d+(?:[.,]\d+)*)"
)


@dataclass(frozen=True)
class Checked:
    """Sentences after the check, and counts; unsupported ones stay in place without citations."""

    sentences: tuple[Sentence, ...]
    attributed: int = 0
    unsupported: int = 0


def check_support(sentences: Sequence[Sentence], facts: Sequence[Fact], *, known: str, embed: Embed) -> Checked:
    """Keep valid citations, attribute uncited sentences, and strip the citations of unsupported ones.

    Args:
        sentences: as parsed, with citations among those of ``facts``.
        facts: what the writer was shown.
        known: text whose words and numbers need no citation (topic and heading).
        embed: texts to unit vectors.
    """
    if not sentences or not facts:
        return Checked(tuple(Sentence(s.text) for s in sentences), unsupported=len(sentences))
    shared = _shared_words([s.text for s in sentences], facts, known)
    # Half the word share is a lower bound of the score: where it suffices, nothing is embedded.
    by_words = [_standing(s, row / 2, facts, known) for s, row in zip(sentences, shared, strict=True)]
    doubtful = [i for i, s in enumerate(sentences) if not by_words[i] or len(by_words[i]) < len(s.citations)]
    kept = dict(enumerate(by_words))
    attributed = 0
    for i, row in zip(doubtful, _scores(doubtful, sentences, facts, shared, embed), strict=True):
        kept[i] = _standing(sentences[i], row, facts, known)
        if not kept[i]:
            kept[i] = _attributed(sentences[i], row, facts, known)
            attributed += bool(kept[i])
    checked = tuple(Sentence(s.text, kept[i]) for i, s in enumerate(sentences))
    return Checked(checked, attributed, sum(not s.citations for s in checked))


def _standing(
    sentence: Sentence, row: npt.NDArray[np.float64], facts: Sequence[Fact], known: str
) -> tuple[Citation, ...]:
    """The sentence's own citations whose best fact scores high enough, if together they have its numbers."""
    best: dict[Citation, float] = {}
    for score, fact in zip(row, facts, strict=True):
        best[fact.citation] = max(best.get(fact.citation, 0.0), float(score))
    kept = tuple(c for c in sentence.citations if best.get(c, 0.0) >= CITED)
    shown = " ".join(f"{f.title} {f.text}" for f in facts if f.citation in kept)
    return kept if _figures(sentence.text) <= _figures(f"{shown} {known}") else ()


def _attributed(
    sentence: Sentence, row: npt.NDArray[np.float64], facts: Sequence[Fact], known: str
) -> tuple[Citation, ...]:
    needed = _figures(sentence.text)
    fitting = [
        (float(score), fact.citation)
        for score, fact in zip(row, facts, strict=True)
        if score >= ATTRIBUTED
        and needed <= _figures(f"{fact.title} {fact.text} {known}")
        and has_names(sentence.text, f"{fact.title} {fact.text} {known}")
    ]
    top = max((score for score, _ in fitting), default=0.0)
    return tuple(dict.fromkeys(c for score, c in sorted(fitting, key=lambda p: -p[0]) if score >= top - _ALSO))[:2]


def _shared_words(texts: Sequence[str], facts: Sequence[Fact], known: str) -> npt.NDArray[np.float64]:
    """Texts × facts: share of the text's content words that the fact or the known text has."""
    known_stems = stem_set(known)
    has = [stem_set(f"{fact.title} {fact.text}") | known_stems for fact in facts]
    return np.array([[recall(stem_set(text), own) for own in has] for text in texts])


def _scores(
    rows: Sequence[int],
    sentences: Sequence[Sentence],
    facts: Sequence[Fact],
    shared: npt.NDArray[np.float64],
    embed: Embed,
) -> npt.NDArray[np.float64]:
    """Scores of the sentences at positions ``rows`` against each fact."""
    if not rows:
        return np.zeros((0, len(facts)))
    vectors = embed([*(sentences[i].text for i in rows), *(fact.in_context for fact in facts)])
    cosine = vectors[: len(rows)] @ vectors[len(rows) :].T
    return np.asarray((np.clip(cosine, 0, 1) + shared[list(rows)]) / 2, dtype=np.float64)


def has_names(text: str, source: str) -> bool:
    """Whether the source has every name of the text: every capitalised word but the first.

    A name may have another ending (Europe, European), and an acronym may stand for words of the source.
    """
    had = words(source)
    lowered = {word.casefold() for word in had}
    initials = "".join(word[0] for word in had).casefold()
    names = {word for word in words(text)[1:] if word[0].isupper() and word.casefold() not in STOP_WORDS}
    return all(
        any(_is_form(name.casefold(), word) for word in lowered) or (name.isupper() and name.casefold() in initials)
        for name in names
    )


def _is_form(name: str, word: str) -> bool:
    """Whether two lower-case words share a prefix of at least half of the shorter one's letters."""
    alike = max(_OF_A_NAME, (min(len(name), len(word)) + 1) // 2)
    return name[:alike] == word[:alike]


def numbers(text: str) -> set[str]:
    """The numbers of a text in digits, without thousands separators; :mod:`storm_pipeline.quantities` has values."""
    return {number.replace(",", "") for number in _NUMBER.findall(text)}


def _figures(text: str) -> set[str]:
    """The numbers of a text, and its ranges as ``14–17``."""
    return numbers(text) | {f"{low}–{high}".replace(",", "") for low, high in _RANGE.findall(text)}
