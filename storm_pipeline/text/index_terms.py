"""Index terms: folded and stemmed words without English stop words; bigrams of Han and kana."""

import re
import threading
from functools import cache, lru_cache

from storm_pipeline.text.identity import in_form
from storm_pipeline.text.words import HAN_KANA, unified

_WORD = re.compile(rf"[{HAN_KANA}]+|[^\W_{HAN_KANA}]+")
_HAN_KANA = re.compile(f"[{HAN_KANA}]")
_ACCENTS = re.compile("[\u0300-\u036f]")
_MAX_WORD_CHARS = 64
_stemmers = threading.local()  # a stemmer object has state


@cache
def english_stop_words() -> frozenset[str]:
    """Return the English stop words of bm25s (NLTK's list) in lower case."""
    from bm25s.stopwords import STOPWORDS_EN_PLUS

    return frozenset(STOPWORDS_EN_PLUS)


def terms(text: str) -> list[str]:
    """Return the index terms of a text in order, with repetitions: folded English stems; bigrams of Han and kana."""
    stop, text = english_stop_words(), _folded(text)
    unspaced = _HAN_KANA.search(text)
    index_terms: list[str] = []
    for word in _WORD.findall(text):
        if unspaced and _HAN_KANA.match(word):
            index_terms += [word[i : i + 2] for i in range(max(1, len(word) - 1))]
        elif word not in stop:
            index_terms.append(stem(word))
    return index_terms


@lru_cache(maxsize=1 << 16)
def stem(word: str, algorithm: str = "english") -> str:
    """Return the stem of a word in lower case, cut to 64 characters, by a Snowball algorithm such as ``german``."""
    if algorithm not in vars(_stemmers):
        import snowballstemmer

        vars(_stemmers)[algorithm] = snowballstemmer.stemmer(algorithm)
    return str(vars(_stemmers)[algorithm].stemWord(word[:_MAX_WORD_CHARS]))


def _folded(text: str) -> str:
    text = text.casefold()
    if text.isascii():
        return text
    # Only Latin, Greek and Cyrillic accents: the marks that distinguish が from か are in another block.
    return in_form(_ACCENTS.sub("", unified(text, "NFKD")), "NFKC").casefold()
