"""Single sentences of snippets, numbered, as a writer is shown them.

Short numbered facts are what small models cite truthfully; large ones lose nothing by them, and the prompt is half as
long as with whole snippets.
"""

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from storm_pipeline.text import is_complete, split_sentences, word_count, words
from storm_pipeline.types import Citation, Snippet

Embed = Callable[[Sequence[str]], npt.NDArray[np.float32]]
"""Texts to unit vectors, a row a text."""

_SHORTEST, _LONGEST = 5, 60
"""Words of a sentence that can stand as a fact."""


@dataclass(frozen=True)
class Fact:
    """One sentence of a snippet; ``citation`` points at the snippet."""

    text: str
    title: str
    citation: Citation


def facts_of(snippet: Snippet) -> list[Fact]:
    """The whole sentences of a snippet that can stand alone; a snippet without any is one fact itself."""
    citation = Citation(snippet.source_id, snippet.id)
    sentences = [" ".join(s.split()) for s in split_sentences(snippet.text)]
    whole = [s for s in sentences if _SHORTEST <= word_count(s) <= _LONGEST and is_complete(s)]
    if not whole:
        whole = [" ".join(snippet.text.split()[:_LONGEST])]
    return [Fact(text, snippet.title, citation) for text in whole]


def by_words(snippets: Iterable[Snippet], need: str, limit: int) -> list[Fact]:
    """The ``limit`` facts that share most with ``need`` in rare words, in the order of the snippets.

    Cheap enough for every turn of a conversation: no embedding.
    """
    facts = _distinct(fact for snippet in snippets for fact in facts_of(snippet))
    terms = [set(stems(f"{fact.title} {fact.text}")) for fact in facts]
    frequency = Counter(term for own in terms for term in own)
    wanted = set(stems(need))
    scores = [
        sum(math.log(1 + len(facts) / frequency[t]) for t in wanted & own) / math.sqrt(8 + len(own)) for own in terms
    ]
    return _best(facts, scores, limit)


def by_meaning(
    snippets: Iterable[Snippet],
    need: npt.NDArray[np.float32],
    limit: int,
    embed: Embed,
) -> list[Fact]:
    """The ``limit`` facts nearest in meaning to any row of ``need`` (unit vectors), in the order of the snippets."""
    facts = _distinct(fact for snippet in snippets for fact in facts_of(snippet))
    if len(facts) <= limit:
        return facts
    vectors = embed([f"{fact.title}: {fact.text}" for fact in facts])
    return _best(facts, (vectors @ need.T).max(axis=1).tolist(), limit)


def numbered(facts: Sequence[Fact]) -> str:
    """``[1] Title: sentence`` lines. A fact is one line, so quoted text cannot pose as another part of a prompt."""
    return "\n".join(f"[{i}] {_one_line(fact.title)}: {_one_line(fact.text)}" for i, fact in enumerate(facts, 1))


def stems(text: str) -> list[str]:
    """Content words cut to a crude stem, for comparing what two texts speak of."""
    return [_stem(word) for word in words(text.casefold()) if word not in _STOP and (len(word) > 1 or word.isdigit())]


def _stem(word: str) -> str:
    return (
        word
        if len(word) < 5 or word.isdigit()
        else re.sub(r"(?:ations?|ings?|ers?|ed|es|ly|s|e|y|al|ian|ic)$", "", word)[:9]
    )


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _distinct(facts: Iterable[Fact]) -> list[Fact]:
    return list({fact.text.casefold(): fact for fact in reversed(list(facts))}.values())[::-1]


def _best(facts: list[Fact], scores: Sequence[float], limit: int) -> list[Fact]:
    best = sorted(range(len(facts)), key=lambda i: (-scores[i], i))[:limit]
    return [facts[i] for i in sorted(best)]


_STOP = frozenset(
    """
    a
    """.split()
)
