"""Sentences of sources for an extract: which may be told, in which groups, in what order, and as cited paragraphs."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np

from storm_pipeline.references.facts import Fact, facts_of
from storm_pipeline.references.store import ReferenceStore
from storm_pipeline.references.subject import Subject, related
from storm_pipeline.search.registry import is_own
from storm_pipeline.text.words import word_count
from storm_pipeline.types import Heading, Paragraph, Sentence, Snippet

SHORTEST = 5
"""Words of a sentence that may be told; what has fewer is mostly a heading."""
_PARAGRAPH = 3  # sentences of a paragraph at least, where there are as many


@dataclass(frozen=True)
class Candidate:
    """A sentence of a source that an article may tell."""

    fact: Fact
    place: tuple[int, int]  # number of its snippet, and of the sentence in it
    opening: Fact  # the first sentence of its page that may be told, itself where that is not found whole
    nearness: float  # to the topic, in [-1, 1]


def sentences_of(snippet: Snippet) -> list[Fact]:
    """Return the sentences of a snippet, in order, without headings in Markdown."""
    return [fact for fact in facts_of(snippet) if not fact.text.startswith("#")]


def candidates(store: ReferenceStore, subject: Subject, snippets: Sequence[Snippet]) -> tuple[Candidate, ...]:
    """Return the sentences that may be told of related pages, nearest first, the subject's own page left out.

    Each text stands there once. A sentence of a page that was found as one passage has that passage's first sentence
    as its opening; it is as near to the topic as both are on average, since what a page is about tells more than the
    sentence alone.
    """
    rows: dict[str, tuple[Fact, tuple[int, int], Fact]] = {}
    pages = Counter(snippet.source_id for snippet in snippets)
    for number, snippet in enumerate(_nearest_to_own(store, subject, related(subject, snippets, store))):
        told = _on_topic(subject, snippet)
        for i, fact in enumerate(told):
            rows.setdefault(fact.text, (fact, (number, i), told[0] if pages[snippet.source_id] == 1 else fact))
    if not rows:
        return ()
    texts, openings = zip(*((fact.in_context, opening.in_context) for fact, _, opening in rows.values()), strict=True)
    vectors = store.embed([subject.described, *texts, *openings])
    near = (vectors[1:] @ vectors[0]).reshape(2, -1).mean(axis=0)
    found = (Candidate(*row, float(cosine)) for row, cosine in zip(rows.values(), near, strict=True))
    return tuple(sorted(found, key=lambda one: -one.nearness))


def _nearest_to_own(store: ReferenceStore, subject: Subject, related: Sequence[Snippet]) -> list[Snippet]:
    """Return the passages, without the topic's own page, whose opening is nearer to that page than to any other page.

    Pages with the topic's name in their title stand aside: two of them on its parts are near to each other. The user's
    own documents are all there; so is everything where the topic is a proper name, or has no page of its own.
    """
    passages = [one for one in related if sentences_of(one)]
    own = np.array([one.source_id in subject.own for one in passages])
    if own.any() and not subject.proper:
        pages = np.array([one.source_id for one in passages])
        aside = ~own & [subject.named_apart(one.title) for one in passages]
        vectors = store.embed([sentences_of(one)[0].in_context for one in passages])
        nearest = np.where(aside | (pages[:, None] == pages), -1, vectors @ vectors.T).argmax(axis=1)
        near = own[nearest] | [is_own(one.engine) for one in passages]
        passages = [one for one, stays in zip(passages, near, strict=True) if stays]
    return [one for one in passages if one.source_id not in subject.own]


def _on_topic(subject: Subject, snippet: Snippet) -> list[Fact]:
    """Return those of a passage's sentences that a reader of an article on the subject expects there.

    All of the user's own documents, which are on the topic. Of others, those that name it or whose page's title does;
    where it has a page of its own, only if the first names it, and another or the title: all that do if it is a proper
    name, else the first alone.
    """
    facts = [fact for fact in sentences_of(snippet) if word_count(fact.text) >= SHORTEST]
    if is_own(snippet.engine):
        return facts
    if not subject.own:
        return [fact for fact in facts if subject.named_in(fact.in_context)]
    named = [fact for fact in facts if subject.named_apart(fact.text, fact.title)]
    again = named[1:] or subject.named_apart(snippet.title)
    if named[:1] != facts[:1] or not again or not subject.meant_in(snippet.text):
        return []
    return named if subject.proper else named[:1]


def by_title(
    store: ReferenceStore, subject: Subject, found: Sequence[Candidate], number: int
) -> dict[str, list[Candidate]]:
    """Return title of the nearest page → candidates, in up to ``number`` groups of like passages, the nearest first.

    Groups whose nearest pages have equal titles are one; of pages without titles the topic stands for them.
    """
    groups: dict[str, list[Candidate]] = {}
    for own in _in_groups(store, found, number):
        title = next((one.fact.title for one in own if one.fact.title), subject.topic)
        known = next((other for other in groups if other.casefold() == title.casefold()), title)
        groups.setdefault(known, []).extend(own)
    return groups


def _in_groups(store: ReferenceStore, found: Sequence[Candidate], number: int) -> list[list[Candidate]]:
    """Return the candidates in groups of like passages by k-means, the nearest to the topic first.

    A group of fewer sentences than a paragraph has joins the likest other one; of all numbers of groups, that is taken
    which leaves most of them.
    """
    from sklearn.cluster import KMeans

    if not found or not number:
        return []
    vectors = store.embed([one.fact.in_context for one in found])
    passages = np.array([one.place[0] for one in found])
    places = np.unique(passages)
    means = np.stack([vectors[passages == place].mean(axis=0) for place in places])
    divided = []
    for wanted in range(min(number, len(places)), 1, -1):
        fitted = KMeans(wanted, n_init=10, random_state=0).fit(means)
        group = fitted.labels_[np.searchsorted(places, passages)]
        centres = fitted.cluster_centers_
        for small in sorted(range(wanted), key=lambda n: (group == n).sum()):
            others = [n for n in np.unique(group) if n != small]
            if (group == small).sum() < _PARAGRAPH and others:
                group[group == small] = min(others, key=lambda n: float(np.linalg.norm(centres[n] - centres[small])))
        divided.append([[found[i] for i in np.flatnonzero(group == n).tolist()] for n in np.unique(group)])
    best = max(divided, key=len, default=[list(found)])
    return sorted(best, key=lambda own: -sum(one.nearness for one in own) / len(own))


def by_heading(
    store: ReferenceStore, subject: Subject, headings: Sequence[Heading], found: Sequence[Candidate]
) -> dict[str, list[Candidate]]:
    """Return title of each heading → its candidates, in their order: passages go to their nearest heading.

    Nearest is whose cosine is highest above its mean, so that no heading attracts what is near to the topic alone.
    """
    shares: dict[str, list[Candidate]] = {heading.title: [] for heading in headings}
    if not found:
        return shares
    titles = [f"{subject.topic}: {'; '.join(heading.titles())}" for heading in headings]
    vectors = store.embed([*titles, *(one.fact.in_context for one in found)])
    nearness = vectors[len(titles) :] @ vectors[: len(titles)].T  # candidates × headings
    above = nearness - nearness.mean(axis=0)
    passages = np.array([one.place[0] for one in found])
    best = [above[passages == number].mean(axis=0).argmax() for number in passages]
    for one, own in zip(found, best, strict=True):
        shares[headings[own].title].append(one)
    return shares


def in_order(chosen: Iterable[Candidate]) -> list[Fact]:
    """Return the sentences, the nearest passage first, each behind the opening of its page, which says what it is."""
    passages: dict[int, list[Candidate]] = {}
    for one in chosen:
        passages.setdefault(one.place[0], []).append(one)
    ordered = sorted(passages.values(), key=lambda own: -max(one.nearness for one in own))
    told = (one for own in ordered for one in sorted(own, key=lambda one: one.place))
    return list({fact.text: fact for one in told for fact in (one.opening, one.fact)}.values())


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
    return tuple(Paragraph(tuple(own)) for own in paragraphs)
