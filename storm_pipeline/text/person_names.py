"""Names of authors, parsed from the line in which a page, a service or a byline states them."""

import re
from dataclasses import dataclass

from storm_pipeline.text.files import table_beside

_INSTITUTIONAL = frozenset(table_beside(__file__)["institutional"].split())
_MOST_WORDS = 4
_BY = re.compile(r"^by(?: |$)", re.I)
_BETWEEN_NAMES = re.compile(r"[,;&·•|]|\b(?:and|und|et|y|e)\b", re.I)
_NOTE_MARKS = re.compile(r"[\d*†‡§¶¹²³⁰-⁹]+")


@dataclass(frozen=True)
class Name:
    """A person's or an institution's name."""

    family: str  # the family name with particles such as ``van``; the whole name if it cannot be split
    given: str = ""  # given names; empty if the name is not split

    @property
    def natural(self) -> str:
        """``Given Family``."""
        return f"{self.given} {self.family}".strip()

    @property
    def family_first(self) -> str:
        """``Family, Given``, or the whole name."""
        return f"{self.family}, {self.given}" if self.given else self.family


def read_names(text: str | None) -> tuple[Name, ...]:
    """Return the names in a text, split at ``;``; institutions, and what ends with a comma, are not split further."""
    parts = (_BY.sub("", " ".join(part.split())) for part in (text or "").split(";"))
    return tuple(dict.fromkeys(_name(part) for part in parts if part))


def tidy_names(text: str) -> str:
    """Return names as :func:`read_names` reads them, without the commas at the ends of institutions."""
    return text.replace(",;", ";").removesuffix(",")


def person_names(line: str) -> tuple[str, ...]:
    """Return the persons, as ``Given Family``, of a byline such as ``By A. Doe¹, B. Roe and C. Poe``."""
    plain = _NOTE_MARKS.sub("", _BY.sub("", " ".join(line.split())))
    parts = [part for part in (part.strip(" .;,") for part in _BETWEEN_NAMES.split(plain)) if part]
    names = [_name(part) for part in parts]
    if not all(name.given and len(name.natural.split()) <= _MOST_WORDS for name in names):
        return ()
    return tuple(dict.fromkeys(name.natural for name in names))


def _name(text: str) -> Name:
    family, comma, given = (part.strip() for part in text.partition(","))
    if comma and family and "," not in given:
        return Name(family, given)
    words = text.split()
    personal = all(map(_is_name_part, words)) and not {word.casefold() for word in words} & _INSTITUTIONAL
    if not (2 <= len(words) <= _MOST_WORDS and personal and words[0][0].isupper() and words[-1][0].isupper()):
        return Name(text)
    start = next((n for n, word in enumerate(words) if word[0].islower()), len(words) - 1)
    return Name(" ".join(words[start:]), " ".join(words[:start]))


def _is_name_part(word: str) -> bool:
    """Return whether a word begins with a letter, and has only letters, full stops, apostrophes and hyphens."""
    return word[0].isalpha() and all(char.isalpha() or char in ".'’-" for char in word)
