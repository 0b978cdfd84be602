"""Candidates among the sentences of what was found, and the model's choice among them."""

from collections import Counter
from collections.abc import Sequence
from statistics import median

import numpy as np

from storm_pipeline.concurrency import parallel_map
from storm_pipeline.errors import ModelAuthError, ModelError
from storm_pipeline.models.probabilities import probabilities
from storm_pipeline.references.facts import Fact, facts_of
from storm_pipeline.references.subject import Subject, related
from storm_pipeline.run.context import RunContext
from storm_pipeline.text.words import word_count
from storm_pipeline.types import Heading, Snippet
from storm_pipeline.writers.small.evidence import Candidate
from storm_pipeline.writers.small.paragraphs import distinct

SHORTEST = 5
"""Words of a sentence that may be told; what has fewer is mostly a heading (`storm_benchmarks.embedded_choice`)."""


def candidates(ctx: RunContext, subject: Subject, snippets: Sequence[Snippet]) -> tuple[Candidate, ...]:
    """Return the sentences that may be told of related pages, the subject's own page left out, each text once.

    A sentence of a page that was found as one passage has that passage's first sentence as its opening.
    """
    rows: dict[str, tuple[Fact, tuple[int, int], Fact]] = {}
    pages = Counter(snippet.source_id for snippet in snippets)
    for number, snippet in enumerate(related(subject, snippets, ctx.store)):
        if snippet.source_id not in subject.own:
            facts = [fact for fact in facts_of(snippet) if word_count(fact.text) >= SHORTEST]
            for i, fact in enumerate(facts):
                opening = facts[0] if pages[snippet.source_id] == 1 else fact
                rows.setdefault(fact.text, (fact, (number, i), opening))
    if not rows:
        return ()
    vectors = ctx.store.embed([subject.described, *(fact.in_context for fact, _, _ in rows.values())])
    near = vectors[1:] @ vectors[0]
    return tuple(Candidate(*row, float(cosine)) for row, cosine in zip(rows.values(), near, strict=True))


def by_heading(
    ctx: RunContext, subject: Subject, headings: Sequence[Heading], found: Sequence[Candidate], most: int
) -> list[tuple[Candidate, ...]]:
    """Return at most ``most`` candidates of each heading, nearest first: passages go to their nearest heading.

    Nearest is whose cosine is highest above its mean, so that no heading attracts what is near to the topic alone.
    """
    if not headings or not found:
        return [()] * len(headings)
    titles = [f"{subject.topic}: {'; '.join(heading.titles())}" for heading in headings]
    vectors = ctx.store.embed([*titles, *(one.fact.in_context for one in found)])
    nearness = vectors[len(titles) :] @ vectors[: len(titles)].T  # candidates × headings
    above = nearness - nearness.mean(axis=0)
    passages = np.array([one.place[0] for one in found])
    best = np.array([above[passages == number].mean(axis=0).argmax() for number in passages])
    ranked = [[i for i in np.argsort(-nearness[:, j], kind="stable") if best[i] == j] for j in range(len(titles))]
    return [tuple(found[i] for i in order[:most]) for order in ranked]


def chosen(ctx: RunContext, subject: Subject, offered: Sequence[Candidate]) -> list[Fact]:
    """Return the sentences to tell, the best passage first: the better half of those that the model says matter.

    The mean of nearness to the topic and the model's probability of yes decides which half is better, since small
    models say yes to nearly everything and differ in how surely. A model without probabilities is taken at its word.
    Of what it does not judge, the nearer half is told, and that is recorded. The opening of a page, which says what
    that is about, stands before its others. Raises ModelAuthError: the endpoint refuses the key.
    """
    judged = parallel_map(lambda one: _judged(ctx, subject, one), offered, workers=len(offered) or 1)
    if unread := judged.count(None):
        ctx.events.degraded(
            f"{unread} sentences were chosen by nearness to the topic alone: the model did not judge them"
        )
    passages: dict[int, list[tuple[float, Candidate]]] = {}
    for own in (
        [(1 + one.nearness, one) for one, p in zip(offered, judged, strict=True) if p == 1],
        _better_half([(p + one.nearness, one) for one, p in zip(offered, judged, strict=True) if p and p < 1]),
        _better_half([(one.nearness, one) for one, p in zip(offered, judged, strict=True) if p is None]),
    ):
        for score, one in own:
            passages.setdefault(one.place[0], []).append((score, one))
    ordered = sorted(passages.values(), key=lambda own: -max(score for score, _ in own))
    told = (one for own in ordered for _, one in sorted(own, key=lambda scored: scored[1].place))
    return distinct(fact for one in told for fact in (one.opening, one.fact))


def _better_half(scored: list[tuple[float, Candidate]]) -> list[tuple[float, Candidate]]:
    middle = median(score for score, _ in scored) if scored else 0.0
    return [own for own in scored if own[0] >= middle]


def _judged(ctx: RunContext, subject: Subject, one: Candidate) -> float | None:
    """Return the model's probability that a sentence matters: 0 if it says no, 1 for a plain yes, None if it fails."""
    try:
        reply = ctx.ask("writer", ctx.programs.choose, topic=subject.described, sentence=one.fact.in_context)
    except ModelAuthError:
        raise
    except ModelError:
        return None
    yes, no = probabilities(reply.get("logprobs"), reply.matters, ("yes", "no")).values()
    if reply.matters == "no":
        return 0.0
    return yes / (yes + no) if yes + no else 1.0
