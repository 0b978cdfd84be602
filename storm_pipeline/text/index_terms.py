"""Index terms: folded and stemmed words without English stop words; bigrams of Han and kana."""

import re
import unicodedata
from functools import lru_cache

from storm_pipeline.files import table_beside
from storm_pipeline.text.words import HAN_KANA, unified

_WORD = re.compile(rf"[{HAN_KANA}]+|[^\W_{HAN_KANA}]+")
_IS_HAN_KANA = re.compile(rf"[{HAN_KANA}]")
_ACCENTS = re.compile("[\u0300-\u036f]")
_MAX_WORD_CHARS = 64

STOP_WORDS = frozenset(table_beside(__file__)["stop_words"].split())
"""English stop words, including those that phrase questions."""


def without_function_words(title: str) -> str:
    """A title without stop words at its ends: not "Spread of the", nor "of Norway"; empty if it has no other words."""
    words = title.split()
    content = [i for i, word in enumerate(words) if word.casefold() not in STOP_WORDS]
    return " ".join(words[content[0] : content[-1] + 1]) if content else ""


def terms(text: str) -> list[str]:
    """The index terms of a text, in order, with repetitions.

    Case, compatibility forms and Latin accents are folded; English plurals, ``-ing`` and ``-ed`` are stripped,
    so that *painted paintings* matches *painting*. A run of Han characters or kana yields its bigrams.
    """
    text = _folded(text)
    words = _WORD.findall(text)
    if not _IS_HAN_KANA.search(text):
        return [stem(word) for word in words if word not in STOP_WORDS]
    found: list[str] = []
    for word in words:
        if _IS_HAN_KANA.match(word):
            found += [word[i : i + 2] for i in range(max(1, len(word) - 1))]
        elif word not in STOP_WORDS:
            found.append(stem(word))
    return found


def _folded(text: str) -> str:
    text = text.casefold()
    if text.isascii():
        return text
    # Only Latin, Greek and Cyrillic accents: the marks that distinguish が from か are in another block.
    return unicodedata.normalize("NFKC", _ACCENTS.sub("", unified(text, "NFKD"))).casefold()


@lru_cache(maxsize=1 << 16)
def stem(word: str) -> str:
    """Stem of a lower-case English word, at most 64 characters: without plural and tense endings."""
    word = _singular(word[:_MAX_WORD_CHARS])
    for ending in ("ing", "ed"):
        rest = word.removesuffix(ending)
        if rest != word and len(rest) > 3 and re.search("[aeiouy]", rest):
            word = rest[:-1] if rest[-1] == rest[-2] and rest[-1] not in "lsz" else rest
            break
    if len(word) > 4 and word[-1] == "e":
        word = word[:-1]
    return word[:-1] + "i" if len(word) > 4 and word[-1] == "y" else word


def _singular(word: str) -> str:
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    if len(word) > 4 and word.endswith(("sses", "xes", "ches", "shes", "zes")):
        return word[:-2]
    if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word
