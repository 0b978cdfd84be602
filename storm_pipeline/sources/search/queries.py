"""Queries in the syntax of an engine: plain words without operators, or with operators for domains."""

import unicodedata
from collections.abc import Callable, Sequence
from itertools import accumulate, takewhile
from typing import TypeVar

from storm_pipeline.sources.search.engine_info import SearchOptions
from storm_pipeline.text.identity import in_form
from storm_pipeline.text.lexical import english_stop_words
from storm_pipeline.text.plain import one_line, plain_text

T = TypeVar("T")
MOST_CHARACTERS = 300  # maximum query length of all engines of papers and encyclopedias
_INSIDE_WORDS = "'."
_OPERATORS = frozenset({"AND", "OR", "NOT", "ANDNOT", "TO", "NEAR", "ADJ"})


def bare_words(query: str) -> list[str]:
    """Return the words of a query without punctuation; upper-case operators are lower-cased.

    Keeps letters, marks and digits of any script, and apostrophes and full stops inside a word (``Darwin's``, ``3.5``):
    ``ti:(silk OR "road")`` becomes ``ti silk or road``.
    """
    text = in_form(plain_text(query), "NFC").replace("’", "'")
    kept = "".join(c if c in _INSIDE_WORDS or unicodedata.category(c)[0] in "LMN" else " " for c in text)
    words = filter(None, (word.strip(_INSIDE_WORDS) for word in kept.split()))
    return [word.lower() if word.upper() in _OPERATORS else word for word in words]


def topic_words(query: str) -> list[str]:
    """Return the words of an English query without function words, or all if it has no others."""
    words = bare_words(query)
    return [word for word in words if word.casefold() not in english_stop_words()] or words


def join_words(words: Sequence[str], separator: str, limit: int = MOST_CHARACTERS) -> str:
    """Join the leading words that fit into ``limit`` characters, at least one if any; a longer first word is cut."""
    lines = accumulate(words, lambda line, word: f"{line}{separator}{word}")
    fitting = list(takewhile(lambda line: len(line) <= limit, lines))
    return fitting[-1] if fitting else "".join(words[:1])[:limit]


def with_all_or_any(words: Sequence[str], find: Callable[[str], Sequence[T]], *, every: str = " ") -> Sequence[T]:
    """Return the results of ``find`` with all words, joined by ``every``, else with any; empty without words."""
    snippets = find(join_words(words, every)) if words else ()
    return snippets if snippets or len(words) < 2 else find(join_words(words, " OR "))


def with_sites(query: str, options: SearchOptions, *, limit: int, words: int | None = None) -> str:
    """Return the query on one line, within ``limit`` characters and ``words``, and operators for the options' domains.

    Operators that would take more than half of the limit are left out, since
    :func:`storm_pipeline.sources.search.edge.with_checks` also filters by domain.
    """
    operators = " ".join(_operators(options))
    operator_words = operators.count(" ") + 1
    if not operators or 2 * len(operators) > limit or (words is not None and 2 * operator_words > words):
        return one_line(query, limit, words)
    line = one_line(query, limit - len(operators) - 1, words and words - operator_words)
    return f"{line} {operators}" if line else ""


def _operators(options: SearchOptions) -> list[str]:
    wanted = " OR ".join(f"site:{domain}" for domain in options.domains)
    unwanted = [f"-site:{domain}" for domain in options.without_domains]
    return [f"({wanted})" if len(options.domains) > 1 else wanted, *unwanted] if wanted else unwanted
