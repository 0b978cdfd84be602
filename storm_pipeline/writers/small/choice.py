"""Candidates among the sentences of what was found: which are told, under which heading, and in what order."""

from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np

from storm_pipeline.references.facts import Fact, facts_of
from storm_pipeline.references.subject import Subject, related
from storm_pipeline.run.context import RunContext
from storm_pipeline.search.registry import is_own
from storm_pipeline.text.words import word_count
from storm_pipeline.types import Heading, Snippet
from storm_pipeline.writers.small.evidence import Candidate
from storm_pipeline.writers.small.paragraphs import PARAGRAPH, distinct

SHORTEST = 5
"""Words of a sentence that may be told; what has fewer is mostly a heading (`storm_benchmarks.embedded_choice`)."""


def candidates(ctx: RunContext, subject: Subject, snippets: Sequence[Snippet]) -> tuple[Candidate, ...]:
    """Return the sentences that may be told of related pages, nearest first, the subject's own page left out.

    They name the topic, or their page's title does; of the user's own documents, which are on the topic, all may be
    told. Each text stands there once. A sentence of a page that was found as one passage has that passage's first
    sentence as its opening; it is as near to the topic as both are on average, since what a page is about tells more
    than the sentence alone (`storm_benchmarks.embedded_choice`).
    """
    rows: dict[str, tuple[Fact, tuple[int, int], Fact]] = {}
    pages = Counter(snippet.source_id for snippet in snippets)
    for number, snippet in enumerate(related(subject, snippets, ctx.store)):
        if snippet.source_id not in subject.own:
            facts = [fact for fact in facts_of(snippet) if word_count(fact.text) >= SHORTEST]
            for i, fact in enumerate(facts):
                if not (is_own(snippet.engine) or subject.named_in(fact.in_context)):
                    continue
                opening = facts[0] if pages[snippet.source_id] == 1 else fact
                rows.setdefault(fact.text, (fact, (number, i), opening))
    if not rows:
        return ()
    told, openings = zip(*((fact.in_context, opening.in_context) for fact, _, opening in rows.values()), strict=True)
    vectors = ctx.store.embed([subject.described, *told, *openings])
    near = (vectors[1:] @ vectors[0]).reshape(2, -1).mean(axis=0)
    found = (Candidate(*row, float(cosine)) for row, cosine in zip(rows.values(), near, strict=True))
    return tuple(sorted(found, key=lambda one: -one.nearness))


def in_groups(ctx: RunContext, found: Sequence[Candidate], number: int) -> list[tuple[Candidate, ...]]:
    """Return the candidates in up to ``number`` groups of like passages by k-means, the nearest to the topic first.

    A group of fewer sentences than a paragraph has joins the likest other one; of all numbers of groups, that is taken
    which leaves most of them.
    """
    from sklearn.cluster import KMeans

    if not found:
        return []
    vectors = ctx.store.embed([one.fact.in_context for one in found])
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
            if (group == small).sum() < PARAGRAPH and others:
                group[group == small] = min(others, key=lambda n: float(np.linalg.norm(centres[n] - centres[small])))
        divided.append([tuple(found[i] for i in np.flatnonzero(group == n).tolist()) for n in np.unique(group)])
    best = max(divided, key=len, default=[tuple(found)])
    return sorted(best, key=lambda own: -sum(one.nearness for one in own) / len(own))


def by_heading(
    ctx: RunContext, subject: Subject, headings: Sequence[Heading], found: Sequence[Candidate]
) -> list[tuple[Candidate, ...]]:
    """Return the candidates of each heading, in their order: passages go to their nearest heading.

    Nearest is whose cosine is highest above its mean, so that no heading attracts what is near to the topic alone.
    """
    if not headings or not found:
        return [()] * len(headings)
    titles = [f"{subject.topic}: {'; '.join(heading.titles())}" for heading in headings]
    vectors = ctx.store.embed([*titles, *(one.fact.in_context for one in found)])
    nearness = vectors[len(titles) :] @ vectors[: len(titles)].T  # candidates × headings
    above = nearness - nearness.mean(axis=0)
    passages = np.array([one.place[0] for one in found])
    best = [above[passages == number].mean(axis=0).argmax() for number in passages]
    return [tuple(one for one, own in zip(found, best, strict=True) if own == j) for j in range(len(titles))]


def in_order(chosen: Iterable[Candidate]) -> list[Fact]:
    """Return the sentences, the nearest passage first, each behind the opening of its page, which says what it is."""
    passages: dict[int, list[Candidate]] = {}
    for one in chosen:
        passages.setdefault(one.place[0], []).append(one)
    ordered = sorted(passages.values(), key=lambda own: -max(one.nearness for one in own))
    told = (one for own in ordered for one in sorted(own, key=lambda one: one.place))
    return distinct(fact for one in told for fact in (one.opening, one.fact))
