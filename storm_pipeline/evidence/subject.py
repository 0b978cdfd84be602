"""The subject of an article, and the texts and pages related to it."""

from collections.abc import Iterable
from dataclasses import dataclass

from storm_pipeline.evidence.retrieval import Embed
from storm_pipeline.evidence.store import ReferenceStore
from storm_pipeline.text.languages import detect, split_sentences, stem_set
from storm_pipeline.text.words import folded_words, words
from storm_pipeline.types import Brief, Snippet

NEAR = 0.3
"""Minimum cosine of a snippet to the topic or the question that makes its page related."""


def bare_name(name: str) -> str:
    """Return a name without a final part in brackets and without "the"; unchanged if nothing is left."""
    bare = name.partition(" (")[0].partition("（")[0].strip()
    return (bare[4:].strip() if bare[:4].casefold() == "the " else bare) or name.strip()


def keep_relevant(brief: Brief, snippets: Iterable[Snippet], embed: Embed, *questions: str) -> tuple[Snippet, ...]:
    """Return the snippets of the pages related to the topic, in order.

    Such a page has the topic's bare name, in any case, in its title or text, or a snippet whose cosine to the topic or
    to one of the questions is at least 0.3. Pages in another language are kept, which few encoders can compare.

    ``embed``: texts to unit vectors, shape (texts, dimension).
    """
    given = tuple(snippets)
    name = bare_name(brief.topic).casefold()
    kept = {
        snippet.source_id
        for snippet in given
        if name in f"{snippet.title} {snippet.text}".casefold() or detect(snippet.text) not in {"", brief.language}
    }
    doubtful = [snippet for snippet in given if snippet.source_id not in kept]
    if doubtful:
        asked = [brief.topic, *questions]
        vectors = embed([*asked, *(f"{snippet.title}: {snippet.text}" for snippet in doubtful)])
        nearest = (vectors[len(asked) :] @ vectors[: len(asked)].T).max(axis=1)
        kept |= {snippet.source_id for snippet, cosine in zip(doubtful, nearest, strict=True) if cosine >= NEAR}
    return tuple(snippet for snippet in given if snippet.source_id in kept)


@dataclass(frozen=True)
class Subject:
    """The subject of an article."""

    topic: str
    page_ids: frozenset[str] = frozenset()  # id of the page with the topic as its title; empty if there is none
    definition: str = ""  # the first sentence of that page
    proper: bool = False  # whether it is a proper name: always capitalised within sentences of that page
    language: str = "en"  # of that page, ISO 639-1

    @property
    def name(self) -> str:
        """The topic without its part in brackets."""
        return bare_name(self.topic)

    @property
    def with_definition(self) -> str:
        """The topic with its definition, for embeddings."""
        return f"{self.topic}: {self.definition}" if self.definition else self.topic

    def is_named_in(self, text: str) -> bool:
        """Return whether a text contains the topic's name, in any case, where a word begins: "literature" is not Ur."""
        if self.name.casefold() not in text.casefold():
            return False
        return f" {' '.join(folded_words(self.name))}" in f" {' '.join(folded_words(text))}"

    def is_named_separately(self, text: str, title: str = "") -> bool:
        """Return whether a sentence names the topic outside its page's title and outside longer names.

        Red deer are not Red; the Song dynasty is not a song, nor is a songwriter.
        """
        written = words(text)
        common = " ".join(word for i, word in enumerate(written) if self.proper or not (i and word[0].isupper()))
        rest = " ".join(written).casefold().replace(" ".join(folded_words(bare_name(title))) or "\n", " ")
        if not (stems := stem_set(self.name, self.language)):  # of a letter, or of function words alone
            return all(f" {' '.join(folded_words(self.name))} " in f" {part.casefold()} " for part in (common, rest))
        return all(self.is_named_in(part) and stems <= stem_set(part, self.language) for part in (common, rest))

    def is_meant_in(self, text: str) -> bool:
        """Return whether a text that names the topic also has the words in the topic's brackets."""
        return stem_set(self.topic, self.language) <= stem_set(f"{self.name} {text}", self.language)


def subject_of(topic: str, results: Iterable[Snippet]) -> Subject:
    """Find the page about the topic in ranked snippets: its title is the topic, else the topic's bare name."""
    snippets = tuple(results)
    for name in (topic, bare_name(topic)):
        page = next((s for s in snippets if s.title.casefold() == name.casefold() and s.text), None)
        if page is not None:
            language = detect(page.text) or "en"
            sentences = split_sentences(page.text, language)
            proper = _is_capitalised(bare_name(topic), sentences)
            return Subject(topic, frozenset({page.source_id}), next(iter(sentences), ""), proper, language)
    return Subject(topic)


def _is_capitalised(name: str, sentences: Iterable[str]) -> bool:
    """Return whether the last word of a name occurs within sentences, and always with a capital there."""
    wanted, capitals = folded_words(name), set()
    for written in map(words, sentences):
        for end in range(1, len(written)):
            if [word.casefold() for word in written[max(0, end + 1 - len(wanted)) : end + 1]] == wanted:
                capitals.add(written[end][0].isupper())
    return capitals == {True}


def keep_related(subject: Subject, snippets: Iterable[Snippet], store: ReferenceStore) -> tuple[Snippet, ...]:
    """Return the snippets of the pages that are related to the subject, in order; see :func:`keep_relevant`."""
    return keep_relevant(Brief(subject.topic), snippets, store.embed, subject.with_definition)
