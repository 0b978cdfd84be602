"""Articles: the evidence of their sections, texts written in one call, and what ends each of them.

In one call are written whole articles, as by the baselines (paper section 4.3), and long answers (FoRAG 4.1).
"""

from collections.abc import Iterable, Sequence

from storm_pipeline.errors import NothingFoundError
from storm_pipeline.evidence.citations import cited_snippet_ids
from storm_pipeline.evidence.editions import one_source_per_text
from storm_pipeline.evidence.evidence import NO_NOTES, Evidence, FindingNotes, words_asked
from storm_pipeline.evidence.judges.spans import with_spans
from storm_pipeline.evidence.passages import Passage, numbered_passages
from storm_pipeline.method.context import RunContext
from storm_pipeline.method.outlines import outline_to_markdown
from storm_pipeline.method.steps.searching import distinct_queries, nothing_found, search_all, usable
from storm_pipeline.method.writers.allocation import allocate
from storm_pipeline.method.writers.draft_checks import check_draft
from storm_pipeline.method.writers.drafts import read_draft
from storm_pipeline.method.writers.editing import edit_article
from storm_pipeline.method.writers.passage_answers import passages_for
from storm_pipeline.method.writers.writing import article_inputs, as_body, write_lead
from storm_pipeline.models.programs import Program
from storm_pipeline.types import UNTITLED, Article, Body, Conversation, Outline, Paragraph, Section, Sentence, Snippet


def gather_evidence(
    ctx: RunContext, outline: Outline, conversations: Sequence[Conversation] = (), notes: FindingNotes = NO_NOTES
) -> Evidence:
    """Return the evidence for each section, from all that the run has found and the notes of its findings."""
    with ctx.events.in_stage("evidence"):
        return allocate(ctx, outline, conversations, notes)


def write_from_memory(ctx: RunContext, outline: Outline) -> Body:
    """Write the article from the model's own knowledge, in one call; its sentences have no citations.

    Without an outline the model divides the article into sections itself. Raises ModelError: the writer fails.
    """
    words = words_asked(ctx.brief.length)
    with ctx.events.in_stage("article"):
        ctx.events.count(words_asked=words)
        inputs = article_inputs(ctx, words)
        text = ctx.ask("writer", ctx.programs.memory, **inputs, outline=outline_to_markdown(outline)).text
    blocks = [
        (block.heading, tuple(Paragraph(tuple(Sentence(claim.text) for claim in part)) for part in block.paragraphs))
        for block in read_draft(text, 0, ctx.brief.language).blocks
    ]
    (_, lead), *sections = blocks
    return Body(lead, tuple(Section(heading, paragraphs) for heading, paragraphs in sections if heading and paragraphs))


def search_for_answer(ctx: RunContext) -> tuple[Snippet, ...]:
    """Search for the question and for a model's queries for it, up to the number in the settings.

    Raises ModelError: the model fails; NothingFoundError: no search finds anything.
    """
    with ctx.events.in_stage("search"):
        inputs = {"topic": ctx.brief.about, "also": "", "question": ctx.brief.topic, "number": ctx.settings.queries}
        reply = ctx.ask("expert", ctx.programs.queries, **inputs)
        results = usable(ctx, search_all(ctx, distinct_queries(ctx, [ctx.brief.topic, *reply.queries])))
    if not results:
        what = f"{ctx.search.name} found nothing on {ctx.brief.topic!r}; try another engine with --search"
        raise nothing_found(ctx, what)
    return results


def write_answer(ctx: RunContext, results: Sequence[Snippet], program: Program) -> Body:
    """Write the answer with a program from the results, and check it; an outline of it is saved.

    Raises ModelError: the writer fails.
    """
    with ctx.events.in_stage("article"):
        shown = passages_for(ctx, ctx.brief.topic, results, ctx.settings.evidence_words)
        words = words_asked(ctx.settings.answer_words, sum(passage.words for passage in shown))
        ctx.events.count(words_asked=words)
        about = {"question": ctx.brief.topic_with_note, **ctx.brief.manner}
        inputs = {**about, "words": words, "passages": numbered_passages(shown)}
        reply = ctx.ask("writer", program, **inputs)
        if points := reply.get("points"):
            saved = [{"text": point.text, "sources": _addresses(point.passages, shown)} for point in points]
            ctx.run.save_json("plan.json", {"pattern": reply.pattern, "points": saved})
        return as_body(check_draft(ctx, inputs, reply.text, shown, where=ctx.brief.topic))


def _addresses(numbers: Iterable[int], shown: Sequence[Passage]) -> list[str]:
    return list(dict.fromkeys(shown[number - 1].snippets[0].url for number in numbers if 0 < number <= len(shown)))


def finish(ctx: RunContext, sections: tuple[Section, ...], conversations: Sequence[Conversation] = ()) -> Body:
    """Edit the sections, write a lead that summarises them, and save both.

    Raises NothingFoundError: there is no section.
    """
    _require_sections(ctx, sections)
    findings = [s for conversation in conversations for turn in conversation.turns for s in turn.answer]
    edited = edit_article(ctx, sections, list(dict.fromkeys(findings)))
    body = Body(write_lead(ctx, edited), edited)
    ctx.run.save_json("polished.json", body.sections)
    ctx.run.save_json("lead.json", body.lead)
    return body


def as_article(
    ctx: RunContext,
    body: Body,
    outline: Outline | None = None,
    conversations: tuple[Conversation, ...] = (),
    evidence: Evidence | None = None,
    *,
    note: str = "",
) -> Article:
    """Return the article with its sources and the research behind it; a lead without sections becomes a section.

    Pages with one text are one source, and each citation has the spans of the supporting words.

    Raises NothingFoundError: there is neither.

    ``note``: for readers of an extract, whose sections may be empty.
    """
    if not (note and body.lead):
        if not body.sections and body.lead:
            body = Body((), (Section(UNTITLED, body.lead),))
        _require_sections(ctx, body.sections)
    _count_flow(ctx, body, conversations, evidence)
    article = Article(
        ctx.brief.topic,
        body.lead,
        body.sections,
        outline=outline or Outline(ctx.brief.topic),
        conversations=conversations,
        language=ctx.brief.language,
        note=note,
    )
    return with_spans(one_source_per_text(article, ctx.store.editions()))


def _require_sections(ctx: RunContext, sections: tuple[Section, ...]) -> None:
    if not sections:
        ctx.run.journal.forget("reply", role="writer")
        why = ctx.ledger.failure_summary() or "the sources say too little, or what was written disagrees with them"
        raise NothingFoundError(f"no section of an article on {ctx.brief.topic!r} could be written: {why}")


def _count_flow(
    ctx: RunContext, body: Body, conversations: tuple[Conversation, ...], evidence: Evidence | None
) -> None:
    """Count the snippets cited in interviews, and those of them offered to sections and cited in the article."""
    cited = cited_snippet_ids(sentence for c in conversations for turn in c.turns for sentence in turn.answer)
    used = cited_snippet_ids(s for p in body.lead for s in p.sentences)
    used |= cited_snippet_ids(s for section in body.sections for s in section.sentences())
    offered = evidence.snippet_ids() if evidence else frozenset[str]()
    ctx.events.count(
        cited_in_interviews=len(cited), offered_to_sections=len(cited & offered), cited_in_article=len(cited & used)
    )
