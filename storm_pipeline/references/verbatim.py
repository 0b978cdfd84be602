"""Words that a sentence and a passage share in a row: what is copied, and where a quotation stands. Pure functions."""

import re
from collections.abc import Sequence

from storm_pipeline.languages import capitalises_nouns, count_words
from storm_pipeline.text.words import folded_words, longest_common_run

_SHORTEST_QUOTATION = 4
"""Words that a quotation must have to tell anything."""
_PARTS = re.compile(r"[\"“”„«»|｜「」『』]|\.\.\.|…")
_QUOTED = re.compile(r"[\"“„«»「『][^\"“”„«»「」『』]{3,}[\"”“»«」』]")


def copied_from(text: str, passages: Sequence[str], longest: int, language: str = "en") -> int | None:
    """Position of the first passage that a text repeats word for word; None if there is none.

    Args:
        text: a sentence; what it has in quotation marks may be repeated.
        passages: texts.
        longest: words in a row, names and numbers aside, that are no repetition yet.
        language: ISO 639-1 code of the text; where all nouns have capitals, names count too.
    """
    plain = _QUOTED.sub(" ", text)
    for i, passage in enumerate(passages):
        run = longest_common_run(plain, passage)
        counted = [w for w in run if not w[0].isdigit() and (capitalises_nouns(language) or not w[0].isupper())]
        if count_words(" ".join(counted)) > longest:
            return i
    return None


def quoted_in(quotation: str, passages: Sequence[str], first: Sequence[int] = ()) -> tuple[int, ...]:
    """Positions of the passages that hold a quotation, word for word but for case and punctuation; none if one lacks.

    Args:
        quotation: one or several, in quotation marks or parted by dots; less than four words tell nothing.
        passages: texts.
        first: positions that are looked at before the others.
    """
    parts = [folded_words(part) for part in _PARTS.split(quotation) if count_words(part) >= _SHORTEST_QUOTATION]
    found = [_place_of(words, passages, first) for words in parts]
    held = [position for position in found if position is not None]
    return tuple(dict.fromkeys(held)) if len(held) == len(found) else ()


def _place_of(words: Sequence[str], passages: Sequence[str], first: Sequence[int]) -> int | None:
    wanted = f" {' '.join(words)} "
    order = dict.fromkeys((*first, *range(len(passages))))
    return next((i for i in order if wanted in f" {' '.join(folded_words(passages[i]))} "), None)
