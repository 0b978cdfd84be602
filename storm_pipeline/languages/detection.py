"""Language detection by script, by letters unique to a language, and by function words."""

import functools
import re
import unicodedata
from collections import Counter
from collections.abc import Sequence

from storm_pipeline.files import table_beside
from storm_pipeline.languages.function_words import LATIN, stop_words
from storm_pipeline.text.words import script_of, words

_SAMPLE = 4000  # maximum characters examined
_MIN_LETTERS = 2  # minimum letters of a script that identifies a language
_MIN_HITS, _MIN_SHARE, _MIN_RATIO = 2, 0.12, 1.15
"""Minimum function words, their minimum share of the words, and the minimum ratio to the next language's score."""
_TABLE = table_beside(__file__)
_LETTERS: dict[str, dict[str, str]] = _TABLE["by_letters"]
_RUSSIAN_ONLY = re.compile("[ыэё]")
_KANA_SHARE = 0.05
_HAN_WEIGHT = 3  # weight of a Han character or kana against a letter of an alphabet


def detect(text: str) -> str:
    """ISO 639-1 code of a text's main language; "" if it is too short or the language is unknown.

    Only the first 4000 characters are examined. Two letters suffice for a script that has one language here; Latin
    script needs at least two function words.
    """
    return _detected(text[:_SAMPLE])


@functools.lru_cache(maxsize=4096)
def _detected(text: str) -> str:
    if text.isascii():
        return _by_words(words(text.lower().replace("'", " ")))
    sample = unicodedata.normalize("NFC", text)
    scripts: Counter[str] = Counter()
    for char, times in Counter(sample).items():
        if char.isalpha() and (script := script_of(char)):
            scripts[script] += times
    for script in ("CJK", "HIRAGANA", "KATAKANA"):
        scripts[script] *= _HAN_WEIGHT
    kana = scripts["HIRAGANA"] + scripts["KATAKANA"]
    counts = scripts + Counter({"CJK": kana})
    script, letters = counts.most_common(1)[0] if counts else ("", 0)
    if script in {"CJK", "HIRAGANA", "KATAKANA"}:
        return "ja" if kana > _KANA_SHARE * letters else "zh" if letters >= _MIN_LETTERS * _HAN_WEIGHT else ""
    if script == "LATIN":
        found = (word.casefold().replace("’", "'") for word in words(sample))
        return _by_words([part for word in found for part in word.split("'")])
    if letters < _MIN_LETTERS or script not in _TABLE["by_script"]:
        return ""
    return _by_letters(sample.casefold(), _TABLE["by_script"][script])


def _by_letters(sample: str, language: str) -> str:
    """Choose among the languages of a script by letters unique to one."""
    for other, own in _LETTERS.get(language, {}).items():
        if any(letter in sample for letter in own):
            return other
    if language == "ru" and "ъ" in sample and not _RUSSIAN_ONLY.search(sample):
        return "bg"
    return language


def _by_words(found: Sequence[str]) -> str:
    """The language with the most function words of a text; a word shared by several languages is split among them.

    ``found``: the words of the text in lower case, parted at apostrophes.
    """
    weights = _weights()
    scores: Counter[str] = Counter()
    hits: Counter[str] = Counter()
    for word, times in Counter(word for word in found if word in weights).items():
        for language in weights[word]:
            scores[language] += times * (1000 // len(weights[word]))
            hits[language] += times
    ranked = [*scores.most_common(2), ("", 0), ("", 0)]
    (best, score), (_, second) = ranked[:2]
    sure = hits[best] >= _MIN_HITS and hits[best] >= _MIN_SHARE * len(found) and score >= _MIN_RATIO * second
    return best if sure else ""


@functools.cache
def _weights() -> dict[str, tuple[str, ...]]:
    known = {language: stop_words(language) for language in LATIN}
    every = frozenset().union(*known.values())
    return {word: tuple(language for language in LATIN if word in known[language]) for word in every}
