"""Abbreviations that a page explains once: a sentence that is taken alone has the words in their place."""

import re
from collections.abc import Iterable, Mapping, Sequence

_EXPLAINED = re.compile(r"((?:[^\W\d_][\w-]*[ -]){1,8})\(([A-Z]{2,6})s?[);,]")
_SHORT = re.compile(r"(?<![\w-])[A-Z]{2,6}(?![\w-])")
_BRACKETS = re.compile(r"\s*\([^()]*\)")
_SMALL = frozenset("a an and at by for in of on the to".split())  # words that give no letter to an abbreviation


def explained_in(title: str, texts: Iterable[str]) -> dict[str, str]:
    """Abbreviation → the words that it stands for: those before it in brackets, or else the page's title.

    QED → quantum electrodynamics, and on the page Mainland Southeast Asia, which does not say so, MSEA → that.
    """
    known, whole = {}, _BRACKETS.sub("", title)
    for text in texts:
        for before, short in _EXPLAINED.findall(text):
            if words := _with_initials(before.rstrip(" -"), short):
                known[short] = words
        for short in set(_SHORT.findall(text)) - known.keys():
            if not whole.isupper() and (words := _with_initials(whole, short)).casefold() == whole.casefold():
                known[short] = words
    return known


def written_out(text: str, known: Mapping[str, str]) -> str:
    """The sentence with the words in place of each known abbreviation, unless it has both."""
    for short, words in known.items():
        if f"({short}" not in text and words.casefold() not in text.casefold():
            text = re.sub(rf"(?<![\w-]){short}(?![\w-])", words, text)
    return text[:1].upper() + text[1:]


def _with_initials(before: str, short: str) -> str:
    """The last words of a text that spell the letters; empty if there are none. A name keeps its capitals."""
    words = before.split()
    for first in range(len(words) - 1, -1, -1):
        parts = [part.upper() for word in words[first:] for part in word.split("-") if part and part not in _SMALL]
        if words[first] not in _SMALL and _spells(parts, short):
            found = " ".join(words[first:])
            is_name = any(word[0].isupper() for word in words[first + 1 :])
            return found if is_name else found[0].lower() + found[1:]
    return ""


def _spells(parts: Sequence[str], letters: str) -> bool:
    """Whether each part gives its first letter, and any further ones in their order: Quantum ElectroDynamics."""
    if not parts or not letters:
        return not parts and not letters
    if parts[0][0] != letters[0]:
        return False
    inner = iter(parts[0][1:])
    for taken in range(1, len(letters) + 1):
        if _spells(parts[1:], letters[taken:]):
            return True
        if taken == len(letters) or letters[taken] not in inner:
            return False
    return False
