"""Made-up text of a wanted length, in words of no language. The same seed gives the same text."""

from collections.abc import Iterable, Sequence
from itertools import product, zip_longest
from random import Random

_SYLLABLES = tuple(map("".join, product("bdfgklmnprtv", "aou")))
_WORDS = tuple(map("".join, product(_SYLLABLES, _SYLLABLES[:6], _SYLLABLES)))
_LITTLE = ("the", "of the", "and", "in", "for", "with", "at the", "from")
SUBJECTS = _WORDS[::193]
"""What the texts of a run have in common: 41 words."""


class Chance(Random):
    """Chance that follows from a seed of any parts."""

    def __init__(self, *parts: object) -> None:
        super().__init__("\n".join(map(str, parts)))

    def words(self, number: int) -> str:
        """So many words, up to three of which stand in many other texts."""
        return " ".join([*self.sample(SUBJECTS, 3), *self.choices(_WORDS, k=max(0, number - 3))][:number])

    def sentence(self, number: int, about: Sequence[str] = ()) -> str:
        """A sentence of about so many words, those of ``about`` among them."""
        told = [*about, *self.choices(_WORDS, k=max(0, number * 2 // 3 - len(about)))]
        little = self.choices(_LITTLE, k=number - number * 2 // 3)
        return _sentence(word for pair in zip_longest(told[::2], little, told[1::2]) for word in pair if word)


def reworded(sentence: str) -> str:
    """A sentence whose words stand in another order, so that no two stay together."""
    words = sentence.rstrip(".").split()
    half = len(words) // 2
    return _sentence(word for pair in zip_longest(words[half:], words[:half]) for word in pair if word)


def _sentence(words: Iterable[str]) -> str:
    text = " ".join(words)
    return f"{text[:1].upper()}{text[1:]}."
