"""What each section is written from (paper section 3.4), and searches for those that have too little."""

from collections.abc import Sequence
from typing import Any

from storm_pipeline.languages import stem_set
from storm_pipeline.references.evidence import Evidence
from storm_pipeline.references.facts import names_topic, nearest, without_topic
from storm_pipeline.run.context import RunContext
from storm_pipeline.steps.exclusions import leave_out_copies
from storm_pipeline.steps.searching import search_all
from storm_pipeline.types import Conversation, Outline, Snippet

GAP_DEPTH = 2
"""Such a search looks so many times deeper than that of an interview: what lay on top was not enough."""
FOR_A_GAP = 10
"""Of what such searches find, the snippets that are embedded for a section, those that name the topic before all else;
the rest is found by its words."""


def gather_evidence(ctx: RunContext, outline: Outline, conversations: Sequence[Conversation] = ()) -> Evidence[Any]:
    """What the writer needs for each section, out of what the run has found."""
    with ctx.events.in_stage("evidence"):
        return ctx.writer.gather(ctx, outline, conversations)


def fill_gaps(ctx: RunContext, conversations: Sequence[Conversation], evidence: Evidence[Any]) -> Evidence[Any]:
    """The evidence and, for each section that has too little of it, what a search of its own adds.

    The paper has no such step: there a section that the interviews passed by is written from what is left over.
    """
    lacking = [list(own.heading.titles()) for own in evidence.sections if own.is_thin]
    if not lacking:
        return evidence
    with ctx.events.in_stage("evidence"):
        _search_for(ctx, evidence.outline.topic, lacking)
        return ctx.writer.gather(ctx, evidence.outline, conversations, evidence)


def _search_for(ctx: RunContext, topic: str, lacking: Sequence[Sequence[str]]) -> None:
    """Search with the titles of these sections; what is found goes into the store."""
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
    """The topic with what a heading adds to it; of "The Oder" nothing is left but a stop word."""
    rest = without_topic(topic, title, language)
    return f"{topic} {rest}" if stem_set(rest, language) else topic
