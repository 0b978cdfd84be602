"""Sentences of sources as cited paragraphs, each told once."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby

from storm_pipeline.references.facts import Fact
from storm_pipeline.text.words import word_count
from storm_pipeline.types import Paragraph, Section, Sentence

PARAGRAPH = 3
"""Sentences of a paragraph at least, where there are as many."""


def distinct(facts: Iterable[Fact]) -> list[Fact]:
    """Return the facts in order, each text once."""
    first: dict[str, Fact] = {}
    for fact in facts:
        first.setdefault(fact.text, fact)
    return list(first.values())


def without_repeated(section: Section, told: set[str]) -> Section:
    """Return the section without the sentences whose texts are in ``told``, to which its own are added."""
    paragraphs = []
    for paragraph in section.paragraphs:
        new = tuple(own for own in paragraph.sentences if own.text not in told)
        told.update(own.text for own in new)
        paragraphs += [replace(paragraph, sentences=new)] if new else []
    return replace(section, paragraphs=tuple(paragraphs))


def in_paragraphs(facts: Sequence[Fact], fewest: int = PARAGRAPH) -> tuple[Paragraph, ...]:
    """Return the facts as cited sentences, in paragraphs that end where the page changes and are not too short."""
    paragraphs: list[list[Sentence]] = []
    for _, page in groupby(facts, key=lambda fact: fact.citation.source_id):
        sentences = [Sentence(fact.text, (fact.citation,)) for fact in page]
        if paragraphs and len(paragraphs[-1]) < fewest:
            paragraphs[-1] += sentences
        else:
            paragraphs.append(sentences)
    if len(paragraphs) > 1 and len(paragraphs[-1]) < fewest:
        last = paragraphs.pop()
        paragraphs[-1] += last
    return tuple(Paragraph(tuple(own)) for own in paragraphs)


def fitting(facts: Sequence[Fact], words: int) -> Iterator[Fact]:
    """Yield as many facts as there is room for; at least one."""
    for number, fact in enumerate(facts):
        words -= word_count(fact.text)
        if words < 0 and number:
            return
        yield fact
