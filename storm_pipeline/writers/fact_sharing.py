"""Which facts each section is written from (paper section 3.4): retrieved by heading and subheadings, then shared out.

The paper lets every section retrieve by itself and deletes the repetition afterwards. Here a fact that several sections
retrieve is shown to one of them alone, so most repetition never arises.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from itertools import chain

import numpy as np
import numpy.typing as npt

from storm_pipeline.references.evidence import FactEvidence
from storm_pipeline.references.facts import Fact, facts_of, names_topic, shared_stems, without_topic
from storm_pipeline.run.context import RunContext
from storm_pipeline.types import Outline

Matrix = npt.NDArray[np.float32]
LEAST_FIT = 0.3
"""Least fit of a fact to a section, as a share of the best one in the article; below it lies what merely shares
a word. A share, since the range of cosines differs from embedder to embedder."""
FITTING = 0.8
"""A section may take a fact whose fit to it is at least this share of that to the section it fits best."""
ON_TOPIC = 0.6
"""A fact that does not name the topic is about it if its cosine to it is at least this share of the best one's."""
PASSAGE_ON_TOPIC = 0.3
"""A passage is about the topic if the mean cosine of its facts is at least this share of the best passage's."""
TOLD = 0.8
"""A fact that has at least this share of its content words from the article's opening is told with that."""
PER_SOURCE = 1 / 3
"""Share of a section's facts that one source may give it, at least two: a section is no summary of one page."""


def share_facts(
    ctx: RunContext,
    outline: Outline,
    *,
    usable: Callable[[str], bool] = bool,
    told: Fact | None = None,
) -> tuple[FactEvidence, ...]:
    """Retrieve for every first-level section and share the facts out, in the order of the outline.

    Args:
        ctx: the run.
        outline: of the article.
        usable: tells of a fact's text whether the writer can use it.
        told: a fact that is told elsewhere; what says little more than it is given to no section.
    """
    topic = outline.topic
    needs = [[f"{topic}: {title}" for title in section.titles()] for section in outline.sections]
    ctx.store.embed(list(chain(*needs)))  # in one batch; each search remembers its own
    found = [ctx.store.search_fused(need, ctx.settings.section_snippets) for need in needs]
    snippets = {snippet.id: snippet for own in found for snippet in own}
    distinct = {fact.text.casefold(): fact for s in snippets.values() for fact in facts_of(s) if usable(fact.text)}
    facts = [
        fact
        for fact in _on_topic(ctx, topic, list(distinct.values()))
        if not told or shared_stems(fact.text, told.text) < TOLD
    ]
    if not facts:
        return tuple(FactEvidence(section, ()) for section in outline.sections)
    own_ids = [{snippet.id for snippet in own} for own in found]
    retrieved = np.array([[fact.citation.snippet_id in ids for fact in facts] for ids in own_ids])
    fit, relevance = _likeness(ctx, outline, facts)
    sources = [fact.citation.source_id for fact in facts]
    eligible = np.where(retrieved, fit, np.float32(-1))
    shared = _share_out(eligible, relevance, ctx.settings.section_facts, sources)
    return tuple(
        FactEvidence(section, _in_reading_order(facts, chosen))
        for section, chosen in zip(outline.sections, shared, strict=True)
    )


def _on_topic(ctx: RunContext, topic: str, facts: Sequence[Fact]) -> list[Fact]:
    """The facts that are about the topic: they are like it or name it, and so does their passage.

    What a heading alone brings in (any machine for "Technology"), or a page that mentions the topic in passing (of
    whom died of a disease), is true and out of place.
    """
    if not facts:
        return []
    likeness = ctx.store.embed([fact.in_context for fact in facts]) @ ctx.store.embed([topic])[0]
    by_passage: dict[str, list[float]] = {}
    for fact, own in zip(facts, likeness, strict=True):
        by_passage.setdefault(fact.citation.snippet_id, []).append(float(own))
    passages = {snippet: sum(own) / len(own) for snippet, own in by_passage.items()}
    least, least_passage = ON_TOPIC * likeness.max(), PASSAGE_ON_TOPIC * max(passages.values())
    return [
        fact
        for fact, own in zip(facts, likeness, strict=True)
        if passages[fact.citation.snippet_id] >= least_passage
        and (own >= least or names_topic(f"{fact.title} {fact.text}", topic))
    ]


def _likeness(ctx: RunContext, outline: Outline, facts: Sequence[Fact]) -> tuple[Matrix, Matrix]:
    """How well each fact fits each section, and how relevant it is to it; both sections × facts.

    A fact's fit is its cosine to the section's heading and its nearest one, plus half of what sets it above the other
    sections'; its relevance is that plus half of the cosine to the topic. The headings are read without the topic,
    which would make every fact alike to every one of them.
    """
    vectors = ctx.store.embed([fact.in_context for fact in facts])
    titles = [[without_topic(outline.topic, title) for title in section.titles()] for section in outline.sections]
    ctx.store.embed(list(chain(*titles)))  # as above
    rows = []
    for own in titles:
        bare = ctx.store.embed(own) @ vectors.T
        rows.append((bare[0] + bare.max(axis=0)) / 2)
    likeness = np.asarray(rows, dtype=np.float32)
    about: Matrix = vectors @ ctx.store.embed([outline.topic])[0]
    fit: Matrix = np.asarray(likeness + (likeness - likeness.mean(axis=0)) / 2, dtype=np.float32)
    relevance: Matrix = np.asarray(fit + about / 2, dtype=np.float32)
    return fit, relevance


def _share_out(fit: Matrix, relevance: Matrix, limit: int, sources: Sequence[str]) -> list[list[int]]:
    """Columns of the matrix given to its rows: in turns each section takes the fact that it needs most.

    A section may take what fits it well enough and no other section far better, and so much of each source; of that it
    takes the most relevant first. So a section whose headings resemble everything does not starve its neighbours.

    Args:
        fit: sections × facts.
        relevance: sections × facts.
        limit: facts a section at most.
        sources: of each fact.
    """
    most = max(2, round(limit * PER_SOURCE))
    eligible = (fit >= LEAST_FIT * fit.max()) & (fit >= FITTING * fit.max(axis=0))
    needs = zip(relevance, eligible, strict=True)
    wishes = [iter([i for i in np.argsort(-row, kind="stable") if ok[i]]) for row, ok in needs]
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
