"""Stems of content words by Snowball's stemmers, for comparing texts; Han characters and pairs of Chinese, Japanese."""

import re
from collections.abc import Iterator
from functools import cache, lru_cache

from storm_pipeline.text.files import table_beside
from storm_pipeline.text.identity import in_form
from storm_pipeline.text.index_terms import english_stop_words, stem
from storm_pipeline.text.languages.pieces import KANA
from storm_pipeline.text.languages.tables import language_name
from storm_pipeline.text.words import GENITIVE, HAN_KANA, words

_OWN = table_beside(__file__)["stop_words"]
_SHIPPED = frozenset("de fr es it pt ru zh nl sv da no tr ko".split())
"""Languages other than English with stop words in bm25s."""
_STEMMED = frozenset("ar da de en es fi fr it nl no pl pt ro ru sv tr".split())
"""Languages with a Snowball stemmer."""
_RUN = re.compile(f"[{HAN_KANA}]+")
_PARTICLES = re.compile("[\u3040-\u309f]{2}|[はをにがのとでへも的了着是在和与及等之于其而且也但并]")
"""Pairs of hiragana, and grammatical particles: they carry no topical content."""


@cache
def stop_words(language: str) -> frozenset[str]:
    """Return the stop words of a language in lower case; empty if there is no list."""
    if language == "en":
        return english_stop_words()
    if language not in _SHIPPED:
        return frozenset(_OWN.get(language, "").split())
    from bm25s import stopwords

    return frozenset(word.casefold() for word in getattr(stopwords, f"STOPWORDS_{language_name(language).upper()}"))


@lru_cache(maxsize=8192)
def stem_set(text: str, language: str = "en") -> frozenset[str]:
    """Return the stems of a text's content words, in lower case; words are unchanged where Snowball has no stemmer."""
    stop, algorithm = stop_words(language), language_name(language).lower() if language in _STEMMED else ""
    parts = [word.replace("’", "'") for word in words(text.casefold())]
    if language == "en":
        parts = [GENITIVE.sub("", part) for part in parts]
    else:
        parts = [part for word in parts for part in word.split("'")]
    content = (part for part in parts if part not in stop and (len(part) > 1 or part.isdigit()))
    unspaced = 0 if text.isascii() else sum(map(len, _RUN.findall(text)))
    characters = _characters(text) if unspaced * 2 > sum(map(str.isalpha, text)) else ()
    return frozenset(characters).union(stem(part, algorithm) if algorithm else part for part in content)


def _characters(text: str) -> Iterator[str]:
    """Yield Han characters, and overlapping pairs of Han characters and kana, that may carry topical content."""
    for run in _RUN.findall(in_form(text, "NFKC")):
        for i, character in enumerate(run):
            if not KANA.match(character) and not _PARTICLES.match(character):
                yield character
            if (pair := run[i : i + 2]) != character and not _PARTICLES.search(pair):
                yield pair
