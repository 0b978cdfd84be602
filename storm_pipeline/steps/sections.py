"""Sections, written side by side, each from its own facts (paper section 3.4)."""

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby

from storm_pipeline.concurrency import parallel_map
from storm_pipeline.context import RunContext
from storm_pipeline.errors import ModelError
from storm_pipeline.journal import at_place
from storm_pipeline.references.citations import parse_cited
from storm_pipeline.references.facts import Fact, numbered
from storm_pipeline.references.support import check_support
from storm_pipeline.runs import slug
from storm_pipeline.sentences import is_complete
from storm_pipeline.steps.evidence import FEW_FACTS, SectionEvidence
from storm_pipeline.steps.headings import fitting_heading
from storm_pipeline.steps.wording import TRIES, in_own_words
from storm_pipeline.text import foreign_script_share, word_count
from storm_pipeline.types import Heading, Outline, Paragraph, Section, Sentence

_HEADING = re.compile(r"^\s*(?:#{1,6}\s+(.+?)\s*#*|\*\*([^*]+)\*\*:?)\s*$")
_BULLET = re.compile(r"^\s*(?:[-*•]|\d+[.)])\s+")
_EMPHASIS = re.compile(r"(\*\*|__|\*)(\S(?:.*?\S)?)\1")
_FOREIGN = 0.05
"""Share of letters in a script that neither topic nor facts use, above which a sentence is dropped."""
_FEWEST_FACTS = 2
FEWEST_SENTENCES = 2
"""A heading over a single sentence promises more than it holds."""
_PARAGRAPH = 3
"""Sentences from which on a paragraph made of single ones is one."""


def write_sections(ctx: RunContext, outline: Outline, evidence: Sequence[SectionEvidence]) -> tuple[Section, ...]:
    """Write every section that the sources can fill from its own evidence; those left out are recorded.

    Raises:
        ModelAuthError: the endpoint refuses the key.
    """
    with ctx.events.in_stage("sections", total=len(outline.sections)):
        written = parallel_map(
            lambda numbered: _write(ctx, outline, *numbered), enumerate(evidence, 1), workers=len(evidence)
        )
        return _told_apart(evidence, written)


def _told_apart(evidence: Sequence[SectionEvidence], written: Sequence[Section | None]) -> tuple[Section, ...]:
    """The sections that there are; of two that came to one heading the second has its planned one again."""
    sections: dict[str, Section] = {}
    for own, section in zip(evidence, written, strict=True):
        if section is not None:
            heading = own.heading.title if section.heading.casefold() in sections else section.heading
            sections[heading.casefold()] = replace(section, heading=heading)
    return tuple(sections.values())


def _write(ctx: RunContext, outline: Outline, number: int, evidence: SectionEvidence) -> Section | None:
    title = evidence.heading.title
    try:
        if len(evidence.facts) < _FEWEST_FACTS:
            ctx.events.degraded(f"section {title!r} left out: the sources say too little about it")
            return None
        with at_place(f"section {title}"):
            section = (_by_sentence if ctx.settings.by_sentence else _whole)(ctx, outline, evidence)
        supported = sum(1 for _ in section.sentences())
        if supported >= FEWEST_SENTENCES:
            ctx.run.save_json(f"sections/{number:02d}-{slug(title)}.json", section)
            return section
        ctx.events.degraded(f"section {title!r} left out: {supported} sentences of it are supported by the sources")
    except ModelError as error:
        ctx.events.failed(f"section {title!r}", error)
    finally:
        ctx.events.advance(title)
    return None


def _whole(ctx: RunContext, outline: Outline, evidence: SectionEvidence) -> Section:
    """The section in one call, as in the paper."""
    text = ctx.ask("writer", ctx.programs.section, **_inputs(ctx, outline, evidence)).text
    return _read(ctx, evidence.heading, text, evidence.facts, _known(outline, evidence))


def _by_sentence(ctx: RunContext, outline: Outline, evidence: SectionEvidence) -> Section:
    """Each fact said again in other words.

    A small model that is given many facts ties together what does not belong together; given one, it is truthful.
    """
    room = ctx.settings.section_words * evidence.room
    told: list[Fact] = []
    for fact in evidence.facts:
        room -= word_count(fact.text)
        if room > 0 or not told:
            told.append(fact)
    copies = [Sentence(fact.text, (fact.citation,)) for fact in told]
    tries = 2 * TRIES if len(told) < FEW_FACTS else TRIES
    reworded = in_own_words(ctx, copies, told, _known(outline, evidence), alone=True, tries=tries)
    title = evidence.heading.title
    if len(reworded) >= FEWEST_SENTENCES and evidence.heading in outline.sections:
        title = fitting_heading(ctx, outline, evidence.heading, reworded)
    return Section(title, in_paragraphs(reworded))


def in_paragraphs(sentences: Sequence[Sentence]) -> tuple[Paragraph, ...]:
    """Cited sentences in paragraphs of three or more, as far as there are so many; one source's stay together."""
    paragraphs: list[list[Sentence]] = []
    for _, own in groupby(sentences, key=lambda sentence: sentence.citations[0].source_id):
        if paragraphs and len(paragraphs[-1]) < _PARAGRAPH:
            paragraphs[-1] += own
        else:
            paragraphs.append(list(own))
    if len(paragraphs) > 1 and len(paragraphs[-1]) < _PARAGRAPH:
        last = paragraphs.pop()
        paragraphs[-1] += last
    return tuple(Paragraph(tuple(own)) for own in paragraphs)


def _known(outline: Outline, evidence: SectionEvidence) -> str:
    """What a sentence may speak of without a source: the topic and the section's headings."""
    return f"{outline.topic} {' '.join(evidence.heading.titles())}"


def _inputs(ctx: RunContext, outline: Outline, evidence: SectionEvidence) -> dict[str, object]:
    heading = evidence.heading
    below = [title for title in heading.titles() if title != heading.title]
    told = sum(word_count(fact.text) for fact in evidence.facts)
    return {
        "article": outline.topic,
        "outline": "; ".join(section.title for section in outline.sections),
        "section": heading.title + (f"\nSubheadings: {'; '.join(below)}" if below else ""),
        "words": max(30, min(ctx.settings.section_words, told * 4 // 5)),
        "facts": numbered(evidence.facts),
    }


def _read(ctx: RunContext, heading: Heading, text: str, facts: Sequence[Fact], known: str) -> Section:
    """The model's text as a section whose every sentence is whole, supported, and in its own words."""
    title = heading.title
    blocks = _blocks(heading, text)
    body = [Section(name, _paragraphs(ctx, lines, facts, known)) for name, lines in blocks]
    filled = tuple(Section(block.heading, block.paragraphs) for block in body[1:] if block.paragraphs)
    return Section(title, body[0].paragraphs, filled)


def _blocks(heading: Heading, text: str) -> list[tuple[str, list[str]]]:
    """Lines under the section's own heading, then those under each subheading that the outline has."""
    planned = {title.casefold(): title for title in heading.titles() if title != heading.title}
    blocks: list[tuple[str, list[str]]] = [(heading.title, [])]
    for line in text.splitlines():
        found = _HEADING.match(line)
        if found is None:
            blocks[-1][1].append(_EMPHASIS.sub(r"\2", _BULLET.sub("", line)))
            continue
        name = planned.pop((found.group(1) or found.group(2)).strip(" :*").casefold(), None)
        if name:
            blocks.append((name, []))
    return blocks


def _paragraphs(ctx: RunContext, lines: Sequence[str], facts: Sequence[Fact], known: str) -> tuple[Paragraph, ...]:
    read = [cited_sentences(ctx, line, facts, known) for line in lines if line.strip()]
    return tuple(Paragraph(sentences) for sentences in read if sentences)


def cited_sentences(ctx: RunContext, text: str, facts: Sequence[Fact], known: str) -> tuple[Sentence, ...]:
    """The sentences of what a model wrote from facts, each with the facts that support it.

    What is cut off, in another script, or supported by nothing shown (unless it is to be kept) is dropped and counted;
    what copies a fact is said in other words.

    Args:
        ctx: the run.
        text: one paragraph of the reply, with its ``[n]`` markers.
        facts: what was shown, in the order of its numbers.
        known: what a sentence may speak of without a source: the topic and the headings.
    """
    cited = parse_cited(text, [fact.citation for fact in facts])
    like = known + " ".join(fact.text for fact in facts)
    whole = [s for s in cited.sentences if is_complete(s.text) and foreign_script_share(s.text, like) <= _FOREIGN]
    checked = check_support(whole, facts, known=known, embed=ctx.store.embed)
    dropping = ctx.settings.uncited == "drop"
    ctx.events.count(
        invented_citations=cited.invented,
        dropped_faulty=len(cited.sentences) - len(whole),
        attributed=checked.attributed,
        dropped_unsupported=checked.unsupported if dropping else 0,
    )
    kept = [s for s in checked.sentences if s.citations or not dropping]
    return in_own_words(ctx, kept, facts, known)
