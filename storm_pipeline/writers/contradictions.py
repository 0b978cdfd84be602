"""Finds sentences that state different numbers for what may be one thing, for the copy editor to settle."""

import re
from collections.abc import Sequence
from itertools import combinations

from storm_pipeline.languages import detect, stem_set
from storm_pipeline.quantities import differing, differing_dates, quantities, without_quantities
from storm_pipeline.references.facts import recall
from storm_pipeline.references.introductions import names_within
from storm_pipeline.references.menus import is_prose
from storm_pipeline.text.words import folded_words
from storm_pipeline.types import Sentence

_SHARED = 0.4
"""Minimum share of the shorter sentence's words, without topic and numbers, that both have."""
_FEWEST = 3
"""Minimum number of such words."""
_SAME_EVENT = 0.6
"""Minimum share of each sentence's words that the other has, where they may give one event two dates."""
_ONE_FORM = 0.8
"""Minimum share of each sentence's words that the other has, where each has another one: rows of a series."""
_FIGURES = 3  # from which on sentences of sources that have less than half in common are rows of statistics
_YEAR = re.compile(r"\b(?:19|20)\d\d\b")
_MOST = 12
"""Maximum number of pairs that an editor is shown, those that share most first."""


def contradictions(
    sentences: Sequence[Sentence], topic: str, language: str, *, sources: Sequence[str] = ()
) -> list[tuple[int, int, str, str]]:
    """Pairs of sentences that count the same and differ: their positions, and the numbers as they spell them.

    Args:
        sentences: in order.
        topic: its words prove no likeness.
        language: ISO 639-1 code of both.
        sources: of each the page that it is from, if they are of pages, not of an article: then those of different
            pages alone are paired, differ too by their only date where they share most words, and both share the
            words. Menus, tables, rows of a series, and sentences without a name or with few of several figures in
            common speak of different things.

    Years and numbers in names count nothing. Sentences of an article speak of different events where no year, or at
    most half of the names, is in both.
    """
    known = stem_set(topic, language)
    stems = [stem_set(without_quantities(one.text, language), language) - known for one in sentences]
    found = []
    for i, j in combinations(range(len(sentences)), 2):
        if len(stems[i] & stems[j]) < _FEWEST or (sources and sources[i] == sources[j]):
            continue
        both = recall(stems[i], stems[j]), recall(stems[j], stems[i])
        if (min if sources else max)(both) < _SHARED:
            continue
        one, other = sentences[i].text, sentences[j].text
        if sources and (_is_row(stems[i], stems[j], min(both)) or _are_apart(one, other, topic, language)):
            continue
        if not sources and _of_two_events(one, other, topic):
            continue
        by_date = differing_dates(one, other, language) if sources and min(both) >= _SAME_EVENT else None
        two = by_date or differing(one, other, language)
        if two and not any(map(_counts_nothing, two, (one, other))):
            found.append((max(both), i, j, *two))
    best = sorted(found, key=lambda pair: (-pair[0], pair[1], pair[2]))[:_MOST]
    return sorted((i, j, one, other) for _, i, j, one, other in best)


def _counts_nothing(spelt: str, text: str) -> bool:
    """Whether a number of a text is a year, or part of a name or a word ("2019 Packers", "5 Dislike", "33-yard")."""
    number, _, counted = spelt.rpartition(" ")
    is_name = f"{number} {counted.capitalize()}" in text and detect(text) != "de"
    return bool(_YEAR.fullmatch(number) or (number and is_name) or f"{number}-{counted}" in text)


def _is_row(own: frozenset[str], other: frozenset[str], alike: float) -> bool:
    """Whether sentences with these stems are of one form, each with a word that the other lacks."""
    return alike >= _ONE_FORM and not (own <= other or other <= own)


def _of_two_events(one: str, other: str, topic: str) -> bool:
    """Whether both have years, none of them in common, or both name something, at most half of it in common."""
    years, names = [_years(text) for text in (one, other)], [_names(text, topic) for text in (one, other)]
    if all(years) and years[0].isdisjoint(years[1]):
        return True
    both = frozenset.union(*names).intersection(*(folded_words(text) for text in (one, other)))
    return all(names) and 2 * len(both) <= min(map(len, names))


def _years(text: str) -> frozenset[str]:
    return frozenset(_YEAR.findall(text))


def _names(text: str, topic: str) -> frozenset[str]:
    return frozenset(name.casefold() for name in names_within(text)) - frozenset(folded_words(topic))


def _are_apart(one: str, other: str, topic: str, language: str) -> bool:
    """Whether both name something besides the topic or state several figures, few in common; or one is no prose."""
    first, second = (_names(text, topic) for text in (one, other))
    figures = quantities(one, language), quantities(other, language)
    if (fewest := min(map(len, figures))) >= _FIGURES and 2 * len(figures[0] & figures[1]) < fewest:
        return True
    told = all("|" not in text and is_prose(text) for text in (one, other))
    return not told or bool(first and second and first.isdisjoint(second))
