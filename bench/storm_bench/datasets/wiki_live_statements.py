"""The statements of a human article, taken from its sentences by rules.

Departures from Wiki Live Challenge, where a language model writes them: a statement is a whole sentence, which may hold
several facts; one that points back ("It was filled in 1931.") gets the article's title and the section's heading in
front instead of having its pronouns resolved; sentences that stay unclear on their own are left out.
"""

import re
from collections.abc import Iterator, Sequence
from unicodedata import normalize

from storm_bench.datasets.self_contained import in_context
from storm_bench.types import HumanArticle
from storm_pipeline.api import is_complete, words

_QUOTED = re.compile(r"[\"“„«][^\"“”„«»]*[\"”“»]")
_MIN_UNQUOTED = 4  # minimum words outside quotation marks; fewer are a quotation and its speaker
_WORDS = range(6, 61)


def statements_of(article: HumanArticle) -> tuple[str, ...]:
    """The distinct statements of an article's body, in order.

    They are complete sentences of 6 to 60 words that make sense on their own: no questions, lists or mere quotations.
    Those of the lead are left out, because a lead repeats the body.
    """
    found: dict[tuple[str, ...], str] = {}
    for heading, sentence in _sentences(article):
        told = in_context(sentence, f"{article.title}, {heading}") if _is_statement(sentence) else None
        if told:
            found.setdefault(tuple(normalize("NFKC", sentence).casefold().split()), told)
    return tuple(found.values())


def spread(statements: Sequence[str], most: int) -> tuple[str, ...]:
    """At most ``most`` statements, evenly spaced over the text, in order. ``most``: maximum number, >= 0."""
    kept = min(most, len(statements))
    return tuple(statements[index * len(statements) // kept] for index in range(kept))


def _sentences(article: HumanArticle) -> Iterator[tuple[str, str]]:
    """(heading, sentence) of the body."""
    for section in article.sections:
        for part in section.walk():
            for sentence in part.sentences:
                yield part.heading, sentence.text


def _is_statement(sentence: str) -> bool:
    if len(words(sentence)) not in _WORDS or not is_complete(sentence):
        return False
    return not sentence.endswith("?") and len(words(_QUOTED.sub("", sentence))) >= _MIN_UNQUOTED
