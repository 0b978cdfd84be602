"""Random text of a given length in invented words. The same seed gives the same text."""

from collections.abc import Iterable, Sequence
from itertools import product, zip_longest
from random import Random

_SYLLABLES = tuple(map("".join, product("bdfgklmnprtv", "aou")))
_WORDS = tuple(map("".join, product(_SYLLABLES, _SYLLABLES[:6], _SYLLABLES)))
_FUNCTION_WORDS = ("the", "of the", "and", "in", "for", "with", "at the", "from")
SUBJECTS = _WORDS[::193]
"""The 41 words that the texts of a run have in common."""


class SeededRandom(Random):
    """A random generator seeded with any values."""

    def __init__(self, *parts: object) -> None:
        super().__init__("\n".join(map(str, parts)))

    def words(self, number: int) -> str:
        """``number`` words, up to three of which are common subjects."""
        return " ".join([*self.sample(SUBJECTS, 3), *self.choices(_WORDS, k=max(0, number - 3))][:number])

    def sentence(self, number: int, about: Sequence[str] = ()) -> str:
        """A sentence of about ``number`` words that contains the words of ``about``."""
        content = [*about, *self.choices(_WORDS, k=max(0, number * 2 // 3 - len(about)))]
        function = self.choices(_FUNCTION_WORDS, k=number - number * 2 // 3)
        return _sentence(
            word for triple in zip_longest(content[::2], function, content[1::2]) for word in triple if word
        )


def reworded(sentence: str) -> str:
    """The sentence with its words in another order, so that no two neighbours stay together."""
    words = sentence.rstrip(".").split()
    half = len(words) // 2
    return _sentence(word for pair in zip_longest(words[half:], words[:half]) for word in pair if word)


def _sentence(words: Iterable[str]) -> str:
    text = " ".join(words)
    return f"{text[:1].upper()}{text[1:]}."
