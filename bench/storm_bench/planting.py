"""Errors planted into English sentences that their sources support, one at a time, by kind.

A planted sentence differs from a supported one in a few words that change what it says, so that it is known to be
unsupported without a reader. The rules are crude: a few planted sentences read badly, hardly any stays true.
"""

import random
import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

Kind = Literal[
    "number ±1", "number ±10 %", "year", "number word", "name", "subject", "negation", "opposite", "quantifier",
    "hedge", "cause reversed", "order reversed", "two facts joined",
]  # fmt: skip
KINDS: tuple[Kind, ...] = get_args(Kind)
_DIGITS = re.compile(r"(?<![\w.,$/:-])(\d{1,3}(?:,\d{3})+|\d+)(?![\w/:-]|[.,]\d)")
_YEAR = re.compile(r"\b(1[0-9]\d\d|20[0-4]\d)\b")
_LEAST_TENTH = 10  # numbers below it change by less than one at a tenth
_NAME = re.compile(r"\b[A-Z][\w'’-]+(?:\s(?:(?:of|the|de|von|van)\s)?[A-Z][\w'’-]+)*")
_ENDS = frozenset('.!?:\n"“”*#-–—')
_NO_NAME = frozenset("The This These That Those It He She They We In On At An And But For If When However".split())
_SHORT = 3  # letters of a capitalised word that is hardly a name
_SUBJECT = re.compile(r"(?:The\s)?[A-Z][\w'’-]+(?:\s[A-Z][\w'’-]+)*(?=\s(?:is|was|were|are|has|had|[a-z]+ed)\b)")
_WORDS = "two three four five six seven eight nine ten eleven twelve".split()
_NUMBER_WORD = re.compile(rf"\b({'|'.join(_WORDS)})\b")
_AUXILIARY = re.compile(r"\b(was|were|is|are|has|have|had|can|could|will|would|did)\b(?!\s(?:not|n't)\b)")
_NOT = re.compile(r"\b(was|were|is|are|has|have|had|can|could|will|would|did)\snot\s")
_TABLE = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))


@dataclass(frozen=True)
class Supported:
    """A sentence and the source text that supports it."""

    sentence: str
    source: str


@dataclass(frozen=True)
class Planted:
    """A sentence with an error, the kind of the error, and the source that supported it before."""

    sentence: str
    source: str
    kind: Kind


Rule = Callable[[Supported, Sequence[Supported], random.Random], str | None]
"""From a sentence, sentences of other articles, and chance to the sentence with an error; None without a place."""


def plant(one: Supported, kind: Kind, others: Sequence[Supported], rng: random.Random) -> Planted | None:
    """The sentence with an error of a kind; None where it offers no place for one.

    ``others``: sentences of other articles: what a name is replaced with, and what is joined.
    """
    if kind == "two facts joined":
        return _joined(one, others, rng)
    changed = _RULES[kind](one, others, rng)
    if changed is None or changed.casefold() == one.sentence.casefold() or changed in one.source:
        return None
    return Planted(changed, one.source, kind)


def _joined(one: Supported, others: Sequence[Supported], rng: random.Random) -> Planted | None:
    """Two true facts tied together without ground; both sources are shown."""
    fitting = [other for other in others if other.sentence[:1].isupper() and len(other.sentence.split()) > 4]
    if not fitting or not one.sentence.endswith("."):
        return None
    other = rng.choice(fitting)
    link = rng.choice(("which is why", "as a result of which", "which in turn meant that", "because"))
    return Planted(f"{one.sentence[:-1]}, {link} {other.sentence}", f"{one.source}\n{other.source}", "two facts joined")


def _numbers(text: str, least: int) -> list[re.Match[str]]:
    """The numbers in digits that are no years, from ``least`` on."""
    found = (m for m in _DIGITS.finditer(text) if not _YEAR.fullmatch(m[1]))
    return [m for m in found if int(m[1].replace(",", "")) >= least]


def _by_one(one: Supported, _: Sequence[Supported], rng: random.Random) -> str | None:
    return _renumbered(one.sentence, _numbers(one.sentence, 2), rng, lambda n: n + rng.choice((-1, 1)))


def _by_a_tenth(one: Supported, _: Sequence[Supported], rng: random.Random) -> str | None:
    found = _numbers(one.sentence, _LEAST_TENTH)
    return _renumbered(one.sentence, found, rng, lambda n: n + rng.choice((-1, 1)) * max(1, round(n / 10)))


def _other_year(one: Supported, _: Sequence[Supported], rng: random.Random) -> str | None:
    away = rng.choice((-11, -10, -3, -2, -1, 1, 2, 3, 10, 11))
    return _renumbered(one.sentence, list(_YEAR.finditer(one.sentence)), rng, lambda year: year + away)


def _renumbered(
    text: str, found: Sequence[re.Match[str]], rng: random.Random, change: Callable[[int], int]
) -> str | None:
    if not found:
        return None
    at = rng.choice(found)
    new = change(int(at[1].replace(",", "")))
    return _replaced(text, at, f"{new:,}" if "," in at[1] else str(new))


def _other_number_word(one: Supported, _: Sequence[Supported], rng: random.Random) -> str | None:
    at = _any(_NUMBER_WORD, one.sentence, rng)
    return at and _replaced(one.sentence, at, rng.choice([word for word in _WORDS[:8] if word != at[1]]))


def _other_name(one: Supported, others: Sequence[Supported], rng: random.Random) -> str | None:
    names = [m for m in _NAME.finditer(one.sentence) if m.start() > 0]
    if not names:
        return None
    at = rng.choice(names)
    known = _names_in(one.source) or [name for other in others for name in _names_in(other.sentence)]
    new = [name for name in known if _are_strangers(name, at[0])]
    return _replaced(one.sentence, at, rng.choice(new)) if new else None


def _other_subject(one: Supported, _: Sequence[Supported], rng: random.Random) -> str | None:
    at = _SUBJECT.match(one.sentence)
    new = [name for name in _names_in(one.source) if at and _are_strangers(name, at[0])]
    return _replaced(one.sentence, at, rng.choice(new)) if at and new else None


def _names_in(text: str) -> list[str]:
    """The capitalised names of a text, without what begins a sentence."""
    found = (m for m in _NAME.finditer(text) if text[max(0, m.start() - 2) : m.start()].strip(" (") not in _ENDS)
    return [m[0] for m in found if m.start() > 0 and m[0].split()[0] not in _NO_NAME and len(m[0]) > _SHORT]


def _are_strangers(name: str, other: str) -> bool:
    return not set(name.casefold().split()) & set(other.casefold().split())


def _negated(one: Supported, _: Sequence[Supported], __: random.Random) -> str | None:
    if denied := _NOT.search(one.sentence):
        return _replaced(one.sentence, denied, f"{denied[1]} ")
    at = _AUXILIARY.search(one.sentence)
    return at and _replaced(one.sentence, at, f"{at[1]} not")


def _swapped(pairs: Sequence[Sequence[str]], *, both: bool) -> Rule:
    """A rule that replaces one word by another, as listed: from, to; where ``both``, in either direction."""
    table = {pair[0]: pair[1] for pair in reversed(pairs)}
    table |= {new: old for old, new in table.items() if new not in table} if both else {}
    return _by_table(table)


def _by_table(table: Mapping[str, str]) -> Rule:
    pattern = re.compile(rf"\b({'|'.join(sorted(map(re.escape, table), key=len, reverse=True))})\b")

    def rule(one: Supported, _: Sequence[Supported], rng: random.Random) -> str | None:
        at = _any(pattern, one.sentence, rng)
        return at and _replaced(one.sentence, at, table[at[1]])

    return rule


def _cause(one: Supported, _: Sequence[Supported], __: random.Random) -> str | None:
    for pattern, new in _TABLE["causes"]:
        if at := re.search(pattern, one.sentence):
            return _replaced(one.sentence, at, new)
    return None


def _any(pattern: re.Pattern[str], text: str, rng: random.Random) -> re.Match[str] | None:
    found = list(pattern.finditer(text))
    return rng.choice(found) if found else None


def _replaced(text: str, at: re.Match[str], new: str) -> str:
    return text[: at.start()] + new + text[at.end() :]


_RULES: Mapping[str, Rule] = {
    "number ±1": _by_one,
    "number ±10 %": _by_a_tenth,
    "year": _other_year,
    "number word": _other_number_word,
    "name": _other_name,
    "subject": _other_subject,
    "negation": _negated,
    "opposite": _swapped(_TABLE["opposites"], both=True),
    "quantifier": _swapped(_TABLE["quantifiers"], both=False),
    "hedge": _by_table(_TABLE["hedges"]),
    "cause reversed": _cause,
    "order reversed": _swapped(_TABLE["orders"], both=True),
}
