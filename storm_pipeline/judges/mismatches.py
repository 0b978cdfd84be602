"""What a claim has that its passages lack, as numbers in [0, 1]: words, names, figures, denials, and what ties facts.

A denial, a figure or a stress that is new matters the more, the more of the claim's other words stand in the two
sentences that share most with it: these say nearly the same then, but not that.
"""

import re
from dataclasses import dataclass

from storm_pipeline.files import table_beside
from storm_pipeline.judges.base import Question
from storm_pipeline.judges.excerpts import excerpt
from storm_pipeline.languages import denials, detect, split_sentences, stem_set
from storm_pipeline.quantities import missing
from storm_pipeline.text.words import folded_words

_WORDS = 120  # of the passages that are looked at: the sentences that share most with the claim
_NAME = re.compile(r"(?<=[\w,;:'\"“(] )[\"“(]?([A-Z][\w’'-]+)")
_LINKS, _ORDER, _STRESS = (frozenset(words.split()) for words in table_beside(__file__).values())
_MOST_LOST, _LONGEST = 8, 60  # words from which on a number counts as 1


@dataclass(frozen=True)
class Mismatches:
    """What a claim has that its passages lack, each in [0, 1]; 0 in all but figures where the languages differ.

    Attributes:
        words: share of its content words that the nearest sentence lacks.
        lost: number of its content words that the excerpt lacks, of eight.
        names: share of its capitalised words, but for the first, that no passage has.
        figures: 1 if a number or a date is not in the excerpt, across languages in no passage.
        figures_near: likewise of the two nearest sentences, times the share of its words that these have.
        denied: whether it denies more than these, times that share.
        denied_near: likewise of the nearest sentence alone.
        linked: whether it ties facts by words that these lack, times that share.
        ordered: likewise for words of order in time.
        stressed: likewise for words that leave no exception.
        length: its words, of sixty.
    """

    words: float
    lost: float
    names: float
    figures: float
    figures_near: float
    denied: float
    denied_near: float
    linked: float
    ordered: float
    stressed: float
    length: float


def mismatches(question: Question) -> Mismatches:
    """Compare a claim with its passages, of which 120 words are looked at closely, across languages all."""
    claim, whole = question.claim, "\n".join(question.passages)
    language, shown = detect(claim) or "en", excerpt(question, _WORDS)
    length = min(1.0, len(claim.split()) / _LONGEST)
    if detect(whole) not in ("", language):
        read_as = map(detect, question.passages)  # no word tells which part says it: all are looked at
        figures = float(bool(missing(claim, question.passages, language=language, source_languages=read_as)))
        return Mismatches(0, 0, 0, figures, figures, 0, 0, 0, 0, 0, length)
    figures = float(bool(missing(claim, [shown], language=language)))
    wanted = stem_set(claim, language)
    near, two = _nearest(shown, wanted, language)
    has_near, has_two = (1 - len(wanted - stem_set(text, language)) / max(1, len(wanted)) for text in (near, two))
    own, there = frozenset(folded_words(claim)), frozenset(folded_words(two))
    more, more_near = (denials(claim, language) > denials(text, language) for text in (two, near))
    return Mismatches(
        words=1 - has_near,
        lost=min(1.0, len(wanted - stem_set(shown, language)) / _MOST_LOST),
        names=_names(claim, whole),
        figures=figures,
        figures_near=has_two * bool(missing(claim, [two], language=language)),
        denied=has_two * more,
        denied_near=has_near * more_near,
        linked=has_two * bool((own & _LINKS) - there),
        ordered=has_two * bool((own & _ORDER) - there),
        stressed=has_two * bool((own & _STRESS) - there),
        length=length,
    )


def _nearest(shown: str, wanted: frozenset[str], language: str) -> tuple[str, str]:
    """The sentence with most of the wanted stems, and it with the one that has most of the others."""
    sentences = split_sentences(shown, language)

    def best(stems: frozenset[str]) -> str:
        return max(sentences, key=lambda one: len(stem_set(one, language) & stems), default="")

    near = best(wanted)
    return near, f"{near} {best(wanted - stem_set(near, language))}"


def _names(claim: str, whole: str) -> float:
    names = [folded_words(name.removesuffix("'s").removesuffix("’s")) for name in _NAME.findall(claim)]
    held = frozenset(folded_words(whole))
    return sum(not held.issuperset(name) for name in names) / max(1, len(names))
