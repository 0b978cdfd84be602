"""Assigns facts to sections (paper section 3.4): retrieved by heading and subheadings, then divided among sections.

In the paper, sections retrieve independently and repetition is deleted afterwards. Here a fact that several sections
retrieve is assigned to only one of them, which avoids most repetition.
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
"""Minimum fit of a fact to a section, as a share of the best fit in the article; facts below it merely share a word.
Relative, since the range of cosines differs between embedders."""
FITTING = 0.8
"""A section may take a fact whose fit is at least this share of the fact's best fit to any section."""
ON_TOPIC = 0.6
"""A fact that does not name the topic is on topic if its cosine to it is at least this share of the best cosine."""
PASSAGE_ON_TOPIC = 0.3
"""A passage is on topic if the mean cosine of its facts is at least this share of the best passage's."""
IN_OPENING = 0.8
"""A fact repeats the opening fact if at least this share of its content words occurs there."""
PER_SOURCE = 1 / 3
"""Maximum share of a section's facts from one source, but at least two facts: a section should not summarise a page."""


def share_facts(
    ctx: RunContext,
    outline: Outline,
    *,
    usable: Callable[[str], bool] = bool,
    opening: Fact | None = None,
) -> tuple[FactEvidence, ...]:
    """Retrieve facts for every first-level section and divide them among the sections, in outline order.

    Args:
        ctx: the run.
        outline: of the article.
        usable: whether the writer can use a fact with this text.
        opening: the fact that opens the lead; facts that add little to it are assigned to no section.
    """
    topic = outline.topic
    needs = [[f"{topic}: {title}" for title in section.titles()] for section in outline.sections]
    ctx.store.embed(list(chain(*needs)))  # one batch; the searches then use the cached vectors
    found = [ctx.store.search_fused(need, ctx.settings.section_snippets) for need in needs]
    snippets = {snippet.id: snippet for results in found for snippet in results}
    distinct = {fact.text.casefold(): fact for s in snippets.values() for fact in facts_of(s) if usable(fact.text)}
    facts = [
        fact
        for fact in _on_topic(ctx, topic, list(distinct.values()))
        if not opening or shared_stems(fact.text, opening.text) < IN_OPENING
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
    """The facts that name the topic or are similar to it, and whose passage is similar to it too.

    This drops true but irrelevant facts: those that match only the heading (any machine for "Technology"), or come
    from pages that mention the topic in passing (a person who died of the disease).
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
    """Fit and relevance of each fact to each section; both sections × facts.

    The fit is the mean cosine to the section's heading and to its nearest title, plus half of the excess over the mean
    of all sections; the relevance adds half of the cosine to the topic. Headings are embedded without the topic, which
    would make every fact similar to all of them.
    """
    vectors = ctx.store.embed([fact.in_context for fact in facts])
    titles = [[without_topic(outline.topic, title) for title in section.titles()] for section in outline.sections]
    ctx.store.embed(list(chain(*titles)))
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
    """Assign facts (columns) to sections (rows) in rounds: each section takes its most relevant eligible fact.

    A fact is eligible if it fits the section well enough and no other section far better; facts per source are limited.
    So a section with generic headings does not starve its neighbours.

    Args:
        fit: sections × facts.
        relevance: sections × facts.
        limit: maximum number of facts per section.
        sources: id of each fact's source.
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
    """The chosen facts grouped by source, most relevant source first, each source's facts in their original order."""
    first: dict[str, int] = {}
    for rank, i in enumerate(chosen):
        first.setdefault(facts[i].citation.source_id, rank)
    return tuple(facts[i] for i in sorted(chosen, key=lambda i: (first[facts[i].citation.source_id], i)))
