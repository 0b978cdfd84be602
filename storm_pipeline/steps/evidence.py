"""Which facts each section is written from (paper section 3.4): retrieved by heading and subheadings, then shared out.

The paper lets every section retrieve by itself and deletes the repetition afterwards. Here a fact that several sections
retrieve is shown to one of them alone, so most repetition never arises.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from storm_pipeline.context import RunContext
from storm_pipeline.references.facts import Fact, facts_of
from storm_pipeline.types import Heading, Outline

LEAST_RELEVANCE = 0.5
"""Least cosine of a fact to ``topic: heading``, as a share of the best one in the article; below it lies what merely
shares a word. A share, since the range of cosines differs from embedder to embedder."""
FITTING = 0.8
"""A section may take a fact whose relevance to it is at least this share of that to the section it fits best."""


@dataclass(frozen=True)
class SectionEvidence:
    """A section's heading and the facts that it may use."""

    heading: Heading
    facts: tuple[Fact, ...]


def gather_evidence(ctx: RunContext, outline: Outline) -> list[SectionEvidence]:
    """Retrieve for every first-level section and share the facts out, in the order of the outline."""
    needs = [[f"{outline.topic}: {title}" for title in section.titles()] for section in outline.sections]
    pools = [_pool(ctx, need) for need in needs]
    distinct = list({fact.text.casefold(): fact for pool in pools for fact in pool}.values())
    if not distinct:
        return [SectionEvidence(section, ()) for section in outline.sections]
    relevance = _relevance(ctx, needs, pools, distinct)
    shared = _share_out(relevance, ctx.settings.section_facts)
    return [
        SectionEvidence(section, _in_reading_order(distinct, chosen))
        for section, chosen in zip(outline.sections, shared, strict=True)
    ]


def _pool(ctx: RunContext, need: Sequence[str]) -> list[Fact]:
    return [
        fact for snippet in ctx.store.search_fused(need, ctx.settings.section_snippets) for fact in facts_of(snippet)
    ]


def _relevance(
    ctx: RunContext, needs: Sequence[Sequence[str]], pools: Sequence[Sequence[Fact]], facts: Sequence[Fact]
) -> npt.NDArray[np.float32]:
    """Sections × facts: cosine to the section's nearest heading; -1 where the section did not retrieve the fact."""
    vectors = ctx.store.embed([f"{fact.title}: {fact.text}" for fact in facts])
    rows = []
    for need, pool in zip(needs, pools, strict=True):
        retrieved = {fact.text.casefold() for fact in pool}
        nearest = (ctx.store.embed(need) @ vectors.T).max(axis=0)
        rows.append(np.where([fact.text.casefold() in retrieved for fact in facts], nearest, -1.0))
    return np.asarray(rows, dtype=np.float32)


def _share_out(relevance: npt.NDArray[np.float32], limit: int) -> list[list[int]]:
    """Columns of the matrix given to its rows: in turns each section takes the fact that it needs most.

    A section may take what is relevant enough and fits no other section far better. So a section whose headings
    resemble everything does not starve its neighbours.
    """
    eligible = (relevance >= LEAST_RELEVANCE * relevance.max()) & (relevance >= FITTING * relevance.max(axis=0))
    wishes = [
        iter([i for i in np.argsort(-row, kind="stable") if ok[i]]) for row, ok in zip(relevance, eligible, strict=True)
    ]
    chosen: list[list[int]] = [[] for _ in wishes]
    taken: set[int] = set()
    for _ in range(limit):
        for own, wish in zip(chosen, wishes, strict=True):
            fact = next((i for i in wish if i not in taken), None)
            if fact is not None:
                own.append(fact)
                taken.add(fact)
    return chosen


def _in_reading_order(facts: Sequence[Fact], chosen: Sequence[int]) -> tuple[Fact, ...]:
    """The chosen facts, most relevant first; those of one source together, in the order in which it tells them."""
    first: dict[str, int] = {}
    for rank, i in enumerate(chosen):
        first.setdefault(facts[i].citation.source_id, rank)
    return tuple(facts[i] for i in sorted(chosen, key=lambda i: (first[facts[i].citation.source_id], i)))
