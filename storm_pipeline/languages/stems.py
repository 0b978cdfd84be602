"""Stems of content words in many languages, for comparing texts.

English uses the rules of :mod:`storm_pipeline.text.index_terms`. For other languages the endings of number, case and
gender are removed, for Arabic also the article and prefixes: light stemming without a dictionary (CISTEM for German;
Savoy 2006 for Romance languages and Russian; Larkey's light10 for Arabic). Chinese and Japanese are compared by Han
characters and by pairs of characters: with pairs alone, paraphrases look too different.
"""

import re
import unicodedata
from collections.abc import Callable, Iterator
from functools import lru_cache

from storm_pipeline.languages.function_words import stop_words
from storm_pipeline.languages.pieces import KANA
from storm_pipeline.text.index_terms import STOP_WORDS, stem
from storm_pipeline.text.words import HAN_KANA, words

_RUN = re.compile(f"[{HAN_KANA}]+")
_PARTICLES = re.compile("[\u3040-\u309f]{2}|[はをにがのとでへも的了着是在和与及等之于其而且也但并]")
"""Pairs of hiragana, and grammatical particles: they carry no topical content."""
_ELISION = re.compile("['’]")
_CYRILLIC, _ARABIC = re.compile("[\u0400-\u052f]"), re.compile("[\u0600-\u06ff]")
_MARKS = re.compile("[\u0610-\u061a\u0640\u064b-\u065f\u0670]")
_ALEF = str.maketrans("أإآٱىة", "اااايه")
_ARABIC_BEGINNING = re.compile("^(?:وال|بال|كال|فال|لل|ال)(?=..)|^[ولب](?=....)")
_ARABIC_ENDING = re.compile("(?<=..)(?:ها|ان|ات|ون|ين|يه|ه|ي)$")
_RUSSIAN_ENDING = re.compile(
    "(?<=...)(?:иями|ями|ами|ого|его|ому|ему|ыми|ими|иях|ях|ах|ией|ием|иям|ям|ам|ов|ев|ей|ой|ый|ий|ая|яя|ое|ее|ые|ие|"
    "ую|юю|ом|ем|ых|их|ия|ию|ии|ью|ья|ла|ло|ли|ы|и|а|я|о|е|у|ю|ь|й)$"
)
_GERMAN_ENDING = re.compile("(?<=....)(?:e[mr]|nd)$|(?<=...)[tesn]$")
_ROMANCE_ENDING = re.compile("(?<=...)(?:aux|eaux|ées?|és|é|os|as|es|is|[aeiosx])$")
_ENDINGS = {"de": (_GERMAN_ENDING, 4), **dict.fromkeys(("fr", "es", "it", "pt"), (_ROMANCE_ENDING, 2))}
"""By language: endings, and the maximum number removed in succession."""


@lru_cache(maxsize=8192)
def stem_set(text: str, language: str = "en") -> frozenset[str]:
    """Stems of a text's content words, in lower case.

    ``language``: ISO 639-1 code, which selects function words and endings.
    """
    characters = frozenset(_characters(text)) if _is_unspaced(text) else frozenset[str]()
    if language == "en":
        content = (word for word in words(text.casefold()) if word not in STOP_WORDS)
        return characters | frozenset(stem(word) for word in content if len(word) > 1 or word.isdigit())
    stem_of = _stemmer(language)
    stop = stop_words(language)
    parts = (part for word in words(text.casefold()) for part in _ELISION.split(word) if part not in stop)
    return characters | frozenset(stem_of(part) for part in parts if len(part) > 1 or part.isdigit())


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
    def stemmed(word: str) -> str:
        if _ARABIC.search(word):
            return _arabic(word)
        if _CYRILLIC.search(word):
            return _RUSSIAN_ENDING.sub("", word.replace("ё", "е"))
        ending, times = _ENDINGS.get(language, (None, 0))
        if ending is None:
            return word
        word = _folded(word) if language == "de" else word
        for _ in range(times):
            word = ending.sub("", word)
        return word

    return stemmed


def _arabic(word: str) -> str:
    bare = _MARKS.sub("", word).translate(_ALEF)
    return _ARABIC_ENDING.sub("", _ARABIC_BEGINNING.sub("", bare))


def _folded(word: str) -> str:
    """The word without umlauts, which vary with number and degree."""
    return word.replace("ä", "a").replace("ö", "o").replace("ü", "u")
