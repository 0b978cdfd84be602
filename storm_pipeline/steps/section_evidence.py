"""Gathers the evidence for each section (paper section 3.4), with extra searches for sections that have too little."""

from collections.abc import Sequence
from typing import Any

from storm_pipeline.languages import stem_set
from storm_pipeline.references.evidence import Evidence
from storm_pipeline.references.facts import names_topic, nearest, without_topic
from storm_pipeline.run.context import RunContext
from storm_pipeline.run.writer import Material
from storm_pipeline.steps.exclusions import leave_out_copies
from storm_pipeline.steps.searching import search_all
from storm_pipeline.types import Conversation, Outline, Snippet

GAP_DEPTH = 2
"""Depth of such a search as a multiple of an interview's: the top results were not enough."""
FOR_A_GAP = 10
"""Snippets from such searches that are embedded per section, those that name the topic first; the others are found by
keyword."""


def gather_evidence(ctx: RunContext, outline: Outline, conversations: Sequence[Conversation] = ()) -> Evidence[Any]:
    """The evidence for each section, from everything that the run has found."""
    with ctx.events.in_stage("evidence"):
        return ctx.writer.gather(ctx, Material(outline, conversations))


def fill_gaps(ctx: RunContext, conversations: Sequence[Conversation], evidence: Evidence[Any]) -> Evidence[Any]:
    """The evidence, extended by a separate search for each section that has too little.

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
    by_name: dict[bool, list[Snippet]] = {True: [], False: []}
    for snippet in found:
        by_name[names_topic(f"{snippet.title} {snippet.text}", topic, language)].append(snippet)
    for titles in lacking:
        need = f"{topic} {' '.join(titles)}"
        near = nearest(by_name[True], need, FOR_A_GAP, language)
        ctx.store.add([*near, *nearest(by_name[False], need, FOR_A_GAP - len(near), language)])
    leave_out_copies(ctx)


def _query(topic: str, title: str, language: str) -> str:
    """The topic plus the heading's other words, unless these are stop words only, as in "The Oder"."""
    rest = without_topic(topic, title, language)
    return f"{topic} {rest}" if stem_set(rest, language) else topic
