"""What an extract is about."""

from collections.abc import Iterable
from dataclasses import dataclass

from storm_pipeline.languages import detect, split_sentences
from storm_pipeline.references.relevance import bare_name, keep_relevant
from storm_pipeline.references.store import ReferenceStore
from storm_pipeline.text.words import folded_words
from storm_pipeline.types import Snippet


@dataclass(frozen=True)
class Subject:
    """The subject of an article."""

    topic: str
    own: frozenset[str] = frozenset()  # id of the page with the topic as its title; empty if there is none
    definition: str = ""  # the first sentence of that page

    @property
    def name(self) -> str:
        """The topic without what it has in brackets."""
        return bare_name(self.topic)

    @property
    def described(self) -> str:
        """The topic with its definition, for embeddings."""
        return f"{self.topic}: {self.definition}" if self.definition else self.topic

    def named_in(self, text: str) -> bool:
        """Return whether a text contains the topic's name, in any case, where a word begins: "literature" is not Ur."""
        if self.name.casefold() not in text.casefold():
            return False
        return f" {' '.join(folded_words(self.name))}" in f" {' '.join(folded_words(text))}"


def subject_of(topic: str, found: Iterable[Snippet]) -> Subject:
    """Find the page about the topic among snippets, best first: its title is the topic, else the topic's bare name."""
    snippets = tuple(found)
    for name in (topic, bare_name(topic)):
        own = next((s for s in snippets if s.title.casefold() == name.casefold() and s.text), None)
        if own is not None:
            sentences = split_sentences(own.text, detect(own.text) or "en")
            return Subject(topic, frozenset({own.source_id}), next(iter(sentences), ""))
    return Subject(topic)


def related(subject: Subject, snippets: Iterable[Snippet], store: ReferenceStore) -> tuple[Snippet, ...]:
    """Return the snippets of the pages that bear on the subject, in order; see :func:`keep_relevant`."""
    return keep_relevant(subject.topic, snippets, store.embed, question=subject.described)
