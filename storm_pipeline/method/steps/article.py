"""Texts written in one call: whole articles, as the baselines do (paper section 4.3), and long answers (FoRAG 4.1)."""

from collections.abc import Iterable, Sequence

from storm_pipeline.evidence.evidence import NO_NOTES, Evidence, FindingNotes, PassageEvidence, words_asked
from storm_pipeline.evidence.passages import Passage, numbered_passages
from storm_pipeline.method.context import RunContext
from storm_pipeline.method.outlines import outline_to_markdown
from storm_pipeline.method.steps.exclusions import usable
from storm_pipeline.method.steps.searching import nothing_found, search_all
from storm_pipeline.method.writers.allocation import allocate
from storm_pipeline.method.writers.draft_checks import checked_draft
from storm_pipeline.method.writers.drafts import read_draft
from storm_pipeline.method.writers.passage_answers import passages_for
from storm_pipeline.method.writers.passage_prompts import article_inputs, language_and_style
from storm_pipeline.method.writers.whole import write_whole
from storm_pipeline.models.programs import Program
from storm_pipeline.types import Body, Conversation, Outline, Paragraph, Section, Sentence, Snippet


def gather_evidence(
    ctx: RunContext, outline: Outline, conversations: Sequence[Conversation] = (), notes: FindingNotes = NO_NOTES
) -> Evidence:
    """Return the evidence for each section, from all that the run has found and the notes of its findings."""
    with ctx.events.in_stage("evidence"):
        return allocate(ctx, outline, conversations, notes)


def write_article(
    ctx: RunContext, topic: str, evidence: PassageEvidence, conversations: Sequence[Conversation] = ()
) -> Body:
    """Write the article from evidence that is not divided into sections, and from whole conversations if there are any.

    Raises ModelError: the writer fails.
    """
    with ctx.events.in_stage("article"):
        whole = write_whole(ctx, Outline(topic), evidence, conversations)
        return Body(whole.paragraphs, whole.subsections)


def write_from_memory(ctx: RunContext, outline: Outline) -> Body:
    """Write the article from the model's own knowledge, in one call; its sentences have no citations.

    Without an outline the model divides the article into sections itself. Raises ModelError: the writer fails.
    """
    words = words_asked(ctx.settings.article_words)
    with ctx.events.in_stage("article"):
        ctx.events.count(words_asked=words)
        inputs = article_inputs(ctx, outline.topic, words)
        text = ctx.ask("writer", ctx.programs.memory, **inputs, outline=outline_to_markdown(outline)).text
    blocks = [
        (block.heading, tuple(Paragraph(tuple(Sentence(claim.text) for claim in own)) for own in block.paragraphs))
        for block in read_draft(text, 0, ctx.settings.article_language).blocks
    ]
    (_, lead), *sections = blocks
    return Body(lead, tuple(Section(heading, paragraphs) for heading, paragraphs in sections if heading and paragraphs))


def search_for_answer(ctx: RunContext, question: str) -> tuple[Snippet, ...]:
    """Search for the question and for queries that a model makes of it, as many in all as the settings say.

    Raises:
        ModelError: the model fails.
        NothingFoundError: no search finds anything.
    """
    with ctx.events.in_stage("search"):
        reply = ctx.ask(
            "expert",
            ctx.programs.queries,
            topic=ctx.settings.about or "",
            also="",
            question=question,
            number=ctx.settings.queries,
        )
        queries = dict.fromkeys([question, *filter(None, (" ".join(query.split()) for query in reply.queries))])
        results = usable(ctx, search_all(ctx, list(queries)[: ctx.settings.queries]))
    if not results:
        raise nothing_found(ctx, f"{ctx.search.name} found nothing on {question!r}; try another engine with --search")
    return results


def write_answer(ctx: RunContext, question: str, found: Sequence[Snippet], program: Program) -> Body:
    """Write the answer with a program from the results, and check it; an outline of it is saved.

    Raises ModelError: the writer fails.
    """
    with ctx.events.in_stage("article"):
        return _answered(ctx, question, found, program)


def _answered(ctx: RunContext, question: str, found: Sequence[Snippet], program: Program) -> Body:
    shown = passages_for(ctx, question, question, found, ctx.settings.evidence_words)
    words = words_asked(ctx.settings.answer_words, sum(passage.words for passage in shown))
    ctx.events.count(words_asked=words)
    inputs = {
        "question": ctx.about(question),
        **language_and_style(ctx),
        "words": words,
        "passages": numbered_passages(shown),
    }
    reply = ctx.ask("writer", program, **inputs)
    if points := reply.get("points"):
        saved = [{"text": point.text, "sources": _addresses(point.passages, shown)} for point in points]
        ctx.run.save_json("plan.json", {"pattern": reply.pattern, "points": saved})
    blocks = checked_draft(ctx, inputs, reply.text, shown, where=question, known=(question,))
    return Body(blocks[0].paragraphs, tuple(block for block in blocks[1:] if block.paragraphs))


def _addresses(numbers: Iterable[int], shown: Sequence[Passage]) -> list[str]:
    return list(dict.fromkeys(shown[number - 1].snippets[0].url for number in numbers if 0 < number <= len(shown)))
