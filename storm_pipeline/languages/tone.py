"""Words to watch: what praises, comments, hides who says so, speaks to the reader, or tells a time that passes.

The lists are data (``tone.toml``), for English, German, French and Spanish; they name their source.
"""

import re
from collections.abc import Iterable
from functools import cache
from typing import NamedTuple

from storm_pipeline.files import table_beside
from storm_pipeline.text.words import has_word

_LISTS = table_beside(__file__)
_QUOTED = re.compile(r"“[^”“]{0,600}”|„[^“”„]{0,600}[“”]|«[^«»]{0,600}»|(?<!\w)\"[^\"]{0,600}\"(?!\w)")
_DATED = re.compile(r"(?<!\d)(?:1\d|20)\d\d(?!\d)")
"""A year: the sentence says itself which time it means."""
_TIME = "time"
_PERSON, _OWN = "person", "own list"
PRAISE = "puffery"  # may stand where the sources praise too


class Watched(NamedTuple):
    """Words to watch in a sentence: their kind, such as ``puffery``, and the words as they stand there."""

    kind: str
    words: str


def words_to_watch(sentence: str, language: str = "en", own: Iterable[str] = ()) -> tuple[Watched, ...]:
    """The words to watch of a sentence, in the order in which they stand; those in quotation marks are left out.

    So are persons and praise in names ("Discover Your Drive"), whose words begin in upper case within the sentence.
    Relative time is left out as well where the sentence has a year. For languages without a list only ``own`` counts.
    ``own``: further words; ``*`` stands for the rest of a word.
    """
    plain = _QUOTED.sub(lambda quoted: " " * len(quoted[0]), sentence).replace("’", "'")
    kinds = _kinds(language, tuple(own))
    found = (
        (match.start(), kind, match[0])
        for kind, words in kinds.items()
        for match in words.finditer(plain)
        if kind not in (_PERSON, PRAISE) or not match[0][0].isupper() or not has_word(plain[: match.start()])
    )
    dated = bool(_DATED.search(plain))
    return tuple(Watched(kind, words) for _, kind, words in sorted(found) if not (dated and kind == _TIME))


@cache
def _kinds(language: str, own: tuple[str, ...]) -> dict[str, re.Pattern[str]]:
    lists = {**_LISTS.get(language, {}), **({_OWN: own} if own else {})}
    return {kind: _pattern(words) for kind, words in lists.items()}


def _pattern(words: Iterable[str]) -> re.Pattern[str]:
    usable = (word.strip().replace("’", "'") for word in words if has_word(word))
    longest_first = sorted(usable, key=len, reverse=True)
    either = "|".join(re.escape(word).replace(r"\*", r"\w*") for word in longest_first) or "(?!)"
    return re.compile(rf"(?<!\w)(?:(?<!-)|(?!(?:{either})-))(?:{either})(?!\w)", re.I)
