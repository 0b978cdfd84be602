"""Long answers to a question, from the results of searches for it (FoRAG 4.1)."""

from collections.abc import Iterable, Sequence

from storm_pipeline.models.programs import Program
from storm_pipeline.references.evidence import words_asked
from storm_pipeline.references.passages import Passage, numbered_passages
from storm_pipeline.run.context import RunContext
from storm_pipeline.steps.exclusions import usable
from storm_pipeline.steps.searching import nothing_found, search_all
from storm_pipeline.types import Body, Paragraph, Snippet
from storm_pipeline.writers.draft_checks import checked_text
from storm_pipeline.writers.passage_answers import passages_for
from storm_pipeline.writers.passage_prompts import language_and_style


def search_for_answer(ctx: RunContext, question: str) -> tuple[Snippet, ...]:
    """The results for the question itself and for queries that it is turned into, as many as the settings say in all.

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
        found = usable(ctx, search_all(ctx, list(queries)[: ctx.settings.queries]))
    if not found:
        raise nothing_found(ctx, f"{ctx.search.name} found nothing on {question!r}; try another engine with --search")
    return found


def write_answer(ctx: RunContext, question: str, found: Sequence[Snippet], program: Program) -> Body:
    """The answer as a program writes it from the results, checked; its outline, if it makes one, is saved.

    A writer by sentence tells what the sources say that is nearest to the question. Raises ModelError: the writer
    fails.
    """
    with ctx.events.in_stage("article"):
        if ctx.settings.writes_by_sentence:
            sentences = ctx.writer.answer(ctx, question, question, found).sentences
            return Body((Paragraph(sentences),) if sentences else (), ())
        return _written(ctx, question, found, program)


def _written(ctx: RunContext, question: str, found: Sequence[Snippet], program: Program) -> Body:
    shown = passages_for(ctx, question, question, found, ctx.settings.evidence_words)
    words = words_asked(ctx.settings.answer_words, evidence_words=sum(passage.words for passage in shown))
    inputs = {
        "question": ctx.about(question),
        **language_and_style(ctx),
        "words": words,
        "passages": numbered_passages(shown),
    }
    reply = ctx.ask("writer", program, **inputs, remarks="")
    if points := reply.get("points"):
        told = [{"text": one.text, "sources": _addresses(one.passages, shown)} for one in points]
        ctx.run.save_json("plan.json", {"pattern": reply.pattern, "points": told})
    blocks = checked_text(ctx, program, inputs, reply.text, shown, where=question, known=(question,))
    return Body(blocks[0].paragraphs, tuple(block for block in blocks[1:] if block.paragraphs))


def _addresses(numbers: Iterable[int], shown: Sequence[Passage]) -> list[str]:
    return list(dict.fromkeys(shown[number - 1].snippets[0].url for number in numbers if 0 < number <= len(shown)))
