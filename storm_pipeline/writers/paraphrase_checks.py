"""Signs, exact and cheap, that other words for a sentence say something else. Pure functions on English text.

Likeness of meaning, by which support is judged, hardly sees a *not*, and takes praise for more of the same.
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

_LONGER, _A_NAME = 1.3, 3
"""Times as long other words for a sentence may be, and words for whom or what "it" is."""
_LEAST_SHARED = 0.55
"""Share of their content words that are the source's: of some 60 rewordings by the embedded model the three that made
things up without a name or a number had at most 0.50, almost all others more."""


def says_the_same(new: str, old: str, *, known: str) -> bool:
    """Whether nothing shows that ``new`` says something else than ``old``.

    It denies as often, praises only what is praised, ends only what ends, asks nothing, leaves names as they are, says
    no name and no two other words again, and has no number of its own.

    Args:
        new: other words for a sentence.
        old: the sentence.
        known: text whose numbers ``new`` may have too.
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
    """Whether ``new`` is hardly longer than ``old``, and most of its content words are among those shown."""
    told = stem_set(new)
    return word_count(new) <= _LONGER * word_count(old) + _A_NAME and recall(told, stem_set(shown)) >= _LEAST_SHARED


def names_the_subject(new: str, old: str, *, topic: str, title: str) -> bool:
    """Whether ``new`` names what ``old`` names of the topic and of its page's title: Renaissance art is no Renaissance.

    Of a name in the title one word will do: Copernicus is Nicolaus Copernicus.
    """
    capitals = {word for word in words(old) if word[0].isupper()}
    names = stem_set(" ".join(word for word in words(title) if word in capitals)) - stem_set(topic)
    had, has = stem_set(old), stem_set(new)
    needed = had & stem_set(f"{topic} {title}") - names
    return needed <= has and (not had & names or bool(has & names))


def _mixes_names(new: str, old: str) -> bool:
    """Whether a name stands more often than before, which is how a small model ties things together, or as a noun."""
    has = set(words(new))
    again = any(_is_name(word) for word in _said_again(new, old))
    return again or any(word not in has and word.casefold() in has for word in words(old)[1:] if _is_name(word))


def _repeats(new: str, old: str) -> bool:
    """Whether two content words or more stand there twice that did not."""
    return sum(word not in STOP_WORDS for word in _said_again(new.casefold(), old.casefold())) > 1


def _said_again(new: str, old: str) -> list[str]:
    """The words that stand in ``new`` twice or more, and more often than in ``old``."""
    has, had = Counter(words(new)), Counter(words(old))
    return [word for word in has if has[word] > max(1, had[word])]


def _is_name(word: str) -> bool:
    return not word[0].islower() and word.casefold() not in STOP_WORDS


def can_be_cut(text: str) -> bool:
    """Whether the first part of a sentence is true without the rest: nothing in it turns or limits the other."""
    return not _TURN.search(text)
