"""Names of authors, read from the one line in which a page or a service states them."""

import re
from dataclasses import dataclass

_INSTITUTIONAL = frozenset(
    """
    agency and association board bureau center centre commission committee company contributors council department
    editorial editors foundation group inc institute journal limited ltd magazine ministry museum network news office of
    organisation organization press project radio reporter reporters society staff team the times university wikipedia
    """.split()
)
_MOST_WORDS = 4
_BY = re.compile(r"^by(?: |$)", re.I)
_WORD = re.compile(r"[^\W\d_][^\W\d_.'’-]*(?:[.'’-]+[^\W\d_]*)*")


@dataclass(frozen=True)
class Name:
    """A person's or an institution's name.

    Attributes:
        family: the family name, particles such as ``van`` included; the whole name where it cannot be parted.
        given: given names; empty where the name is not parted.
    """

    family: str
    given: str = ""

    @property
    def natural(self) -> str:
        """``Given Family``."""
        return f"{self.given} {self.family}".strip()

    @property
    def inverted(self) -> str:
        """``Family, Given``, or the whole name."""
        return f"{self.family}, {self.given}" if self.given else self.family


def read_names(text: str | None) -> tuple[Name, ...]:
    """The names in a text, which ``;`` separates; a name that looks like an institution's is kept whole.

    Args:
        text: on one line, each name ``Given Family`` or ``Family, Given``; None and empty parts give no name.
    """
    parts = (_BY.sub("", " ".join(part.split())) for part in (text or "").split(";"))
    return tuple(dict.fromkeys(_name(part) for part in parts if part))


def _name(text: str) -> Name:
    family, comma, given = (part.strip() for part in text.partition(","))
    if comma and family and given and "," not in given:
        return Name(family, given)
    words = text.split()
    personal = all(_WORD.fullmatch(word) for word in words) and not {word.casefold() for word in words} & _INSTITUTIONAL
    if not (2 <= len(words) <= _MOST_WORDS and personal and words[0][0].isupper() and words[-1][0].isupper()):
        return Name(text)
    start = next((n for n, word in enumerate(words) if word[0].islower()), len(words) - 1)
    return Name(" ".join(words[start:]), " ".join(words[:start]))
