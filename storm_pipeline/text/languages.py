"""Language-dependent processing: detection by py3langid's model (BSD-3-Clause), names, counts of words, stems.

Languages are ISO 639-1 codes, and "" is an unknown language.
"""

import math
import re
import threading
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from itertools import accumulate
from typing import Any

from storm_pipeline.errors import AssetError
from storm_pipeline.text.files import table_beside
from storm_pipeline.text.identity import in_form
from storm_pipeline.text.lexical import english_stop_words, stem
from storm_pipeline.text.sentences import ordinals_have_stops, split_sentences
from storm_pipeline.text.words import GENITIVE, HAN_KANA, word_count, words

__all__ = [
    "count_words", "detect", "has_spaces", "is_back_matter", "is_right_to_left", "join_sentences", "language_name",
    "length_in_words", "opening_of", "ordinals_have_stops", "references_heading", "scripts_of", "split_sentences",
    "stem_set", "windows",
]  # fmt: skip
_SAMPLE = 2000  # maximum characters examined
_LEAST = 0.4  # minimum probability of a language
_NO_LANGUAGE = "zxx"  # numbers, code, addresses
_loading = threading.Lock()
_TABLE = table_beside(__file__)
_SCRIPTS = {
    "zh": "CJK",
    "ja": "CJK FULLWIDTH HIRAGANA KATAKANA",
    "ko": "CJK HANGUL",
    "bn": "BENGALI",
    "sr": "CYRILLIC LATIN",
}
"""Scripts that CLDR and Unicode name differently, or of languages with several."""
_BELOW, _TOP = (frozenset(names) for names in _TABLE["back_matter"].values())
_WITHOUT_SPACES = frozenset({"zh", "ja", "th", "lo", "km", "my"})


def references_heading(language: str) -> str:
    """Return the heading of the list of references in a language; ``References`` if unknown."""
    return str(_TABLE["references"].get(language, "References"))


def is_back_matter(heading: str, level: int = 1) -> bool:
    """Return whether a heading is one of back matter: references, notes, links or pictures. Underscores are spaces.

    ``level``: 1 for a section, more for a subsection, for which fewer headings match.
    """
    name = " ".join(heading.replace("_", " ").replace("&", "and").lower().split()).rstrip(":")
    parts = name.replace(", and ", ", ").replace(" and ", ", ").split(", ")
    is_list = len(parts) > 1 and all(part in _BELOW or part in {"sources", "bibliography"} for part in parts)
    return is_list or name in _BELOW or (level == 1 and name in _TOP)


@cache
def language_name(code: str) -> str:
    """Return the English name of a language, for prompts; the code itself if unknown."""
    from babel.core import Locale

    return str(Locale("en").languages.get(code, code))


@cache
def is_right_to_left(language: str) -> bool:
    """Return whether a language, as a BCP 47 code, is written from right to left; False if unknown."""
    from babel.core import Locale, UnknownLocaleError

    try:
        return Locale.parse(language, sep="-").character_order == "right-to-left"
    except (UnknownLocaleError, ValueError):
        return False


def has_spaces(language: str) -> bool:
    """Return whether a language separates words by spaces."""
    return language not in _WITHOUT_SPACES


@cache
def scripts_of(language: str) -> frozenset[str]:
    """Return the Unicode names of the scripts of a language."""
    from babel.core import Locale, get_global

    if language in _SCRIPTS:
        return frozenset(_SCRIPTS[language].split())
    _, _, script = str(get_global("likely_subtags").get(language, "und_Latn")).partition("_")
    return frozenset({str(Locale("en").scripts.get(script[:4], "Latin")).upper()})


def detect(text: str) -> str:
    """Return the ISO 639-1 code of the main language of a text's first 2000 characters; "" if it is uncertain.

    Raises AssetError: py3langid could not unpack its model (68 MB) in the folder for temporary files.
    """
    return _detect_language(text[:_SAMPLE].strip())


@lru_cache(maxsize=4096)
def _detect_language(text: str) -> str:
    with _loading:
        identifier = _identifier()
    language, probability = identifier.classify(text)
    return language if probability >= _LEAST and language != _NO_LANGUAGE else ""


@cache
def _identifier() -> Any:
    """Load the identifier, once; it takes half a second and 100 MB and is immutable."""
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    try:
        identifier = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
    except OSError as error:
        message = f"cannot unpack the language detector to a temporary file: {error.strerror}"
        raise AssetError(f"{message}; make room there, or set TMPDIR") from error
    # Codes of three letters are varieties such as Wu, or small languages; "nn" is Norwegian too.
    codes = {code for code in identifier.labels if len(code) == 2} - {"nn"}
    identifier.set_languages(codes | {_NO_LANGUAGE})
    return identifier


_HAN = re.compile("[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
KANA = re.compile("[\u3040-\u30ff]")
_SOUTH_EAST = "\u0e01-\u0e5b\u0e81-\u0edf\u1780-\u17dd\u1000-\u109f"  # Thai, Lao, Khmer and Burmese
_UNSPACED = re.compile(f"[{_SOUTH_EAST}]+")
_EIGHTHS_OF_HAN, _EIGHTHS_OF_KANA, _LETTERS_PER_WORD = 5, 3, 5
_TOKEN = re.compile(rf"(?<!\s)\s*(?:[{HAN_KANA}{_SOUTH_EAST}]|[^\s{HAN_KANA}{_SOUTH_EAST}]+)")


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
    return join_sentences(kept, language) or (windows(text, words, words)[0] if words > 0 else "")


def join_sentences(sentences: Sequence[str], language: str) -> str:
    """Join sentences into one text, with spaces between them if the language has any."""
    return ("" if language in {"zh", "ja"} else " ").join(sentences)


def _weight(token: str) -> float:
    if KANA.match(first := token.lstrip()[0]):
        return _EIGHTHS_OF_KANA / 8
    return _EIGHTHS_OF_HAN / 8 if _HAN.match(first) else 1 / _LETTERS_PER_WORD if _UNSPACED.match(first) else 1.0


_OWN = _TABLE["stop_words"]
_SHIPPED = frozenset("de fr es it pt ru zh nl sv da no tr ko".split())  # languages but English with stop words in bm25s
_STEMMED = frozenset("ar da de en es fi fr it nl no pl pt ro ru sv tr".split())  # languages with a Snowball stemmer
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
