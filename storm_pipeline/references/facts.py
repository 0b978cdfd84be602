"""Single sentences of snippets, numbered, as a writer is shown them.

Short numbered facts are what small models cite truthfully; large ones lose nothing by them, and the prompt is half as
long as with whole snippets.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeVar

from storm_pipeline.text.index_terms import STOP_WORDS, stem
from storm_pipeline.text.prose import statements_in
from storm_pipeline.text.words import words
from storm_pipeline.types import Citation, Snippet

T = TypeVar("T")


@dataclass(frozen=True)
class Fact:
    """One sentence of a snippet; ``citation`` points at the snippet."""

    text: str
    title: str
    citation: Citation

    @property
    def in_context(self) -> str:
        """As it is embedded: alone, a sentence seldom names what it is about."""
        return f"{self.title}: {self.text}" if self.title else self.text


@lru_cache(maxsize=4096)
def facts_of(snippet: Snippet) -> tuple[Fact, ...]:
    """What a snippet says, sentence by sentence; none where it holds menus and the like alone."""
    citation = Citation(snippet.source_id, snippet.id)
    return tuple(Fact(text, snippet.title, citation) for text in statements_in(snippet.text))


def nearest(snippets: Iterable[Snippet], need: str, limit: int) -> list[Snippet]:
    """The ``limit`` snippets that share most with ``need`` in rare words, in their order; nothing is embedded."""
    snippets = list(snippets)
    return _best(snippets, _shared(need, [f"{s.title} {s.text}" for s in snippets]), limit)


def nearest_facts(
    snippets: Iterable[Snippet], need: str, limit: int, *, serves: Callable[[str], bool] = bool
) -> list[Fact]:
    """The ``limit`` facts of the snippets that share most with ``need``, in the order of the snippets.

    Args:
        snippets: what was found.
        need: what the facts are to be about.
        limit: how many, at most.
        serves: tells of a fact's text whether it can be used.
    """
    facts = _distinct(fact for snippet in snippets for fact in facts_of(snippet) if serves(fact.text))
    return _best(facts, _shared(need, [f"{fact.title} {fact.text}" for fact in facts]), limit)


def _shared(need: str, texts: Sequence[str]) -> list[float]:
    """For each text the weight of the needed stems that it has: rarer ones weigh more, longer texts less."""
    wanted, terms = stem_set(need), [stem_set(text) for text in texts]
    frequency = Counter(term for own in terms for term in own)
    weight = {term: math.log(1 + len(terms) / frequency[term]) for term in wanted & frequency.keys()}
    # fsum, since a set's order, and with it a plain sum's last digit, is another in every process.
    return [math.fsum(weight[term] for term in wanted & own) / math.sqrt(8 + len(own)) for own in terms]


def numbered(facts: Sequence[Fact]) -> str:
    """``[1] Title: sentence`` lines. A fact is one line, so quoted text cannot pose as another part of a prompt."""
    return "\n".join(f"[{i}] {_one_line(fact.title)}: {_one_line(fact.text)}" for i, fact in enumerate(facts, 1))


@lru_cache(maxsize=4096)
def stem_set(text: str) -> frozenset[str]:
    """Stems of the content words, for comparing what two texts speak of."""
    told = (word for word in words(text.casefold()) if word not in STOP_WORDS and (len(word) > 1 or word.isdigit()))
    return frozenset(map(stem, told))


def shared_stems(a: str, b: str) -> float:
    """Share of the content words of ``a`` that ``b`` has too, in [0, 1]; 0.0 where ``a`` has none."""
    return recall(stem_set(a), stem_set(b))


def names_topic(text: str, topic: str) -> bool:
    """Whether a text has at least half of the topic's content words."""
    return shared_stems(topic, text) >= 0.5


def without_topic(topic: str, title: str) -> str:
    """The title without the topic's words; as it is, if there are no others."""
    wanted = stem_set(topic)
    left = " ".join(word for word in title.split() if not stem_set(word) & wanted)
    return left if stem_set(left) else title


def recall(needed: frozenset[str], had: frozenset[str]) -> float:
    """Share of what is needed that is there; 0.0 where nothing is needed."""
    return len(needed & had) / len(needed) if needed else 0.0


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _distinct(facts: Iterable[Fact]) -> list[Fact]:
    return list({fact.text.casefold(): fact for fact in reversed(list(facts))}.values())[::-1]


def _best(items: Sequence[T], scores: Sequence[float], limit: int) -> list[T]:
    best = sorted(range(len(items)), key=lambda i: (-scores[i], i))[:limit]
    return [items[i] for i in sorted(best)]
