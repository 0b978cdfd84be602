"""Which language a text is in: by its script, by the letters only one language has, and by its function words."""

import functools
import re
import unicodedata
from collections import Counter

from storm_pipeline.languages.function_words import LATIN, stop_words
from storm_pipeline.text.words import words

_SAMPLE = 4000
"""Characters that are looked at."""
_LETTERS = 2
"""Least letters of a script that one language writes."""
_HITS, _SHARE, _LEAD = 2, 0.12, 1.15
"""Least function words, their least share of a text's words, and by how much they must exceed the next language's."""
_BY_SCRIPT = {
    "CYRILLIC": "ru",
    "ARABIC": "ar",
    "CJK": "zh",
    "HANGUL": "ko",
    "GREEK": "el",
    "HEBREW": "he",
    "DEVANAGARI": "hi",
    "THAI": "th",
    "ARMENIAN": "hy",
    "GEORGIAN": "ka",
    "BENGALI": "bn",
    "TAMIL": "ta",
    "TELUGU": "te",
    "LAO": "lo",
    "KHMER": "km",
    "MYANMAR": "my",
    "ETHIOPIC": "am",
}
_BY_LETTERS = {
    "ru": {"uk": "іїєґ", "be": "ў", "sr": "ђћџљњ", "mk": "ѓќѕ", "bg": ""},
    "ar": {"ur": "ٹڈڑے", "fa": "پچژگ"},
}
_RUSSIAN_ONLY = re.compile("[ыэё]")
_KANA_SHARE = 0.05
_HAN_WEIGHT = 3
"""Letters of an alphabet that a Han character or a kana counts as much as."""


def detect(text: str) -> str:
    """ISO 639-1 code of the language that most of a text is in; "" where it is too short to tell or not known.

    Only the first 4000 characters are looked at. A few words decide where a script has one language here; in Latin
    script two function words at least are needed.
    """
    return _detected(text[:_SAMPLE])


@functools.lru_cache(maxsize=4096)
def _detected(text: str) -> str:
    sample = unicodedata.normalize("NFC", text)
    scripts: Counter[str] = Counter()
    for char, times in Counter(sample).items():
        if char.isalpha() and (script := _script(char)):
            scripts[script] += times
    for script in ("CJK", "HIRAGANA", "KATAKANA"):
        scripts[script] *= _HAN_WEIGHT
    kana = scripts["HIRAGANA"] + scripts["KATAKANA"]
    counts = scripts + Counter({"CJK": kana})
    script, letters = counts.most_common(1)[0] if counts else ("", 0)
    if script in {"CJK", "HIRAGANA", "KATAKANA"}:
        return "ja" if kana > _KANA_SHARE * letters else "zh" if letters >= _LETTERS * _HAN_WEIGHT else ""
    if script == "LATIN":
        return _by_words(sample)
    if letters < _LETTERS or script not in _BY_SCRIPT:
        return ""
    return _by_letters(sample.casefold(), _BY_SCRIPT[script])


def _by_letters(sample: str, language: str) -> str:
    """One of the languages of a script by letters that only it has."""
    for other, own in _BY_LETTERS.get(language, {}).items():
        if any(letter in sample for letter in own):
            return other
    if language == "ru" and "ъ" in sample and not _RUSSIAN_ONLY.search(sample):
        return "bg"
    return language


def _by_words(sample: str) -> str:
    """The language whose function words a text has most of; a word of several languages counts a part for each."""
    told = [word.casefold().replace("’", "'") for word in words(sample)]
    told = [part for word in told for part in word.split("'")]
    weights = _weights()
    scores: Counter[str] = Counter()
    hits: Counter[str] = Counter()
    for word, times in Counter(told).items():
        for language in weights.get(word, ()):
            scores[language] += times * (1000 // len(weights[word]))
            hits[language] += times
    ranked = [*scores.most_common(2), ("", 0), ("", 0)]
    (best, score), (_, second) = ranked[:2]
    sure = hits[best] >= _HITS and hits[best] >= _SHARE * len(told) and score >= _LEAD * second
    return best if sure else ""


@functools.cache
def _weights() -> dict[str, tuple[str, ...]]:
    """Each function word with the languages that have it."""
    known = {language: stop_words(language) for language in LATIN}
    every = frozenset().union(*known.values())
    return {word: tuple(language for language in LATIN if word in known[language]) for word in every}


@functools.lru_cache(maxsize=4096)
def _script(char: str) -> str:
    return unicodedata.name(char, "").partition(" ")[0].partition("-")[0]
