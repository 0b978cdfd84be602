"""Stems of content words in many languages, for comparing texts.

English uses the rules of :mod:`storm_pipeline.text.index_terms`, other languages Snowball's stemmers. Chinese and
Japanese are compared by Han characters and by pairs of characters: with pairs alone, paraphrases look too different.
"""

import re
import unicodedata
from collections.abc import Callable, Iterator
from functools import lru_cache

from storm_pipeline.languages.function_words import stop_words
from storm_pipeline.languages.pieces import KANA
from storm_pipeline.languages.tables import language_name
from storm_pipeline.text.index_terms import stem
from storm_pipeline.text.words import GENITIVE, HAN_KANA, words

_RUN = re.compile(f"[{HAN_KANA}]+")
_PARTICLES = re.compile("[\u3040-\u309f]{2}|[はをにがのとでへも的了着是在和与及等之于其而且也但并]")
"""Pairs of hiragana, and grammatical particles: they carry no topical content."""
_ELISION = re.compile("['’]")
_STEMMED = frozenset("ar da de es fi fr it nl no pl pt ro ru sv tr".split())
"""Languages whose words Snowball stems here, beside English."""


@lru_cache(maxsize=8192)
def stem_set(text: str, language: str = "en") -> frozenset[str]:
    """Stems of a text's content words, in lower case.

    ``language``: ISO 639-1 code, which selects function words and endings.
    """
    characters = _characters(text) if _is_unspaced(text) else ()
    stop, stem_of = stop_words(language), _stemmer(language)
    parts = words(text.casefold())
    if language == "en":
        parts = [GENITIVE.sub("", part).replace("’", "'") for part in parts]
    else:
        parts = [part for word in parts for part in _ELISION.split(word)]
    content = (part for part in parts if part not in stop and (len(part) > 1 or part.isdigit()))
    return frozenset(characters).union(map(stem_of, content))


def _is_unspaced(text: str) -> bool:
    """Whether most letters are Han or kana."""
    if text.isascii():
        return False
    characters = sum(map(len, _RUN.findall(text)))
    return characters * 2 > sum(map(str.isalpha, text))


def _characters(text: str) -> Iterator[str]:
    """Han characters, and overlapping pairs of Han characters and kana, that may carry topical content."""
    for run in _RUN.findall(unicodedata.normalize("NFKC", text)):
        for i, character in enumerate(run):
            if not KANA.match(character) and not _PARTICLES.match(character):
                yield character
            if (pair := run[i : i + 2]) != character and not _PARTICLES.search(pair):
                yield pair


def _stemmer(language: str) -> Callable[[str], str]:
    """A new stemmer, for one thread; it leaves words as they are where a language has none."""
    if language == "en":
        return stem
    if language not in _STEMMED:
        return str
    import snowballstemmer

    stem_word: Callable[[str], str] = snowballstemmer.stemmer(language_name(language).lower()).stemWord
    return stem_word
