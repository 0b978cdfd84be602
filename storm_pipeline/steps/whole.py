"""Whole articles written at once: what the baselines do instead of section by section (paper section 4.3)."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from storm_pipeline.context import RunContext
from storm_pipeline.outlines import outline_to_markdown
from storm_pipeline.references.alone import stands_alone
from storm_pipeline.references.citations import parse_cited
from storm_pipeline.references.facts import Fact, nearest_facts, numbered
from storm_pipeline.sentences import is_complete
from storm_pipeline.steps.evidence import SectionEvidence, gather_evidence
from storm_pipeline.steps.sections import cited_sentences, write_sections
from storm_pipeline.types import UNTITLED, Citation, Heading, Outline, Paragraph, Section, Sentence, Snippet

_HEADING = re.compile(r"^\s*(?:#{1,6}\s+(.+?)\s*#*|\*\*([^*]+)\*\*:?)\s*$")
SECTIONS = 5
"""Sections that an article without an outline is given room for."""


@dataclass(frozen=True)
class Whole:
    """A lead, possibly empty, and sections."""

    lead: tuple[Paragraph, ...]
    sections: tuple[Section, ...]


def passages(ctx: RunContext, snippets: Sequence[Snippet], need: str, *, room: int = 1) -> list[Fact]:
    """Retrieved passages as the writer needs them: each whole, or the sentences of all that are nearest to the need.

    Args:
        ctx: the run.
        snippets: what was retrieved.
        need: what they are to be about.
        room: of how many sections.
    """
    if ctx.settings.by_sentence:
        return nearest_facts(snippets, need, ctx.settings.section_facts * room, serves=stands_alone)
    return [Fact(snippet.text, snippet.title, Citation(snippet.source_id, snippet.id)) for snippet in snippets]


def write_article(ctx: RunContext, topic: str, outline: Outline, facts: Sequence[Fact]) -> Whole:
    """The article in one call, from the facts shown; sentence by sentence where the writer needs that.

    Raises:
        ModelError: the writer fails.
    """
    with ctx.events.in_stage("article"):
        if ctx.settings.by_sentence:
            alone = [SectionEvidence(Heading(UNTITLED), tuple(facts), SECTIONS)]
            evidence = gather_evidence(ctx, outline) if outline.sections else alone
            return Whole((), write_sections(ctx, outline, evidence))
        text = ctx.ask("writer", ctx.programs.article, **_inputs(ctx, topic, outline), facts=numbered(facts)).text
        known = " ".join((topic, *outline.titles()))
        return _read(text, lambda line: cited_sentences(ctx, line, facts, known))


def write_from_memory(ctx: RunContext, topic: str, outline: Outline) -> Whole:
    """The article from what the model knows, in one call; no sentence of it has a citation.

    Raises:
        ModelError: the writer fails.
    """
    with ctx.events.in_stage("article"):
        text = ctx.ask("writer", ctx.programs.memory, **_inputs(ctx, topic, outline)).text
        return _read(text, _uncited)


def _inputs(ctx: RunContext, topic: str, outline: Outline) -> dict[str, object]:
    words = ctx.settings.section_words * (len(outline.sections) or SECTIONS)
    return {"topic": topic, "outline": outline_to_markdown(outline), "words": words}


def _uncited(line: str) -> tuple[Sentence, ...]:
    return tuple(s for s in parse_cited(line, ()).sentences if is_complete(s.text))


def _read(text: str, sentences: Callable[[str], tuple[Sentence, ...]]) -> Whole:
    """Lead and sections of a reply; a heading over nothing is left out."""
    blocks: list[tuple[str, list[str]]] = [("", [])]
    for line in text.splitlines():
        if found := _HEADING.match(line):
            blocks.append(((found.group(1) or found.group(2)).strip(" :*"), []))
        elif line.strip():
            blocks[-1][1].append(line)
    filled = [(name, tuple(Paragraph(s) for s in map(sentences, lines) if s)) for name, lines in blocks]
    (_, lead), *sections = filled
    return Whole(lead, tuple(Section(name, paragraphs) for name, paragraphs in sections if name and paragraphs))
