"""Words that a sentence and a passage share in a row: what is copied, and where a quotation stands. Pure functions."""

import re
from collections.abc import Sequence

from storm_pipeline.text import folded_words, longest_common_run

_SHORTEST_QUOTATION = 4
"""Words that a quotation must have to tell anything."""
_QUOTED = re.compile(r"[\"“„«][^\"“”„«»]{3,}[\"”“»]")


def copied_from(text: str, passages: Sequence[str], longest: int) -> int | None:
    """Position of the first passage that a text repeats word for word; None if there is none.

    Args:
        text: a sentence; what it has in quotation marks may be repeated.
        passages: texts.
        longest: words in a row, names and numbers aside, that are no repetition yet.
    """
    plain = _QUOTED.sub(" ", text)
    for i, passage in enumerate(passages):
        run = longest_common_run(plain, passage)
        if sum(not word[0].isupper() and not word[0].isdigit() for word in run) > longest:
            return i
    return None


def quoted_in(quotation: str, passages: Sequence[str], first: Sequence[int] = ()) -> int | None:
    """Position of a passage that holds a quotation, word for word but for case and punctuation; None if there is none.

    Args:
        quotation: less than four words stand nowhere.
        passages: texts.
        first: positions that are looked at before the others.
    """
    words = folded_words(quotation)
    if len(words) < _SHORTEST_QUOTATION:
        return None
    wanted = f" {' '.join(words)} "
    order = dict.fromkeys((*first, *range(len(passages))))
    return next((i for i in order if wanted in f" {' '.join(folded_words(passages[i]))} "), None)
