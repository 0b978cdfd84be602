"""Queries for engines with a query language: any text becomes plain words that none of them takes for an operator."""

import unicodedata
from collections.abc import Sequence

from storm_pipeline.documents.plain import plain_text
from storm_pipeline.text.index_terms import STOP_WORDS

_INSIDE_WORDS = "'."
_OPERATORS = frozenset({"AND", "OR", "NOT", "ANDNOT", "TO", "NEAR", "ADJ"})


def bare_words(query: str) -> list[str]:
    """The words of a query without signs; words that are operators in capitals come in small letters.

    Letters, marks and digits of any script are kept; of the signs only apostrophes and stops inside a word are
    (``Darwin's``, ``3.5``), so ``ti:(silk OR "road")`` gives ``ti silk or road``.
    """
    text = unicodedata.normalize("NFC", plain_text(query)).replace("’", "'")
    kept = "".join(char if _belongs_to_word(char) else " " for char in text)
    words = filter(None, (word.strip(_INSIDE_WORDS) for word in kept.split()))
    return [word.lower() if word.upper() in _OPERATORS else word for word in words]


def topic_words(query: str) -> list[str]:
    """The words of an English query without function words, which an engine that wants every word would miss.

    A query of nothing but function words is kept.
    """
    words = bare_words(query)
    return [word for word in words if word.casefold() not in STOP_WORDS] or words


def joined(words: Sequence[str], between: str, limit: int) -> str:
    """The words from the first on that fit into ``limit`` characters, joined; the first is cut if it alone does not.

    Args:
        words: at least one.
        between: what stands between two words.
        limit: most characters, >= 1.
    """
    line = words[0][:limit]
    for word in words[1:]:
        longer = f"{line}{between}{word}"
        if len(longer) > limit:
            break
        line = longer
    return line


def _belongs_to_word(char: str) -> bool:
    return char in _INSIDE_WORDS or unicodedata.category(char)[0] in "LMN"
