"""Counting words and splitting texts by words, also in scripts without spaces between words."""

import math
import re
from bisect import bisect_left
from collections.abc import Sequence
from itertools import accumulate

from storm_pipeline.text.sentences import split_sentences
from storm_pipeline.text.words import HAN_KANA, word_count

_HAN = re.compile("[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
KANA = re.compile("[\u3040-\u30ff]")
_SOUTH_EAST = "\u0e01-\u0e5b\u0e81-\u0edf\u1780-\u17dd\u1000-\u109f"  # Thai, Lao, Khmer and Burmese
_UNSPACED = re.compile(f"[{_SOUTH_EAST}]+")
_EIGHTHS_OF_HAN, _EIGHTHS_OF_KANA, _LETTERS_PER_WORD = 5, 3, 5
_TOKEN = re.compile(rf"\s*(?:[{HAN_KANA}{_SOUTH_EAST}]|[^\s{HAN_KANA}{_SOUTH_EAST}]+)")


def count_words(text: str) -> int:
    """Return the number of words; :func:`storm_pipeline.text.words.word_count` for scripts with spaces between words.

    In other scripts, a word is as much text as in English: a Han character counts 5/8 of a word, a kana 3/8, a letter
    or mark of Thai, Lao, Khmer and Burmese 1/5. The sum is rounded up and never decreases when text is appended.
    """
    if text.isascii():
        return word_count(text)
    han, kana = len(_HAN.findall(text)), len(KANA.findall(text))
    unspaced = sum(map(len, _UNSPACED.findall(text)))
    spaced = _UNSPACED.sub(" ", KANA.sub(" ", _HAN.sub(" ", text))) if han or kana or unspaced else text
    eighths = _EIGHTHS_OF_HAN * han + _EIGHTHS_OF_KANA * kana
    return word_count(spaced) - (-eighths // 8) - (-unspaced // _LETTERS_PER_WORD)


def windows(text: str, size: int, step: int) -> tuple[str, ...]:
    """Return overlapping parts of a text, each of ``size`` words, ``step`` words apart; the last ends with the text.

    White space separates words; in scripts without spaces, characters count as in :func:`count_words`.
    """
    if text.isascii():
        parts = text.split()
        return tuple(" ".join(parts[i : i + size]) for i in range(0, max(1, len(parts) - size + step), step))
    tokens = _TOKEN.findall(text)
    begins = list(accumulate(map(_weight, tokens), initial=0.0))
    starts = range(0, max(1, math.ceil(begins.pop()) - size + step), step)
    cuts = ((bisect_left(begins, start), bisect_left(begins, start + size)) for start in starts)
    return tuple(" ".join("".join(tokens[first:last]).split()) for first, last in cuts)


def length_in_words(text: str) -> int:
    """Return the number of words between white space; scripts without spaces count as for :func:`windows`."""
    return len(text.split()) if text.isascii() else math.ceil(sum(map(_weight, _TOKEN.findall(text))))


def opening_of(text: str, words: int, language: str = "en") -> str:
    """Return the first sentences of a text within a budget of words, or its first words if the first one is longer."""
    kept: list[str] = []
    for sentence in split_sentences(text, language):
        words_left = words - count_words(" ".join(kept))
        if count_words(sentence) > words_left:
            break
        kept.append(sentence)
    return joined(kept, language) or (windows(text, words, words)[0] if words > 0 else "")


def joined(sentences: Sequence[str], language: str) -> str:
    """Join sentences into one text, with spaces between them if the language has any."""
    return ("" if language in {"zh", "ja"} else " ").join(sentences)


def _weight(token: str) -> float:
    if KANA.match(first := token.lstrip()[0]):
        return _EIGHTHS_OF_KANA / 8
    return _EIGHTHS_OF_HAN / 8 if _HAN.match(first) else 1 / _LETTERS_PER_WORD if _UNSPACED.match(first) else 1.0
