"""Facts, single sentences of snippets: numbered for prompts, and compared by the words that they share."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from storm_pipeline.text.languages import detect, has_spaces, split_sentences, stem_set
from storm_pipeline.text.markers import numbered_lines
from storm_pipeline.types import Brief, Citation, Snippet

_POSSESSIVE = "的之のにはへを"  # particles that follow a topic in a Chinese or Japanese heading
_MOST = 3  # maximum parts that support a statement
_ADDED = 0.15  # minimum share of a statement that a further part must add


@dataclass(frozen=True)
class Fact:
    """A sentence of a snippet, with a citation of it."""

    text: str
    title: str
    citation: Citation

    @property
    def in_context(self) -> str:
        """The text to embed, with the title: a sentence alone seldom names its subject."""
        return f"{self.title}: {self.text}" if self.title else self.text


@lru_cache(maxsize=4096)
def facts_of(snippet: Snippet) -> tuple[Fact, ...]:
    """Return the sentences of a snippet, in order."""
    citation = Citation(snippet.source_id, snippet.id)
    texts = (" ".join(text.split()) for text in split_sentences(snippet.text, detect(snippet.text) or "en"))
    return tuple(Fact(text, snippet.title, citation) for text in texts if text)


def number_facts(facts: Sequence[Fact]) -> str:
    """Return ``[1] Title: sentence`` lines. A fact is one line, so that a quotation cannot imitate a prompt."""
    return numbered_lines({i: f"{fact.title}: {fact.text}" for i, fact in enumerate(facts, 1)}, len(facts))


def without_topic(brief: Brief, title: str) -> str:
    """Return the title without the topic's words; unchanged if there are no others."""
    language = brief.language
    if has_spaces(language):
        wanted = stem_set(brief.topic, language)
        left = " ".join(word for word in title.split() if not stem_set(word, language) & wanted)
    else:
        left = title.replace(brief.topic, "", 1).lstrip(_POSSESSIVE)
    return left if stem_set(left, language) else title


def recall(needed: frozenset[str], had: frozenset[str]) -> float:
    """Return the share of ``needed`` in ``had``, in [0, 1]; 0.0 if nothing is needed."""
    return len(needed & had) / len(needed) if needed else 0.0


def find_cover(needed: frozenset[str], parts: Sequence[frozenset[str]], least: int = 1) -> list[int]:
    """Return the positions of at most three parts that together have most of ``needed``, best first.

    Each part adds a minimum share of ``needed``, and from the second part at least ``least`` elements; empty if no part
    has enough.
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
