"""Which facts each section is written from (paper section 3.4): retrieved by heading and subheadings, then shared out.

The paper lets every section retrieve by itself and deletes the repetition afterwards. Here a fact that several sections
retrieve is shown to one of them alone, so most repetition never arises.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from storm_pipeline.context import RunContext
from storm_pipeline.references.facts import Fact, facts_of, stem_set
from storm_pipeline.steps.searching import search_all
from storm_pipeline.types import Heading, Outline

LEAST_RELEVANCE = 0.5
"""Least relevance of a fact to a section, as a share of the best one in the article; below it lies what merely shares
a word. A share, since the range of cosines differs from embedder to embedder."""
FITTING = 0.92
"""A section may take a fact whose relevance to it is at least this share of that to the section it fits best."""
PER_SOURCE = 1 / 3
"""Share of a section's facts that one source may give it, at least two: a section is no summary of one page."""
OFF_TOPIC = 0.6
"""What the relevance of a fact is multiplied by when it and its title speak of less than half of the topic's words."""
FEW_FACTS = 4
"""A section with fewer gets a search of its own: the interviews passed it by."""


@dataclass(frozen=True)
class SectionEvidence:
    """A section's heading and the facts that it may use."""

    heading: Heading
    facts: tuple[Fact, ...]


def fill_gaps(ctx: RunContext, outline: Outline, evidence: Sequence[SectionEvidence]) -> list[SectionEvidence]:
    """The evidence, after a search for each section that has too little of it.

    The paper has no such step: there a section that the interviews passed by is written from what is left over.
    """
    lacking = [own.heading.title for own in evidence if len(own.facts) < FEW_FACTS]
    if not lacking:
        return list(evidence)
    ctx.store.add(search_all(ctx, [f"{outline.topic} {title}" for title in lacking]))
    return gather_evidence(ctx, outline)


def gather_evidence(ctx: RunContext, outline: Outline) -> list[SectionEvidence]:
    """Retrieve for every first-level section and share the facts out, in the order of the outline."""
    topic = outline.topic
    found = [
        ctx.store.search_fused([f"{topic}: {title}" for title in section.titles()], ctx.settings.section_snippets)
        for section in outline.sections
    ]
    snippets = {snippet.id: snippet for own in found for snippet in own}
    facts = list({fact.text.casefold(): fact for s in snippets.values() for fact in facts_of(s)}.values())
    if not facts:
        return [SectionEvidence(section, ()) for section in outline.sections]
    weight = np.array([1.0 if _speaks_of(fact, topic) else OFF_TOPIC for fact in facts], dtype=np.float32)
    own_ids = [{snippet.id for snippet in own} for own in found]
    retrieved = np.array([[fact.citation.snippet_id in ids for fact in facts] for ids in own_ids])
    relevance = np.where(retrieved, _likeness(ctx, outline, facts) * weight, np.float32(-1))
    shared = _share_out(relevance, ctx.settings.section_facts, [fact.citation.source_id for fact in facts])
    return [
        SectionEvidence(section, _in_reading_order(facts, chosen))
        for section, chosen in zip(outline.sections, shared, strict=True)
    ]


def _speaks_of(fact: Fact, topic: str) -> bool:
    """Whether title and text together have at least half of the topic's content words."""
    wanted = stem_set(topic)
    return 2 * len(wanted & stem_set(f"{fact.title} {fact.text}")) >= len(wanted)


def _likeness(ctx: RunContext, outline: Outline, facts: Sequence[Fact]) -> npt.NDArray[np.float32]:
    """Sections × facts: cosine to the section's heading and its nearest one, with and without the topic, averaged."""
    vectors = ctx.store.embed([f"{fact.title}: {fact.text}" for fact in facts])
    rows = []
    for section in outline.sections:
        titles = list(section.titles())
        named = ctx.store.embed([f"{outline.topic}: {title}" for title in titles]) @ vectors.T
        bare = ctx.store.embed(titles) @ vectors.T
        both = (named + bare) / 2
        rows.append((both[0] + both.max(axis=0)) / 2)
    return np.asarray(rows, dtype=np.float32)


def _share_out(relevance: npt.NDArray[np.float32], limit: int, sources: Sequence[str]) -> list[list[int]]:
    """Columns of the matrix given to its rows: in turns each section takes the fact that it needs most.

    A section may take what is relevant enough and fits no other section far better, and so much of each source. So a
    section whose headings resemble everything does not starve its neighbours.

    Args:
        relevance: sections × facts.
        limit: facts a section at most.
        sources: of each fact.
    """
    most = max(2, round(limit * PER_SOURCE))
    eligible = (relevance >= LEAST_RELEVANCE * relevance.max()) & (relevance >= FITTING * relevance.max(axis=0))
    wishes = [
        iter([i for i in np.argsort(-row, kind="stable") if ok[i]]) for row, ok in zip(relevance, eligible, strict=True)
    ]
    chosen: list[list[int]] = [[] for _ in wishes]
    taken: set[int] = set()
    for _ in range(limit):
        for own, wish in zip(chosen, wishes, strict=True):
            drawn = Counter(sources[i] for i in own)
            fact = next((i for i in wish if i not in taken and drawn[sources[i]] < most), None)
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
