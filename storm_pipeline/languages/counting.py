"""Word counts that are comparable across languages."""

import re

from storm_pipeline.text.words import word_count

_HAN = re.compile("[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
KANA = re.compile("[\u3040-\u30ff]")
UNSPACED = "\u0e01-\u0e5b\u0e81-\u0edf\u1780-\u17dd\u1000-\u109f"
"""Characters of Thai, Lao, Khmer and Burmese, which do not separate words by spaces."""
_UNSPACED = re.compile(f"[{UNSPACED}]+")
_EIGHTHS_OF_HAN, _EIGHTHS_OF_KANA, _LETTERS_PER_WORD = 5, 3, 5


def count_words(text: str) -> int:
    """Number of words; :func:`storm_pipeline.text.words.word_count` for scripts that separate words by spaces.

    Chinese and Japanese are weighted so that a word count means as much text as in English: a Han character counts
    5/8 of a word (1.6 per word) and a kana 3/8, about two characters per word in Japanese prose. Five letters or marks
    of Thai, Lao, Khmer and Burmese count as a word. The sum is rounded up, and never decreases when text is appended.
    """
    if text.isascii():
        return word_count(text)
    han, kana = len(_HAN.findall(text)), len(KANA.findall(text))
    unspaced = sum(map(len, _UNSPACED.findall(text)))
    spaced = _UNSPACED.sub(" ", KANA.sub(" ", _HAN.sub(" ", text))) if han or kana or unspaced else text
    eighths = _EIGHTHS_OF_HAN * han + _EIGHTHS_OF_KANA * kana
    return word_count(spaced) - (-eighths // 8) - (-unspaced // _LETTERS_PER_WORD)
