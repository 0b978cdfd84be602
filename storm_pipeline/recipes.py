"""Whole methods, each a composition of steps. An ablation or a baseline is another recipe, never a flag in a step."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial

from storm_pipeline.errors import ContradictionError, SettingsError
from storm_pipeline.evidence.evidence import Evidence, PassageEvidence
from storm_pipeline.method.context import RunContext
from storm_pipeline.method.steps.article import (
    as_article,
    finish,
    gather_evidence,
    search_for_answer,
    write_answer,
    write_article,
    write_from_memory,
)
from storm_pipeline.method.steps.conversations import ask_all_at_once, converse
from storm_pipeline.method.steps.exclusions import leave_out_copies, usable
from storm_pipeline.method.steps.extract import extract, extract_answer
from storm_pipeline.method.steps.interviews import (
    hold_interviews,
    hold_interviews_without_perspectives,
    without_excluded,
)
from storm_pipeline.method.steps.outline import (
    draft_outline,
    inputs_of_refinement,
    keep_outline,
    plan_outline,
    refine_outline,
)
from storm_pipeline.method.steps.points import look_up_points
from storm_pipeline.method.steps.question_board import QuestionBoard
from storm_pipeline.method.steps.reading import read_pages
from storm_pipeline.method.steps.searching import look_up_topic, search_all, search_with_topic
from storm_pipeline.method.writers.section_loop import write_sections
from storm_pipeline.method.writers.whole import evidence_cited, evidence_from
from storm_pipeline.models.programs import Program
from storm_pipeline.run.concurrency import Tasks
from storm_pipeline.settings import Settings
from storm_pipeline.text.formatting import did_you_mean
from storm_pipeline.types import UNTITLED, Article, Conversation, Heading, Outline, Snippet

Conversations = tuple[Conversation, ...]
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9+_-]{0,59}")
Interviews = Callable[[RunContext], Conversations]
FurtherResearch = Callable[[RunContext, Conversations], Conversations]


def storm(ctx: RunContext) -> Article:
    """Write an article with STORM: interviews by perspective, outline, parallel sections, editing, lead (section 3)."""
    return _write_sections(ctx, *storm_outline(ctx))


def storm_iterative(ctx: RunContext) -> Article:
    """Write an article with STORM and further research on questions that the interviews left open, before writing.

    Not in the paper. The outline drafter and the interviewers see the results of a first search, and interviewers see
    each other's questions. A search with few new results is repeated for more, and pages that a model chooses are read
    in full. If the settings say so, an extract is made instead.
    """
    if ctx.settings.is_extract:
        return extract(ctx)
    ctx = look_up_topic(ctx)
    board = QuestionBoard()
    interview = partial(converse, deeper=True, board=board)

    def interviews(ctx: RunContext) -> Conversations:
        return hold_interviews(ctx, interview, board)

    outline, conversations, notes = look_up_points(ctx, *_outline_and_interviews(ctx, interviews, read_pages))
    evidence = gather_evidence(ctx, outline, conversations, notes)
    return _from_evidence(ctx, evidence, conversations)


def storm_no_perspective(ctx: RunContext) -> Article:
    """Write an article with STORM without perspectives in the prompts; as many interviews (section 5.2)."""
    return _write_sections(ctx, *no_perspective_outline(ctx))


def storm_no_conversation(ctx: RunContext) -> Article:
    """Write an article with STORM whose interviewers ask all questions at once; as many questions (section 5.2)."""
    return _write_sections(ctx, *no_conversation_outline(ctx))


def storm_no_outline(ctx: RunContext) -> Article:
    """Write an article with STORM in one piece from the topic and the whole conversations (section 5.2)."""
    conversations = hold_interviews(ctx, converse)
    (evidence,) = evidence_cited(ctx, _one_section(ctx), conversations).sections
    return as_article(ctx, write_article(ctx, evidence, conversations), conversations=conversations)


def storm_outline(ctx: RunContext) -> tuple[Outline, Conversations]:
    """Run STORM's pre-writing stage (Algorithm 1); return the refined outline and the conversations.

    The draft does not depend on the interviews, so both run concurrently.
    """
    return _outline_and_interviews(ctx, lambda ctx: hold_interviews(ctx, converse))


def no_conversation_outline(ctx: RunContext) -> tuple[Outline, Conversations]:
    """Run the pre-writing stage of :func:`storm_no_conversation`."""
    return _outline_and_interviews(ctx, lambda ctx: hold_interviews(ctx, ask_all_at_once))


def no_perspective_outline(ctx: RunContext) -> tuple[Outline, Conversations]:
    """Run the pre-writing stage of :func:`storm_no_perspective`."""
    return _outline_and_interviews(ctx, hold_interviews_without_perspectives)


def _outline_and_interviews(
    ctx: RunContext, interviews: Interviews, further: FurtherResearch | None = None
) -> tuple[Outline, Conversations]:
    """Return the refined outline and the conversations; further research runs in parallel with the refinement."""
    with Tasks() as tasks:
        draft = tasks.start(draft_outline, ctx)
        conversations = interviews(ctx)
        inputs = inputs_of_refinement(ctx, draft.result(), conversations)  # before further research adds to the store
        more = tasks.start(further, ctx, conversations) if further else None
        outline = refine_outline(ctx, draft.result(), inputs)
        return outline, more.result() if more else conversations


def _write_sections(ctx: RunContext, outline: Outline, conversations: Conversations) -> Article:
    """Run STORM's writing stage (section 3.4)."""
    return _from_evidence(ctx, gather_evidence(ctx, outline, conversations), conversations)


def _from_evidence(ctx: RunContext, evidence: Evidence, conversations: Conversations = ()) -> Article:
    body = finish(ctx, write_sections(ctx, evidence.outline, evidence.sections))
    return as_article(ctx, body, evidence.outline, without_excluded(ctx, conversations), evidence)


def direct(ctx: RunContext) -> Article:
    """Write outline and article from the model's own knowledge, without sources: Direct Gen (section 4.3)."""
    outline = direct_outline(ctx)
    return as_article(ctx, write_from_memory(ctx, outline), outline)


def rag(ctx: RunContext) -> Article:
    """Search for the topic and write the whole article from the results alone: RAG (section 4.3).

    The paper makes an outline *or* an article with it: the outline is :func:`rag_outline`; this article has none.
    """
    return _write_at_once(ctx, search_with_topic(ctx))


def orag(ctx: RunContext) -> Article:
    """Write as STORM does, from RAG's outline and a search per section title: outline-driven RAG (section 4.3)."""
    outline = rag_outline(ctx)
    ctx.store.add(search_all(ctx, [f"{ctx.brief.topic} {section.title}" for section in outline.sections]))
    leave_out_copies(ctx)
    return _write_sections(ctx, outline, ())


def rr(ctx: RunContext) -> Article:
    """Write in one call from the ``top_k`` best chunks for the keyword: retrieve-then-read of WikiGenBen."""
    return _write_at_once(ctx, _best_chunks(ctx))


def rr_no_documents(ctx: RunContext) -> Article:
    """Write in one call from memory: retrieve-then-read without documents (WikiGenBen, Table 3, 0 documents)."""
    return as_article(ctx, write_from_memory(ctx, Outline(ctx.brief.topic)))


def rprr(ctx: RunContext) -> Article:
    """Plan sections, rank ``top_k`` chunks for each, and write: retrieve-plan-retrieve-read of WikiGenBen.

    The plan is made from the chunks that :func:`rr` reads. Editing and lead are STORM's, so that methods differ only in
    retrieval and plan.
    """
    outline = keep_outline(ctx, plan_outline(ctx, _best_chunks(ctx)))
    needs = [f"{ctx.brief.topic} {section.title}" for section in outline.sections]
    results = [search_all(ctx, [need]) for need in needs]
    best = [usable(ctx, snippets)[: ctx.settings.top_k] for snippets in results]
    parts = [Outline(ctx.brief.topic, (section,)) for section in outline.sections]
    number = sum(map(bool, best)) or 1  # the words of sections without results go to the others
    chosen = [e for part, few in zip(parts, best, strict=True) for e in _evidence_for(ctx, part, few, number)]
    return _from_evidence(ctx, Evidence(outline, tuple(chosen)))


def answer(ctx: RunContext) -> Article:
    """Write an outline-enhanced answer (FoRAG 4.1): search, an outline whose points name their passages, expansion.

    If the settings say so, an extract is made instead: the sources' sentences that are nearest to the question.
    """
    if ctx.settings.is_extract:
        return extract_answer(ctx)
    return _answer_with(ctx, ctx.programs.answer)


def answer_no_outline(ctx: RunContext) -> Article:
    """Write the answer in one call from the same passages: FoRAG's generator without the outline (table 4)."""
    return _answer_with(ctx, ctx.programs.plain_answer)


def _answer_with(ctx: RunContext, program: Program) -> Article:
    results = search_for_answer(ctx)
    body = write_answer(ctx, results, program)
    return as_article(ctx, body)


def direct_outline(ctx: RunContext) -> Outline:
    """Make the outline of :func:`direct`."""
    return keep_outline(ctx, draft_outline(ctx))


def rag_outline(ctx: RunContext) -> Outline:
    """Make the outline of RAG and oRAG (Table 3) from a search with the topic."""
    return keep_outline(ctx, plan_outline(ctx, search_with_topic(ctx)))


def _best_chunks(ctx: RunContext) -> tuple[Snippet, ...]:
    return search_with_topic(ctx)[: ctx.settings.top_k]


def _write_at_once(ctx: RunContext, snippets: Sequence[Snippet]) -> Article:
    """Write an article without an outline, from search results."""
    (evidence,) = _evidence_for(ctx, _one_section(ctx), snippets)
    return as_article(ctx, write_article(ctx, evidence))


def _evidence_for(
    ctx: RunContext, part: Outline, snippets: Sequence[Snippet], sections: int = 1
) -> Sequence[PassageEvidence]:
    """Return the evidence of a part of the article, from these snippets alone."""
    return evidence_from(ctx, part, snippets, sections).sections


def _one_section(ctx: RunContext) -> Outline:
    return Outline(ctx.brief.topic, (Heading(UNTITLED),))


def require_outline(recipe: str) -> None:
    """Check that a method writes from an outline, so that the user may give one.

    Raises SettingsError: it does not.
    """
    if recipe in WITHOUT_OUTLINE:
        raise SettingsError(f"{recipe} writes without an outline: leave --outline out, or choose another recipe")


WITHOUT_OUTLINE = frozenset({"storm-no-outline", "rag", "rr", "rr-no-documents", "answer", "answer-no-outline"})
"""Methods that write without an outline and accept none from the user."""

Recipe = Callable[[RunContext], Article]
"""A whole method: from a run's context to an article."""

RECIPES: Mapping[str, Recipe] = {
    "storm": storm,
    "storm-iterative": storm_iterative,
    "storm-no-perspective": storm_no_perspective,
    "storm-no-conversation": storm_no_conversation,
    "storm-no-outline": storm_no_outline,
    "direct": direct,
    "rag": rag,
    "orag": orag,
    "rr": rr,
    "rr-no-documents": rr_no_documents,
    "rprr": rprr,
    "answer": answer,
    "answer-no-outline": answer_no_outline,
}
"""Every method that writes articles, by its name in settings and reports."""

DEFAULT = "storm-iterative"
"""The method that writes the best articles; experiments name theirs."""

OUTLINES: Mapping[str, Callable[[RunContext], Outline]] = {
    "storm": lambda ctx: storm_outline(ctx)[0],
    "storm-no-perspective": lambda ctx: no_perspective_outline(ctx)[0],
    "storm-no-conversation": lambda ctx: no_conversation_outline(ctx)[0],
    "direct": direct_outline,
    "rag": rag_outline,
}
"""The pre-writing stages, by recipe name; recipes not listed make no outline or share one of these."""


EXTRACTS = frozenset({DEFAULT, "answer"})
"""Methods that can make an extract instead."""


def for_recipe(settings: Settings, recipe: str) -> Settings:
    """Return the settings for a method: ``auto`` chooses an extract only for methods that can make one.

    Raises SettingsError: an extract is asked for, which this method cannot make.
    """
    if recipe in EXTRACTS or not settings.is_extract:
        return settings
    if settings.writing == "sentences":
        raise ContradictionError(
            f"{recipe} asks language models, and an extract asks none: leave --writing sentences out"
        )
    return settings.model_copy(update={"writing": "whole"})


def no_such_recipe(name: str, known: Iterable[str]) -> str:
    """Return the message for an unknown recipe."""
    known = tuple(known)
    hint = did_you_mean(name, known, "")
    return f"there is no recipe {name!r}: choose one of {', '.join(known)}{f'; {hint}' if hint else ''}"


def own_recipes(given: Mapping[str, Recipe]) -> Mapping[str, Recipe]:
    """Return the package's methods and the user's own.

    Raises SettingsError: a name is taken or invalid, or a method is not a function.
    """
    for name, method in given.items():
        if not (isinstance(name, str) and _NAME.fullmatch(name)) or name in RECIPES or name.startswith("outline"):
            raise SettingsError(
                f"a recipe cannot be called {name!r}: take letters, digits and hyphens, none of {', '.join(RECIPES)}, "
                "and no name that begins with outline"
            )
        if not callable(method):
            raise SettingsError(f"the recipe {name!r} is not a function of a run's context")
    return {**RECIPES, **given}
