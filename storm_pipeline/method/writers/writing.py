"""The paper's writing method, for capable models: each section from its passages, the lead from the whole article.

Sections of a single sentence join a neighbour. Inputs of prompts that all calls of a run share come first, for prefix
caches.
"""

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate

from storm_pipeline.errors import ModelError
from storm_pipeline.evidence.citations import section_to_markdown
from storm_pipeline.evidence.evidence import FEWEST_SENTENCES, PassageEvidence, words_of_sections
from storm_pipeline.evidence.passages import Passage, numbered_passages, passages
from storm_pipeline.evidence.screen import Limits, Screen
from storm_pipeline.method.context import RunContext
from storm_pipeline.method.outlines import outline_to_markdown
from storm_pipeline.method.writers.draft_checks import answer_remarks, check_blocks, check_draft, find_support
from storm_pipeline.method.writers.drafts import read_draft, without_prompt_lines
from storm_pipeline.run.concurrency import parallel_map
from storm_pipeline.run.events import SectionWritten
from storm_pipeline.run.folder import slug
from storm_pipeline.run.journal import call_scope
from storm_pipeline.text.languages import count_words
from storm_pipeline.types import UNTITLED, Body, Conversation, Heading, Outline, Paragraph, Section, Sentence, Snippet

_ELSEWHERE = "Findings on these passages that other sections tell:"
_DOUBTFUL = " (doubtful)"
_CONTRADICTING = "Contradict each other:"
_FINDINGS = 5  # words of evidence budget per word of findings from other sections in a section's prompt
_TOO_LITTLE = 60  # words of evidence below which a section is merged into its neighbour
_LONGEST_ARTICLE = 6000
"""Maximum words of the article shown to the lead writer; longer articles are cut to each section's first sentences."""
_SHARE, _SHORTEST, _LONGEST = 10, 60, 300
"""Body words per word of the lead, and the bounds of the lead's length in words."""
_LONGEST_RUN = 25
"""Longest run of words that the lead may share with a sentence of the body, which is the article's own text."""


def evidence_from(ctx: RunContext, heading: Heading, snippets: Iterable[Snippet], parts: int = 1) -> PassageEvidence:
    """Return the evidence, without findings, of one of ``parts`` equally long parts of the article."""
    words, *_ = words_of_sections(ctx.brief.length, [1] * parts, [math.inf] * parts)
    return PassageEvidence(heading, passages(snippets, language=ctx.brief.language), target_words=words)


def evidence_cited(ctx: RunContext, conversations: Sequence[Conversation]) -> PassageEvidence:
    """Return the evidence of a whole article: all snippets that the conversations cite."""
    answers = (sentence for c in conversations for turn in c.turns for sentence in turn.answer)
    ids = dict.fromkeys(citation.snippet_id for sentence in answers for citation in sentence.citations)
    return evidence_from(ctx, Heading(UNTITLED), map(ctx.store.snippet, ids))


def write_whole(ctx: RunContext, outline: Outline, evidence: PassageEvidence) -> Section:
    """Write a section, possibly empty, from its evidence.

    One call, plus one for sentences returned to the writer for revision. Raises ModelError: the model fails.
    """
    ctx.events.count(words_asked=evidence.target_words)
    inputs, where = section_inputs(ctx, outline, evidence), evidence.heading.title
    text = ctx.ask("writer", ctx.programs.section, **inputs).text
    blocks = check_draft(ctx, inputs, text, evidence.passages, where=where, headings=tuple(evidence.heading.titles()))
    return _as_section(evidence.heading, blocks)


def write_article(ctx: RunContext, evidence: PassageEvidence, conversations: Sequence[Conversation] = ()) -> Body:
    """Write a whole article from evidence that is not divided into sections, as :func:`write_whole` writes a section.

    ``conversations``: interviews that are shown in full.
    """
    with ctx.events.in_stage("article"):
        ctx.events.count(words_asked=evidence.target_words)
        inputs = {
            **article_inputs(ctx, evidence.target_words),
            "passages": numbered_passages(evidence.passages),
            "interviews": conversations_with_markers(conversations, evidence.passages),
        }
        text = ctx.ask("writer", ctx.programs.article, **inputs).text
        return as_body(check_draft(ctx, inputs, text, evidence.passages, where=ctx.brief.topic))


def as_body(blocks: Sequence[Section]) -> Body:
    """Return an article's text from its blocks, of which the first, without a heading, is the lead."""
    return Body(blocks[0].paragraphs, tuple(block for block in blocks[1:] if block.paragraphs))


def _as_section(heading: Heading, blocks: Sequence[Section]) -> Section:
    """Put the blocks under the section's heading; text under an unplanned heading is added to the text before it."""
    planned = {title.casefold(): title for title in heading.titles() if title != heading.title}
    parts = [Section(heading.title)]
    for block in blocks:
        if title := planned.pop(block.heading.casefold(), None):
            parts.append(Section(title, block.paragraphs))
        else:
            parts[-1] = replace(parts[-1], paragraphs=(*parts[-1].paragraphs, *block.paragraphs))
    return replace(parts[0], subsections=tuple(part for part in parts[1:] if part.paragraphs))


def section_inputs(ctx: RunContext, outline: Outline, evidence: PassageEvidence) -> dict[str, object]:
    """Return the inputs of :class:`storm_pipeline.signatures.writing.WriteSection` for a new section."""
    below = "; ".join(title for title in evidence.heading.titles() if title != evidence.heading.title)
    return {
        "article": ctx.brief.topic_with_note,
        **ctx.brief.manner,
        "outline": outline_to_markdown(outline),
        "section": evidence.heading.title + (f"\nSubheadings: {below}" if below else ""),
        "words": evidence.target_words,
        "passages": numbered_passages(evidence.passages),
        "findings": _findings(evidence, ctx.settings.evidence_words // _FINDINGS),
    }


def article_inputs(ctx: RunContext, words: int) -> dict[str, object]:
    """Return the inputs of the prompts that ask for a whole article, without outline and evidence."""
    return {**ctx.brief.inputs, **ctx.brief.manner, "words": words}


def conversations_with_markers(conversations: Sequence[Conversation], shown: Sequence[Passage]) -> str:
    """Return all questions and answers of the conversations, the answers with the numbers of cited passages."""
    number = _numbers(shown)
    lines = []
    for turn in (turn for conversation in conversations for turn in conversation.turns):
        answer = " ".join(_mark(sentence, number) for sentence in turn.answer) or turn.answer_text
        lines += [f"Writer: {turn.question}", f"Expert: {answer}"]
    return "\n".join(lines)


def with_markers(section: Section, shown: Sequence[Passage]) -> str:
    """Return a section's text without its heading, each sentence with the numbers of the passages that it cites."""
    passage = _numbers(shown)
    lines = [" ".join(_mark(sentence, passage) for sentence in part.sentences) for part in section.paragraphs]
    for subsection in section.subsections:
        lines += [f"## {subsection.heading}", with_markers(subsection, shown)]
    return "\n".join(lines)


def _findings(evidence: PassageEvidence, limit: int) -> str:
    """Return the findings as ``- sentence [3]`` lines, numbered by the passages that they cite.

    The section's own findings are all included, those of other sections up to ``limit`` words in total, after a line
    that says so. Doubtful ones are marked; pairs that contradict each other are named last.
    """
    number, notes = _numbers(evidence.passages), evidence.notes

    def line(finding: Sentence) -> str:
        return f"- {_mark(finding, number)}{_DOUBTFUL if finding.text in notes.doubtful else ''}"

    ends = accumulate(count_words(finding.text) for finding in (*evidence.findings, *evidence.related))
    fitting = sum(end <= limit for end in ends) - len(evidence.findings)
    related = [line(finding) for finding in evidence.related[: max(0, fitting)]]
    lines = [*map(line, evidence.findings), *([_ELSEWHERE] if evidence.findings and related else []), *related]
    marked = {finding.text: _mark(finding, number) for finding in evidence.findings}
    pairs = [(marked[a], marked[other]) for a, other in notes.contradicting if a in marked and other in marked]
    return "\n".join([*lines, *(f"{_CONTRADICTING} “{a}” and “{other}”" for a, other in pairs)])


def _numbers(shown: Sequence[Passage]) -> dict[str, int]:
    """Map the id of each snippet to the number of the passage that contains it."""
    return {name: n for n, passage in enumerate(shown, 1) for name in passage.snippet_ids}


def _mark(sentence: Sentence, number: Mapping[str, int]) -> str:
    markers = sorted({number[c.snippet_id] for c in sentence.citations if c.snippet_id in number})
    return f"{sentence.text} " + "".join(f"[{n}]" for n in markers)


def write_sections(ctx: RunContext, outline: Outline, evidence: Sequence[PassageEvidence]) -> tuple[Section, ...]:
    """Write every section of ``evidence`` that has enough of it; the outline may have more sections.

    Sections without enough are left out, and sections of a single sentence join a neighbour; both are recorded. Raises
    ModelAuthError: the endpoint refuses the key.
    """
    records = [
        {
            "heading": section.heading.title,
            "findings": [finding.text for finding in section.findings],
            "snippets": sorted(section.snippet_ids()),
        }
        for section in evidence
    ]
    ctx.run.save_json("evidence.json", records)
    with ctx.events.in_stage("sections", total=len(evidence)):
        written = parallel_map(lambda section: _write(ctx, outline, section), evidence, workers=len(evidence))
        return _join(ctx, _with_distinct_headings(evidence, written))


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
    cited = dict.fromkeys(citation.source_id for sentence in section.sentences() for citation in sentence.citations)
    sources = tuple(ctx.store.source(source_id).url for source_id in cited)
    text = section_to_markdown(section)
    ctx.events.emit(SectionWritten(ctx.events.stage, number, section.heading, text, sources))
    return section


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


def write_lead(ctx: RunContext, sections: Sequence[Section]) -> tuple[Paragraph, ...]:
    """Write the lead from the numbered sentences of the body; it inherits the citations of the sentences it cites.

    If the model fails, or nothing that it writes is supported, the lead is empty and that is recorded.
    """
    parts = [part for section in sections for part in _parts(section)]
    places = [(" › ".join(headings), sentence) for headings, sentences in parts for sentence in sentences]
    body = [sentence for _, sentence in places]
    shown = [
        Passage(s.text, (Snippet(f"sentence:{number}", "", s.text, heading=heading),))
        for number, (heading, s) in enumerate(places)
    ]
    sources = {passage.source_id: sentence for passage, sentence in zip(shown, body, strict=True)}
    inputs = {
        "topic": ctx.brief.topic,
        **ctx.brief.manner,
        "words": min(_LONGEST, max(_SHORTEST, sum(count_words(s.text) for s in body) // _SHARE)),
        "article": numbered_body(sections),
    }
    with ctx.events.in_stage("lead"):
        try:
            text = str(ctx.ask("writer", ctx.programs.lead, **inputs).lead)
        except ModelError as error:
            ctx.events.failed("no lead", error)
            return ()

        def ask_again(remarks: str, _: Collection[int]) -> str:
            return answer_remarks(ctx, "lead", str(inputs["article"]), remarks)

        draft = read_draft(without_prompt_lines(text, inputs), len(shown), ctx.brief.language, (ctx.brief.topic,))
        blocks = check_blocks(ctx, "lead", draft, _screen(ctx, shown), ask_again)
        written = [paragraph for block in blocks for paragraph in block.paragraphs]
        cited = [Paragraph(tuple(_with_sources(s, sources) for s in paragraph.sentences)) for paragraph in written]
        supports = find_support(ctx, [s for paragraph in cited for s in paragraph.sentences])
        lead = tuple(Paragraph(tuple(supports.get(s, s) for s in paragraph.sentences)) for paragraph in cited)
        if not lead:
            ctx.events.degraded("the article has no lead: nothing that the model wrote is supported by the body")
        return lead


def _screen(ctx: RunContext, shown: Sequence[Passage]) -> Screen:
    """Return the screen of the lead, whose passages are the sentences of the body."""
    topic, language, embed = ctx.brief.topic, ctx.brief.language, ctx.store.embed
    limits = Limits(run=_LONGEST_RUN)
    return Screen(shown, known=topic, embed=embed, language=language, limits=limits, source_language=lambda _: language)


def _with_sources(sentence: Sentence, sources: dict[str, Sentence]) -> Sentence:
    """Return the sentence with the citations of the body sentences that it cites."""
    cited = dict.fromkeys(c for citation in sentence.citations for c in sources[citation.source_id].citations)
    return Sentence(sentence.text, tuple(cited))


def numbered_body(sections: Sequence[Section]) -> str:
    """Return the body with numbered sentences; if it is too long, only the first sentences of each section."""
    total = sum(count_words(sentence.text) for section in sections for sentence in section.sentences())
    share = _LONGEST_ARTICLE // max(1, len(sections)) if total > _LONGEST_ARTICLE else total
    lines, number = [], 0
    for section in sections:
        words = 0
        for headings, sentences in _parts(section):
            shown = []
            for sentence in sentences:
                number += 1
                words += count_words(sentence.text)
                if words <= share:
                    shown.append(f"[{number}] {sentence.text}")
            lines += [f"{'#' * len(headings)} {headings[-1]}", *filter(None, [" ".join(shown)])]
    return "\n".join(lines)


def _parts(section: Section, above: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], tuple[Sentence, ...]]]:
    """Yield headings, the outermost first, and own sentences of a section, then of its subsections."""
    headings = (*above, section.heading)
    yield headings, tuple(sentence for paragraph in section.paragraphs for sentence in paragraph.sentences)
    for subsection in section.subsections:
        yield from _parts(subsection, headings)
