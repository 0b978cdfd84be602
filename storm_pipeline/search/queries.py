"""Escaping for engines with a query language: any text becomes plain words without operators."""

import unicodedata
from collections.abc import Sequence

from storm_pipeline.documents.plain import plain_text
from storm_pipeline.text.index_terms import STOP_WORDS

_INSIDE_WORDS = "'."
_OPERATORS = frozenset({"AND", "OR", "NOT", "ANDNOT", "TO", "NEAR", "ADJ"})


def bare_words(query: str) -> list[str]:
    """The words of a query without punctuation; words that are operators in upper case are lower-cased.

    Letters, marks and digits of any script are kept; of punctuation only apostrophes and full stops inside a word
    (``Darwin's``, ``3.5``), so ``ti:(silk OR "road")`` gives ``ti silk or road``.
    """
    text = unicodedata.normalize("NFC", plain_text(query)).replace("’", "'")
    kept = "".join(char if _is_word_char(char) else " " for char in text)
    words = filter(None, (word.strip(_INSIDE_WORDS) for word in kept.split()))
    return [word.lower() if word.upper() in _OPERATORS else word for word in words]


def topic_words(query: str) -> list[str]:
    """The words of an English query without function words, for engines that require every word to match.

    A query of function words only is kept.
    """
    words = bare_words(query)
    return [word for word in words if word.casefold() not in STOP_WORDS] or words


def joined(words: Sequence[str], separator: str, limit: int) -> str:
    """Join as many leading words as fit into ``limit`` characters; a first word that does not fit is cut.

    Args:
        words: at least one.
        separator: placed between two words.
        limit: maximum length in characters, >= 1.
    """
    line = words[0][:limit]
    for word in words[1:]:
        longer = f"{line}{separator}{word}"
        if len(longer) > limit:
            break
        line = longer
    return line


def _is_word_char(char: str) -> bool:
    return char in _INSIDE_WORDS or unicodedata.category(char)[0] in "LMN"
