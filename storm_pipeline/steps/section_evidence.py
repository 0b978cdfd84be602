"""Gathers the evidence for each section (paper section 3.4), with extra searches for sections that have too little."""

from collections.abc import Sequence
from typing import Any

from storm_pipeline.languages import stem_set
from storm_pipeline.references.evidence import NO_NOTES, Evidence, FindingNotes
from storm_pipeline.references.facts import names_topic, without_topic
from storm_pipeline.retrieval.lexical import LexicalIndex
from storm_pipeline.retrieval.ranking import cached_terms
from storm_pipeline.run.context import RunContext
from storm_pipeline.run.writer import Material
from storm_pipeline.steps.exclusions import leave_out_copies
from storm_pipeline.steps.outline import keep_outline
from storm_pipeline.steps.searching import search_all
from storm_pipeline.types import Conversation, Outline

GAP_DEPTH = 2
"""Depth of such a search as a multiple of an interview's: the top results were not enough."""
FOR_A_GAP = 10
"""Snippets from such searches that are embedded per section, those that name the topic first; the others are found by
keyword."""


def gather_evidence(
    ctx: RunContext, outline: Outline, conversations: Sequence[Conversation] = (), notes: FindingNotes = NO_NOTES
) -> Evidence[Any]:
    """The evidence for each section, from everything that the run has found, and what was noted of its findings."""
    with ctx.events.in_stage("evidence"):
        return ctx.writer.gather(ctx, Material(outline, conversations, notes=notes))


def group_evidence(ctx: RunContext, topic: str, conversations: Sequence[Conversation] = ()) -> Evidence[Any]:
    """Return the evidence for the sections into which a writer by sentence divides what the run has found."""
    with ctx.events.in_stage("outline"):
        evidence = ctx.writer.gather(ctx, Material(Outline(topic), conversations))
        keep_outline(ctx, evidence.outline)
        return evidence


def fill_gaps(ctx: RunContext, conversations: Sequence[Conversation], evidence: Evidence[Any]) -> Evidence[Any]:
    """The evidence of an extract, extended by a separate search for each section that has too little.

    The paper has no such step: there a section that the interviews missed is written from whatever is retrieved.
    """
    lacking = [list(own.heading.titles()) for own in evidence.sections if own.is_thin]
    if not lacking:
        return evidence
    with ctx.events.in_stage("evidence"):
        _search_for(ctx, evidence.outline.topic, lacking)
        return ctx.writer.gather(ctx, Material(evidence.outline, conversations, evidence))


def _search_for(ctx: RunContext, topic: str, lacking: Sequence[Sequence[str]]) -> None:
    """Search for the titles of these sections and add the results to the store."""
    language = ctx.settings.article_language
    queries = dict.fromkeys(_query(topic, title, language) for titles in lacking for title in titles)
    found = search_all(ctx, list(queries), depth=GAP_DEPTH)
    texts = [[(one.title, 1), (one.text, 1)] for one in found]
    index = LexicalIndex(texts, floor=0.0, tokenize=cached_terms)
    is_named = [names_topic(f"{one.title} {one.text}", topic, language) for one in found]
    for titles in lacking:
        by_words = (match.position for match in index.search(f"{topic} {' '.join(titles)}"))
        ranked = sorted(dict.fromkeys((*by_words, *range(len(found)))), key=lambda i: not is_named[i])
        ctx.store.add(found[i] for i in ranked[:FOR_A_GAP])
    leave_out_copies(ctx)


def _query(topic: str, title: str, language: str) -> str:
    """The topic plus the heading's other words, unless these are stop words only, as in "The Oder"."""
    rest = without_topic(topic, title, language)
    return f"{topic} {rest}" if stem_set(rest, language) else topic
