"""Errors planted into English sentences that their sources support, one at a time, by kind.

A planted sentence differs from a supported one in a few words that change what it says, so that it is known to be
unsupported without a reader. The rules are crude: a few planted sentences read badly, hardly any stays true.
"""

import random
import re
from collections.abc import Callable, Sequence

_NUMBER = re.compile(r"(?<![\w.,$/:-])(?:\d{1,3}(?:,\d{3})+|\d+)(?![\w/:-]|[.,]\d)")
_YEAR = re.compile(r"\b(?:1[0-9]\d\d|20[0-4]\d)\b(?![\w/-])")
_NAME = re.compile(r"(?<=[a-z,;] )[A-Z][\w'’-]{2,}(?: [A-Z][\w'’-]+)*")
_WORDS = "two three four five six seven eight nine ten eleven twelve".split()
_SIZES = "hundred thousand million billion trillion".split()
_AUXILIARY = re.compile(r"\b(?:was|were|is|are|has|have|had|can|could|will|would|did)\b(?! not\b)")

Rule = Callable[[str, str, random.Random], str | None]
"""From a sentence, the text of another article, and chance to the sentence with an error; None without a place."""


def names_in(text: str) -> list[str]:
    """Return the capitalised names amid the sentences of a text."""
    return _NAME.findall(text)


def _renumbered(pattern: re.Pattern[str], least: int, change: Callable[[int, random.Random], int]) -> Rule:
    def rule(text: str, _: str, rng: random.Random) -> str | None:
        found = [m for m in pattern.finditer(text) if pattern is _YEAR or not _YEAR.fullmatch(m[0])]
        found = [m for m in found if int(m[0].replace(",", "")) >= least]
        if not found:
            return None
        at = rng.choice(found)
        new = change(int(at[0].replace(",", "")), rng)
        return _replaced(text, at, f"{new:,}" if "," in at[0] else str(new))

    return rule


def _among(words: Sequence[str], new: Callable[[int, random.Random], int]) -> Rule:
    pattern = re.compile(rf"\b(?:{'|'.join(words)})\b")

    def rule(text: str, _: str, rng: random.Random) -> str | None:
        at = pattern.search(text)
        return at and _replaced(text, at, words[new(words.index(at[0]), rng) % len(words)])

    return rule


def _magnitude(text: str, other: str, rng: random.Random) -> str | None:
    """Return a size word's neighbour, else a number times ten."""
    larger = _among(_SIZES, lambda i, chance: i + chance.choice((-1, 1)))
    return larger(text, other, rng) or _renumbered(_NUMBER, 10, lambda n, _: 10 * n)(text, other, rng)


def _other_name(text: str, other: str, rng: random.Random) -> str | None:
    names = list(_NAME.finditer(text))
    strangers = [name for name in names_in(other) if not set(name.split()) & set(text.split())]
    return _replaced(text, rng.choice(names), rng.choice(strangers)) if names and strangers else None


def _swapped(text: str, _: str, __: random.Random) -> str | None:
    names = list(_NAME.finditer(text))
    last = next((m for m in names[1:] if not set(m[0].split()) & set(names[0][0].split())), None)
    return last and _replaced(_replaced(text, last, names[0][0]), names[0], last[0])


def _negated(text: str, _: str, __: random.Random) -> str | None:
    at = _AUXILIARY.search(text)
    return at and _replaced(text, at, f"{at[0]} not")


def _replaced(text: str, at: re.Match[str], new: str) -> str:
    return text[: at.start()] + new + text[at.end() :]


RULES: dict[str, Rule] = {
    "number ±1": _renumbered(_NUMBER, 2, lambda n, rng: n + rng.choice((-1, 1))),
    "number ±10 %": _renumbered(_NUMBER, 10, lambda n, rng: n + rng.choice((-1, 1)) * max(1, round(n / 10))),
    "year": _renumbered(_YEAR, 0, lambda year, rng: year + rng.choice((-11, -10, -3, -2, -1, 1, 2, 3, 10, 11))),
    "magnitude": _magnitude,
    "number word": _among(_WORDS, lambda i, rng: i + rng.randint(1, len(_WORDS) - 1)),
    "name": _other_name,
    "negation": _negated,
    "swap of two names": _swapped,
}
"""Kind of error → how it is planted."""
