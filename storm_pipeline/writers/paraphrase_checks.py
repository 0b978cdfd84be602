"""Cheap exact checks for whether a rewording changes the meaning. Pure functions on English text.

The embedding similarity used to check support is nearly blind to negation and to added praise.
"""

import re
from collections import Counter

from storm_pipeline.languages import denials, stem_set
from storm_pipeline.references.facts import recall
from storm_pipeline.references.support import numbers
from storm_pipeline.text.index_terms import STOP_WORDS
from storm_pipeline.text.prose import is_question
from storm_pipeline.text.words import word_count, words

_ENDS = re.compile(r"\b(?:ended|ends|ceased|concluded)\b", re.I)
_ENDS_OR_LASTS = re.compile(rf"{_ENDS.pattern}|\b(?:last(?:ed|ing|s)?|until|till)\b", re.I)
_TURN = re.compile(
    r"\b(?:although|but|despite|except|formerly|however|originally|rather|though|unless|until|whereas|yet)\b", re.I
)
_PRAISE = re.compile(
    r"\b(?:captivating|crucial(?:ly)?|fascinating|iconic|importan(?:t|tly|ce)|impressive|influential|instrumental|"
    r"invaluable|legac(?:y|ies)|legendary|masterful|notabl[ey]|pivotal|poignant|profound(?:ly)?|prominent(?:ly)?|"
    r"remarkabl[ey]|renowned|resonat(?:es?|ing)|significan(?:t|tly|ce)|stunning|testament|unparalleled|vital|"
    r"widely recogni[sz]ed)\b",
    re.I,
)

_LONGEST, _NAME_WORDS = 1.3, 3
"""Maximum length of a rewording as a multiple of the original, plus words for a name in place of "it"."""
_LEAST_SHARED = 0.55
"""Minimum share of a rewording's content words found in the source: of some 60 rewordings by the embedded model, the
three with fabrications other than names or numbers had at most 0.50, almost all others more."""


def says_the_same(new: str, old: str, *, known: str) -> bool:
    """Whether no check finds that ``new`` changes the meaning of ``old``.

    It has as many negations, no added praise, ending or number, is no question, keeps names as names, and repeats
    neither a name nor two other words.

    Args:
        new: a rewording.
        old: the original sentence.
        known: text whose numbers ``new`` may use too.
    """
    return (
        denials(new) == denials(old)
        and (not _PRAISE.search(new) or bool(_PRAISE.search(old)))
        and (not _ENDS.search(new) or bool(_ENDS_OR_LASTS.search(old)))
        and not is_question(new)
        and not _mixes_names(new, old)
        and not _repeats(new, old)
        and numbers(new) <= numbers(old) | numbers(known)
    )


def adds_little(new: str, old: str, *, shown: str) -> bool:
    """Whether ``new`` is hardly longer than ``old`` and mostly uses content words of ``shown``."""
    stems = stem_set(new)
    return (
        word_count(new) <= _LONGEST * word_count(old) + _NAME_WORDS and recall(stems, stem_set(shown)) >= _LEAST_SHARED
    )


def names_the_subject(new: str, old: str, *, topic: str, title: str) -> bool:
    """Whether ``new`` keeps the words of topic and page title that ``old`` has: Renaissance art is not the Renaissance.

    One word of a name in the title suffices: Copernicus stands for Nicolaus Copernicus.
    """
    capitals = {word for word in words(old) if word[0].isupper()}
    names = stem_set(" ".join(word for word in words(title) if word in capitals)) - stem_set(topic)
    had, has = stem_set(old), stem_set(new)
    needed = had & stem_set(f"{topic} {title}") - names
    return needed <= has and (not had & names or bool(has & names))


def _mixes_names(new: str, old: str) -> bool:
    """Whether a name is repeated, as when a small model combines unrelated facts, or has become a common noun."""
    has = set(words(new))
    repeated = any(_is_name(word) for word in _newly_repeated(new, old))
    return repeated or any(word not in has and word.casefold() in has for word in words(old)[1:] if _is_name(word))


def _repeats(new: str, old: str) -> bool:
    """Whether at least two content words are newly repeated."""
    return sum(word not in STOP_WORDS for word in _newly_repeated(new.casefold(), old.casefold())) > 1


def _newly_repeated(new: str, old: str) -> list[str]:
    """The words that occur at least twice in ``new``, and more often than in ``old``."""
    has, had = Counter(words(new)), Counter(words(old))
    return [word for word in has if has[word] > max(1, had[word])]


def _is_name(word: str) -> bool:
    return not word[0].islower() and word.casefold() not in STOP_WORDS


def can_be_cut(text: str) -> bool:
    """Whether the first part of a sentence stays true without the rest: it has no contrasting or limiting word."""
    return not _TURN.search(text)
