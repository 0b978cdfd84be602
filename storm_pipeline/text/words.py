"""Words, scripts and overlap of text. Pure functions."""

import functools
import re
import unicodedata
from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from itertools import accumulate
from sys import hash_info
from typing import Any, Literal

from storm_pipeline.text.identity import in_form

EMPHASIS = re.compile(r"(?<![A-Za-zÀ-ɏ\d])(\*\*|__|\*)(\S(?:.{0,500}?\S)?)\1(?![A-Za-zÀ-ɏ\d])")
"""Emphasis: a pair of marks around at most 500 characters (the second group); not in ``M*A*S*H``."""
_NOT_TEXT = re.compile("[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]")
"""Control characters, lone surrogates, noncharacters, and characters that override the text's direction."""
_SURROGATE = re.compile("[\ud800-\udfff]")
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_LATIN_WORD = re.compile(r"\d+(?:[.,]\d+)+|[^\W_]+(?:['’][^\W_]+)*")
_BEHIND_NUMBER = re.compile(r"(?<=\d)(?=[²³¹⁰⁴-⁹₀-₉¼-¾⅐-⅞①-⓿])")
GENITIVE = re.compile(r"['’]s?$")  # after a word
_BEYOND_LATIN = re.compile("[\u0300-\u1fff\u20d0-\U0010ffff]")
HAN_KANA = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
"""Characters of Chinese and Japanese, which have no spaces between words, for a set in a pattern."""


def words(text: str) -> list[str]:
    """Return the words of a text as written, without punctuation; each Han or kana character counts as one word."""
    return _word_in(text).findall(text)


def has_word(text: str) -> bool:
    """Return whether a text has any :func:`words`."""
    return _word_in(text).search(text) is not None


def word_count(text: str) -> int:
    """Return the number of :func:`words`."""
    return len(words(text))


def folded_words(text: str) -> list[str]:
    """Return the words of a text for comparison: Unicode forms, case and apostrophes normalised."""
    return list(_fold(text))


def caseless(text: str) -> str:
    """Lower the case of a text, so that ``in`` matches Latin letters as ``re.IGNORECASE`` does."""
    low = text.lower()
    return low if text.isascii() else low.replace("i\u0307", "i").replace("ı", "i").replace("ſ", "s")


def unify(text: str, form: Literal["NFKC", "NFKD"] = "NFKC") -> str:
    """Return a text in a compatibility form of Unicode, without gluing digits: 1904³ is "1904 3" and 3½ is "3 1⁄2"."""
    return in_form(text if text.isascii() else _BEHIND_NUMBER.sub(" ", text), form)


def foreign_script_share(text: str, like: str, allowed: frozenset[str] = frozenset()) -> float:
    """Return the share of a text's letters in scripts that a reference text does not use, in [0, 1].

    A script counts as used from 5 % of the letters of the reference, ``like``; if that has no letters, no script is
    foreign. ``allowed``: Unicode names of scripts that are never foreign.
    """
    known, scripts = _scripts(like), _scripts(text)
    total = sum(known.values())
    if not total or not scripts:
        return 0.0
    used = allowed | {script for script, letters in known.items() if letters * 20 >= total}
    return sum(n for script, n in scripts.items() if script not in used) / sum(scripts.values())


@functools.lru_cache(maxsize=4096)
def _script_of(char: str) -> str:
    """Return the first word of a letter's Unicode name, its script; empty for letters common to all scripts."""
    name = unicodedata.name(char, "").partition(" ")[0].partition("-")[0]
    return "" if name in {"MODIFIER", "MICRO", "FEMININE", "MASCULINE"} else name


def longest_common_run(a: str, b: str, at_least: int = 1) -> list[str]:
    """Return the longest run of ``at_least`` words or more in both texts but for case, as spelt in ``a``; else []."""
    if not (few := _runs(a, at_least)) or few.isdisjoint(_runs(b, at_least)):
        return []
    left, right, spelt = _fold(a), _fold(b), words(unify(a))
    sizes = range(1, min(len(left), len(right)) + 1)
    size = bisect_left(sizes, 1, key=lambda size: {*_hashes(left, size)}.isdisjoint(_hashes(right, size)))
    start = next(place for place, run in enumerate(_hashes(left, size)) if run in _runs(b, size))
    return list((spelt if len(spelt) == len(left) else left)[start : start + size])  # folding may split a word


def numbers(text: str) -> set[str]:
    """Return the numbers of a text in digits, without thousands separators; :mod:`.quantities` has values."""
    return {number.replace(",", "") for number in _NUMBER.findall(text)}


def overlap(a: str, b: str, n: int = 3) -> float:
    """Return the share of the distinct word n-grams of ``a`` that ``b`` contains too, in [0, 1].

    A text shorter than n words is compared whole; an empty ``a`` gives 0.0. Not symmetric.
    """
    size = max(1, min(n, len(_fold(a))))
    grams = _runs(a, size)
    return len(grams & _runs(b, size)) / max(1, len(grams))


def tidy(text: str) -> str:
    """Put a text on one line: collapse white space and remove characters as :func:`without_controls` does."""
    return " ".join(without_controls(text).split())


def without_controls(text: str) -> str:
    """Remove control characters, overrides of direction, lone surrogates, U+FFFE and U+FFFF; white space stays."""
    return _NOT_TEXT.sub("", text)


def encodable(text: str) -> str:
    """Replace lone surrogates, which UTF-8 cannot encode, by U+FFFD; join surrogate pairs to characters."""
    if text.isascii() or not _SURROGATE.search(text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def encodable_values(value: Any) -> Any:
    """Make all texts of JSON values, including keys, :func:`encodable`; other values are unchanged."""
    if isinstance(value, list):
        return [encodable_values(item) for item in value]
    if isinstance(value, dict):
        return {encodable_values(key): encodable_values(item) for key, item in value.items()}
    return encodable(value) if isinstance(value, str) else value


def _word_in(text: str) -> re.Pattern[str]:
    """Return the cheapest pattern for the words of a text; most prose needs no combining marks or other scripts."""
    return _any_word() if not text.isascii() and _BEYOND_LATIN.search(text) else _LATIN_WORD


@functools.cache
def _any_word() -> re.Pattern[str]:
    """Return a pattern for words: a Han or kana character; a number; or letters with marks and inner apostrophes."""
    marks = "".join(chr(i) for i in range(0x300, 0x10000) if unicodedata.category(chr(i)) in {"Mn", "Mc"})
    letter = rf"(?:(?![{HAN_KANA}])[^\W_][{marks}]*)"
    return re.compile(rf"[{HAN_KANA}]|\d+(?:[.,]\d+)+|{letter}+(?:['’]{letter}+)*")


@functools.lru_cache(maxsize=4096)  # one passage is compared with many sentences
def _fold(text: str) -> tuple[str, ...]:
    return tuple(word.replace("’", "'") for word in words(unify(text).casefold()))


@functools.lru_cache(maxsize=256)
def _runs(text: str, length: int) -> frozenset[int]:
    return frozenset(_hashes(_fold(text), length))


def _hashes(folded: Sequence[str], length: int) -> list[int]:
    """Return a hash of each run of words, in linear time."""
    base, prime = hash("run"), hash_info.modulus
    ends = [*accumulate(map(hash, folded), lambda before, word: (before * base + word) % prime, initial=0)]
    power = pow(base, length, prime)
    return [(end - start * power) % prime for start, end in zip(ends, ends[length:], strict=False)]


def _scripts(text: str) -> dict[str, int]:
    letters = [(char, times) for char, times in Counter(unify(text)).items() if char.isalpha()]
    return sum((Counter({script: times}) for char, times in letters if (script := _script_of(char))), Counter())
