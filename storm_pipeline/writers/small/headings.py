"""Headings that a model gives to groups of sentences."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np

from storm_pipeline.concurrency import parallel_map
from storm_pipeline.errors import ModelError
from storm_pipeline.run.context import RunContext
from storm_pipeline.text.outlines import outline_from_headings
from storm_pipeline.types import Body, Heading, Paragraph, Section
from storm_pipeline.writers.small.evidence import Candidate, SentenceEvidence


def named(ctx: RunContext, topic: str, groups: Sequence[Sequence[Candidate]]) -> tuple[SentenceEvidence, ...]:
    """Return the groups under the model's headings, which sees the titles of their pages, each under the likest one.

    Where the model names none for a group, the title of its nearest page is the heading, which is recorded; groups of
    the same heading are one. Raises ModelAuthError: the endpoint refuses the key.
    """
    titles = [list(filter(None, dict.fromkeys(one.fact.title for one in group))) for group in groups]
    shown = "\n".join(f"{n}. {'; '.join(own[: ctx.settings.section_facts])}" for n, own in enumerate(titles, 1))
    given: Sequence[str] = ()
    why = "the model named too few"
    try:
        given = ctx.ask("outliner", ctx.programs.groups, topic=topic, groups=shown).headings if groups else ()
    except ModelError as error:
        why = str(error)
    headings = outline_from_headings(((1, title.strip(" .,;:")) for title in given), topic).sections
    matched = _matched(ctx, headings, groups)
    if len(matched) < len(groups):
        ctx.events.degraded(f"{'some of ' if matched else ''}the headings are titles of sources: {why}")
    found: dict[str, SentenceEvidence] = {}
    for n, (own, group) in enumerate(zip(titles, groups, strict=True)):
        heading = matched.get(n) or Heading(next(iter(own), topic))
        before = found.get(heading.title.casefold(), SentenceEvidence(heading, room=0))
        joined = replace(before, candidates=(*before.candidates, *group), room=before.room + 1)
        found[heading.title.casefold()] = joined
    return tuple(found.values())


def _matched(ctx: RunContext, headings: Sequence[Heading], groups: Sequence[Sequence[Candidate]]) -> dict[int, Heading]:
    """Return number of a group → its heading, so that they are as alike as can be: a small model mixes up the order."""
    if not headings or not groups:
        return {}
    from scipy.optimize import linear_sum_assignment

    vectors = ctx.store.embed([heading.title for heading in headings])
    means = np.stack([ctx.store.embed([one.fact.in_context for one in group]).mean(axis=0) for group in groups])
    likeness = (means - means.mean(axis=0)) @ (vectors - vectors.mean(axis=0)).T
    return {int(n): headings[i] for n, i in zip(*linear_sum_assignment(likeness, maximize=True), strict=True)}


def with_headings(ctx: RunContext, topic: str, groups: Sequence[Sequence[Paragraph]]) -> Body:
    """The groups as sections, each under the model's heading for its sentences.

    A group joins the one before it, or the lead, if the model has no usable heading for it, and the section of the same
    heading if there is one. Failures of the model are recorded. Raises ModelAuthError: the endpoint refuses the key.
    """

    def suggested(group: Sequence[Paragraph]) -> str:
        texts = [sentence.text for paragraph in group for sentence in paragraph.sentences]
        return _suggested(ctx, topic, texts, f"heading for {texts[0]!r}")

    sections: dict[str, list[Paragraph]] = {"": []}
    last = ""
    for group, heading in zip(groups, parallel_map(suggested, groups, workers=len(groups)), strict=True):
        last = next((known for known in sections if known.casefold() == heading.casefold()), heading) or last
        sections.setdefault(last, []).extend(group)
    lead = tuple(sections.pop(""))
    return Body(lead, tuple(Section(title, tuple(own)) for title, own in sections.items()))


def even_groups(paragraphs: Sequence[Paragraph], most: int) -> list[Sequence[Paragraph]]:
    """The paragraphs in order, in ``most`` groups of almost equal number, or one group each if there are fewer."""
    number = min(most, len(paragraphs))
    cuts = [i * len(paragraphs) // number for i in range(number + 1)] if number else []
    return [paragraphs[start:end] for start, end in pairwise(cuts)]


def _suggested(ctx: RunContext, topic: str, texts: Sequence[str], what: str) -> str:
    """Return the model's heading for the sentences; empty if it fails or the heading is unusable."""
    try:
        reply = ctx.ask("writer", ctx.programs.heading, topic=topic, sentences="\n".join(texts)).heading
    except ModelError as error:
        ctx.events.failed(what, error)
        return ""
    found = outline_from_headings([(1, reply.strip(' .,;:*"“”'))], topic).sections
    return found[0].title if found else ""
