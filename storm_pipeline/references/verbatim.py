"""Finds verbatim overlap of a sentence with passages: copied wording, and quotations. Pure functions."""

import re
from collections.abc import Sequence

from storm_pipeline.languages import capitalises_nouns, count_words
from storm_pipeline.text.words import folded_words, longest_common_run

_SHORTEST_QUOTATION = 4  # minimum words of a significant quotation
_LONG_WORD = 5  # minimum letters of a word that may be glued to the next one in a passage
_PARTS = re.compile(r"[\"“”„«»|｜「」『』]|\.\.\.|…")
_QUOTED = re.compile(r"[\"“„«»「『][^\"“”„«»「」『』]{3,}[\"”“»«」』]")


def copied_from(text: str, passages: Sequence[str], longest: int, language: str = "en") -> int | None:
    """Position of the first passage that a text copies from; None if there is none.

    Args:
        text: a sentence; text in quotation marks is ignored.
        passages: texts.
        longest: longest allowed run of words, not counting names and numbers.
        language: ISO 639-1 code of the text; in languages that capitalise all nouns, names count too.
    """
    plain = _QUOTED.sub(" ", text)
    shortest = longest + 1 if plain.isascii() else 1  # a word of another script may count as several
    for i, passage in enumerate(passages):
        run = longest_common_run(plain, passage, shortest)
        counted = [w for w in run if not w[0].isdigit() and (capitalises_nouns(language) or not w[0].isupper())]
        if count_words(" ".join(counted)) > longest:
            return i
    return None


def quoted_in(quotation: str, passages: Sequence[str], first: Sequence[int] = ()) -> tuple[int, ...]:
    """Positions of the passages that contain a quotation, ignoring case and punctuation; empty if any part is missing.

    In the passage, another word may be glued to the last one: extraction often loses the space between sentences.

    Args:
        quotation: one or more parts, in quotation marks or separated by dots; parts of under four words are ignored.
        passages: texts.
        first: positions to search before the others.
    """
    parts = [folded_words(part) for part in _PARTS.split(quotation) if count_words(part) >= _SHORTEST_QUOTATION]
    found = [_place_of(words, passages, first) for words in parts]
    held = [position for position in found if position is not None]
    return tuple(dict.fromkeys(held)) if len(held) == len(found) else ()


def _place_of(words: Sequence[str], passages: Sequence[str], first: Sequence[int]) -> int | None:
    wanted = f" {' '.join(words)}{'' if len(words[-1]) >= _LONG_WORD else ' '}"
    order = dict.fromkeys((*first, *range(len(passages))))
    return next((i for i in order if wanted in f" {' '.join(folded_words(passages[i]))} "), None)
