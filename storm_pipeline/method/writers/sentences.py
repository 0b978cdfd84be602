"""Sentences of sources for an extract: selected, grouped, ordered, and joined to cited paragraphs."""

from collections import Counter
from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass
from itertools import groupby, takewhile

import numpy as np

from storm_pipeline.evidence.evidence import FEWEST_SENTENCES
from storm_pipeline.evidence.facts import Fact, facts_of
from storm_pipeline.evidence.store import ReferenceStore
from storm_pipeline.evidence.subject import Subject, keep_related
from storm_pipeline.sources.search.registry import is_private_engine
from storm_pipeline.text.languages import stem_set
from storm_pipeline.text.words import word_count
from storm_pipeline.types import UNTITLED, Heading, Paragraph, Sentence, Snippet

SHORTEST = 5
"""Minimum words of a usable sentence; a shorter text is mostly a heading."""
_PARAGRAPH = 3  # minimum sentences of a paragraph, if possible


@dataclass(frozen=True)
class Candidate:
    """A sentence of a source that an article may use."""

    fact: Fact
    place: tuple[int, int]  # numbers of its snippet and of the sentence
    opening: Fact  # the first usable sentence of its page if that is one passage, else the sentence itself
    nearness: float  # cosine to the topic, in [-1, 1]


def sentences_of(snippet: Snippet) -> list[Fact]:
    """Return the sentences of a snippet, in order, without headings in Markdown."""
    return [fact for fact in facts_of(snippet) if not fact.text.startswith("#")]


def candidates(
    store: ReferenceStore, subject: Subject, snippets: Sequence[Snippet], headings: Sequence[str] = ()
) -> tuple[Candidate, ...]:
    """Return the usable sentences of related pages, nearest first, the subject's own page left out.

    Each text occurs once. A sentence of a page that was found as one passage has that passage's first sentence as its
    opening; its nearness to the topic is the mean of both, since the subject of a page counts for more than the
    sentence alone.

    ``headings``: the user's, which pages may be about, too.
    """
    rows: dict[str, tuple[Fact, tuple[int, int], Fact]] = {}
    pages = Counter(snippet.source_id for snippet in snippets)
    page = [snippet.text for snippet in snippets if snippet.source_id in subject.page_ids]
    heading_stems, page_stems = (
        stem_set(" ".join(texts), subject.language) for texts in (headings, [*headings, *page])
    )
    related = keep_related(subject, snippets, store)
    others = [snippet for snippet in related if snippet.source_id not in subject.page_ids]
    for number, snippet in enumerate(others):
        usable = _on_topic(subject, snippet, heading_stems, page_stems)
        for i, fact in enumerate(usable):
            rows.setdefault(fact.text, (fact, (number, i), usable[0] if pages[snippet.source_id] == 1 else fact))
    if not rows:
        return ()
    texts, openings = zip(*((fact.in_context, opening.in_context) for fact, _, opening in rows.values()), strict=True)
    vectors = store.embed([subject.with_definition, *texts, *openings])
    near = (vectors[1:] @ vectors[0]).reshape(2, -1).mean(axis=0)
    usable_sentences = (Candidate(*row, float(cosine)) for row, cosine in zip(rows.values(), near, strict=True))
    return tuple(sorted(usable_sentences, key=lambda candidate: -candidate.nearness))


def _on_topic(subject: Subject, snippet: Snippet, heading_stems: Set[str], page_stems: Set[str]) -> list[Fact]:
    """Return the sentences of a passage that are on the subject.

    All sentences of the user's documents. If the subject has no page of its own: the sentences that name it, or
    whose page's title does. If it has one: the first sentences, as long as they name it, of pages on a part of it. The
    title of such a page has its name and other words, all of them on its own page (``page_stems``); or, without the
    name, only words of the user's headings (``heading_stems``).
    """
    facts = [fact for fact in sentences_of(snippet) if word_count(fact.text) >= SHORTEST]
    if is_private_engine(snippet.engine):
        return facts
    if not subject.page_ids:
        return [fact for fact in facts if subject.is_named_in(fact.in_context)]
    part = stem_set(snippet.title, subject.language) - stem_set(subject.topic, subject.language)
    is_part = part and part <= (page_stems if subject.is_named_apart(snippet.title) else heading_stems)
    if not is_part or not subject.is_meant_in(snippet.text):
        return []
    return list(takewhile(lambda fact: subject.is_named_apart(fact.text, fact.title), facts))


def by_title(subject: Subject, usable: Iterable[Candidate]) -> dict[str, list[Candidate]]:
    """Map each page's title to its candidates, nearest page first; several single sentences form one first group.

    Pages with the same title are merged; a page without a title gets the topic as its title.
    """
    pages: dict[str, list[Candidate]] = {}
    for candidate in usable:
        title = candidate.fact.title or subject.topic
        known = next((other for other in pages if other.casefold() == title.casefold()), title)
        pages.setdefault(known, []).append(candidate)
    single = [title for title, of_page in pages.items() if len(in_order(of_page)) < FEWEST_SENTENCES]
    if len(single) < FEWEST_SENTENCES:
        return pages
    return {UNTITLED: [candidate for title in single for candidate in pages.pop(title)], **pages}


def by_heading(
    store: ReferenceStore, subject: Subject, headings: Sequence[Heading], usable: Sequence[Candidate]
) -> dict[str, list[Candidate]]:
    """Map the title of each heading to its candidates, in order: passages go to their nearest heading.

    The nearest heading has the highest cosine above its mean, so that none attracts everything near the topic.
    """
    shares: dict[str, list[Candidate]] = {heading.title: [] for heading in headings}
    if not usable:
        return shares
    titles = [f"{subject.topic}: {'; '.join(heading.titles())}" for heading in headings]
    vectors = store.embed([*titles, *(candidate.fact.in_context for candidate in usable)])
    nearness = vectors[len(titles) :] @ vectors[: len(titles)].T  # candidates × headings
    above = nearness - nearness.mean(axis=0)
    passages = np.array([candidate.place[0] for candidate in usable])
    best = [above[passages == number].mean(axis=0).argmax() for number in passages]
    for candidate, nearest in zip(usable, best, strict=True):
        shares[headings[nearest].title].append(candidate)
    return shares


def in_order(chosen: Iterable[Candidate]) -> list[Fact]:
    """Return the sentences, the nearest passage first, each after its page's opening, which introduces it."""
    passages: dict[int, list[Candidate]] = {}
    for candidate in chosen:
        passages.setdefault(candidate.place[0], []).append(candidate)
    ordered = sorted(passages.values(), key=lambda group: -max(c.nearness for c in group))
    candidates_in_order = (c for group in ordered for c in sorted(group, key=lambda c: c.place))
    return list({fact.text: fact for c in candidates_in_order for fact in (c.opening, c.fact)}.values())


def in_paragraphs(facts: Iterable[Fact]) -> tuple[Paragraph, ...]:
    """Return the facts as cited sentences, in paragraphs that end where the page changes and are not too short."""
    paragraphs: list[list[Sentence]] = []
    for _, page in groupby(facts, key=lambda fact: fact.citation.source_id):
        sentences = [Sentence(fact.text, (fact.citation,)) for fact in page]
        if paragraphs and len(paragraphs[-1]) < _PARAGRAPH:
            paragraphs[-1] += sentences
        else:
            paragraphs.append(sentences)
    if len(paragraphs) > 1 and len(paragraphs[-1]) < _PARAGRAPH:
        last = paragraphs.pop()
        paragraphs[-1] += last
    return tuple(Paragraph(tuple(paragraph)) for paragraph in paragraphs)
