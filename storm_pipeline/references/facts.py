"""Facts: single sentences of snippets, numbered for prompts.

Small models cite short numbered facts correctly, and the prompt is half as long as with whole snippets.
"""

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from storm_pipeline.languages import has_spaces, stem_set
from storm_pipeline.references.boilerplate import is_interstitial
from storm_pipeline.text.prose import statements_in
from storm_pipeline.types import Citation, Snippet

_POSSESSIVE = re.compile("^[的之のにはへを]+")  # particles that follow a topic in a Chinese or Japanese heading
_MOST = 3  # parts that a statement rests on
_ADDED = 0.15  # share of a statement that a further part has to add


@dataclass(frozen=True)
class Fact:
    """One sentence of a snippet; ``citation`` points at the snippet."""

    text: str
    title: str
    citation: Citation

    @property
    def in_context(self) -> str:
        """The text to embed, with the title: a sentence alone seldom names its subject."""
        return f"{self.title}: {self.text}" if self.title else self.text


@lru_cache(maxsize=4096)
def facts_of(snippet: Snippet) -> tuple[Fact, ...]:
    """The statements of a snippet, one per sentence; none if it contains only menus, site notices and the like."""
    citation = Citation(snippet.source_id, snippet.id)
    return tuple(
        Fact(text, snippet.title, citation) for text in statements_in(snippet.text) if not is_interstitial(text)
    )


def nearest(snippets: Iterable[Snippet], need: str, limit: int, language: str = "en") -> list[Snippet]:
    """The ``limit`` snippets that share most rare words with ``need``, in the given order; nothing is embedded.

    Long texts weigh less.
    """
    snippets = list(snippets)
    wanted = stem_set(need, language)
    terms = [stem_set(f"{snippet.title} {snippet.text}", language) for snippet in snippets]
    frequency = Counter(term for own in terms for term in own)
    weight = {term: math.log(1 + len(terms) / frequency[term]) for term in wanted & frequency.keys()}
    # fsum, since set order, and with it the rounding of a plain sum, differs between processes.
    scores = [math.fsum(weight[term] for term in wanted & own) / math.sqrt(8 + len(own)) for own in terms]
    best = sorted(range(len(snippets)), key=lambda i: (-scores[i], i))[:limit]
    return [snippets[i] for i in sorted(best)]


def numbered(facts: Sequence[Fact]) -> str:
    """``[1] Title: sentence`` lines. A fact is one line, so quoted text cannot pose as another part of a prompt."""
    return "\n".join(f"[{i}] {_one_line(fact.title)}: {_one_line(fact.text)}" for i, fact in enumerate(facts, 1))


def names_topic(text: str, topic: str, language: str = "en") -> bool:
    """Whether a text has at least half of the topic's content words."""
    return recall(stem_set(topic, language), stem_set(text, language)) >= 0.5


def without_topic(topic: str, title: str, language: str = "en") -> str:
    """The title without the topic's words; unchanged if there are no others."""
    if has_spaces(language):
        wanted = stem_set(topic, language)
        left = " ".join(word for word in title.split() if not stem_set(word, language) & wanted)
    else:
        left = _POSSESSIVE.sub("", title.replace(topic, "", 1))
    return left if stem_set(left, language) else title


def recall(needed: frozenset[str], had: frozenset[str]) -> float:
    """Share of ``needed`` in ``had``, in [0, 1]; 0.0 if nothing is needed."""
    return len(needed & had) / len(needed) if needed else 0.0


def covering(needed: frozenset[str], parts: Sequence[frozenset[str]], least: int = 1) -> list[int]:
    """Positions of the parts, three at most, that together have most of ``needed``, the best first.

    Each adds a share of ``needed``, and a further one ``least`` of it, that those before it lack; empty where none has
    enough.
    """
    chosen: list[int] = []
    left = needed
    while parts and len(chosen) < _MOST:
        best = max(range(len(parts)), key=lambda i: len(parts[i] & left))
        if len(parts[best] & left) < max(least if chosen else 1, _ADDED * len(needed)):
            break
        chosen.append(best)
        left -= parts[best]
    return chosen


def _one_line(text: str) -> str:
    return " ".join(text.split())
