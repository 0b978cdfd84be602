"""Writes sections in parallel, each from its own evidence (paper section 3.4); small ones join their neighbours."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from storm_pipeline.errors import ModelError
from storm_pipeline.evidence.citations import section_to_markdown
from storm_pipeline.evidence.evidence import FEWEST_SENTENCES, PassageEvidence
from storm_pipeline.method.context import RunContext
from storm_pipeline.method.writers.whole import write_whole
from storm_pipeline.run.concurrency import parallel_map
from storm_pipeline.run.events import SectionWritten
from storm_pipeline.run.folder import slug
from storm_pipeline.run.journal import call_scope
from storm_pipeline.types import Heading, Outline, Section

_TOO_LITTLE = 60  # words of evidence below which a section is merged into its neighbour


def write_sections(ctx: RunContext, outline: Outline, evidence: Sequence[PassageEvidence]) -> tuple[Section, ...]:
    """Write every section of ``evidence`` that has enough of it; the outline may have more sections.

    Sections without enough are left out, and sections of a single sentence join a neighbour; both are recorded. Raises
    ModelAuthError: the endpoint refuses the key.
    """
    ctx.run.save_json("evidence.json", list(map(_to_record, evidence)))
    with ctx.events.in_stage("sections", total=len(evidence)):
        written = parallel_map(lambda section: _write(ctx, outline, section), evidence, workers=len(evidence))
        return _join(ctx, _with_distinct_headings(evidence, written))


def _to_record(evidence: PassageEvidence) -> dict[str, Any]:
    """Return a section's evidence in the form that is saved in the run's folder."""
    texts = [finding.text for finding in evidence.findings]
    return {"heading": evidence.heading.title, "findings": texts, "snippets": sorted(evidence.snippet_ids())}


def _with_distinct_headings(
    evidence: Sequence[PassageEvidence], written: Sequence[Section | None]
) -> tuple[Section, ...]:
    """Return the sections that were written; one whose heading is already taken gets its planned heading back."""
    sections: dict[str, Section] = {}
    for of_section, section in zip(evidence, written, strict=True):
        if section is not None:
            heading = of_section.heading.title if section.heading.casefold() in sections else section.heading
            sections[heading.casefold()] = replace(section, heading=heading)
    return tuple(sections.values())


def _join(ctx: RunContext, sections: Sequence[Section]) -> tuple[Section, ...]:
    """Merge sections of a single sentence into the end of the previous section, or else the start of the next one."""
    kept: list[Section] = []
    waiting: list[Section] = []
    for section in sections:
        if sum(1 for _ in section.sentences()) >= FEWEST_SENTENCES:
            kept.append(_add_above(section, waiting, first=True))
            waiting = []
        elif kept:
            ctx.events.degraded(
                f"section {section.heading!r} has only one sentence: appended to section {kept[-1].heading!r}"
            )
            kept[-1] = _add_above(kept[-1], [section], first=False)
        else:
            ctx.events.degraded(
                f"section {section.heading!r} has only one sentence: put at the start of the next section"
            )
            waiting.append(section)
    return (*kept, *waiting)


def _add_above(section: Section, others: Sequence[Section], *, first: bool) -> Section:
    """Add paragraphs of other sections above the subsections; below, they would seem to be part of the last one."""
    more = tuple(
        p for other in others for p in (*other.paragraphs, *(q for s in other.subsections for q in s.paragraphs))
    )
    return replace(section, paragraphs=(*more, *section.paragraphs) if first else (*section.paragraphs, *more))


def keep_section(ctx: RunContext, number: int, section: Section) -> Section:
    """Save a section in the run's folder, emit that it is written, and return it."""
    ctx.run.save_json(f"sections/{number:02d}-{slug(section.heading)}.json", section)
    ctx.events.emit(_section_event(ctx, number, section))
    return section


def _section_event(ctx: RunContext, number: int, section: Section) -> SectionWritten:
    editions = ctx.store.editions()
    sentences = map(editions.cite_once, section.sentences())
    cited = (citation.source_id for sentence in sentences for citation in sentence.citations)
    addresses = {source.id: source.url for source in editions.sources()}
    sources = tuple(addresses[source_id] for source_id in dict.fromkeys(cited))
    return SectionWritten(ctx.events.stage, number, section.heading, section_to_markdown(section), sources)


def _write(ctx: RunContext, outline: Outline, evidence: PassageEvidence) -> Section | None:
    title = evidence.heading.title
    number = next((n for n, heading in enumerate(outline.sections, 1) if heading.title == title), 0)
    try:
        if evidence.is_empty:
            ctx.events.degraded(f"section {title!r} left out: the sources say too little about it")
            return None
        with call_scope(f"section {title}"):
            section = write_whole(ctx, outline, evidence)
        if any(True for _ in section.sentences()):
            return keep_section(ctx, number, section)
        ctx.events.degraded(f"section {title!r} left out: too few of its sentences are supported by the sources")
    except ModelError as error:
        ctx.events.failed(f"section {title!r}", error)
    finally:
        ctx.events.advance(title)
    return None


def merge_small(ctx: RunContext, outline: Outline, shares: Sequence[PassageEvidence]) -> Outline:
    """Make each heading with hardly any evidence a subheading of the previous section, or else of the next one.

    Each merge is recorded. If no section has enough evidence, the outline is returned unchanged.
    """
    kept: list[Heading] = []
    waiting: list[Heading] = []
    for share in shares:
        if share.words < _TOO_LITTLE:
            waiting.append(share.heading)
            if not kept:
                continue
        else:
            kept.append(share.heading)
        for small in waiting:
            ctx.events.degraded(
                f"section {small.title!r} was merged into {kept[-1].title!r} before writing: hardly any evidence for it"
            )
        below = (Heading(small.title) for small in waiting)
        kept[-1] = Heading(kept[-1].title, (*kept[-1].children, *below))
        waiting = []
    return Outline(outline.topic, tuple(kept)) if kept else outline
