"""What an article is about, for a small model, which is told so with every question."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from storm_pipeline.languages import detect, opening_of, split_sentences
from storm_pipeline.references.relevance import NEAR, bare_name
from storm_pipeline.references.store import ReferenceStore
from storm_pipeline.types import Snippet

_OPENING = 60  # words at a snippet's beginning that are compared with the topic


@dataclass(frozen=True)
class Subject:
    """The subject of an article."""

    topic: str
    own: frozenset[str] = frozenset()  # id of the page with the topic as its title; empty if there is none
    definition: str = ""  # the first sentence of that page

    @property
    def names(self) -> tuple[str, ...]:
        """The topic's name, without brackets."""
        return (bare_name(self.topic),)

    @property
    def described(self) -> str:
        """The topic with its definition, for prompts and embeddings."""
        return f"{self.topic}: {self.definition}" if self.definition else self.topic

    def named_in(self, text: str) -> bool:
        """Return whether a text contains the topic's name, in any case."""
        return self.names[0].casefold() in text.casefold()


def subject_of(topic: str, found: Iterable[Snippet]) -> Subject:
    """Find the page about the topic among snippets, best first: its title is the topic, else the topic's bare name."""
    snippets = tuple(found)
    for name in (topic, bare_name(topic)):
        own = next((s for s in snippets if s.title.casefold() == name.casefold() and s.text), None)
        if own is not None:
            sentences = split_sentences(own.text, detect(own.text) or "en")
            return Subject(topic, frozenset({own.source_id}), next(iter(sentences), ""))
    return Subject(topic)


def related(subject: Subject, snippets: Sequence[Snippet], store: ReferenceStore) -> list[Snippet]:
    """Return the snippets of pages that are the subject's own, name it, or have one that is near to it, in order."""
    if not snippets:
        return []
    openings = [f"{s.title}: {opening_of(s.text, _OPENING, detect(s.text) or 'en')}" for s in snippets]
    vectors = store.embed([subject.described, *openings])
    pages = set(subject.own)
    for snippet, near in zip(snippets, np.asarray(vectors[1:] @ vectors[0]), strict=True):
        if near >= NEAR or subject.named_in(f"{snippet.title} {snippet.text}"):
            pages.add(snippet.source_id)
    return [snippet for snippet in snippets if snippet.source_id in pages]
