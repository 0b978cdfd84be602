"""Whole methods, each a composition of steps. An ablation or a baseline is another recipe, never a flag in a step."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial

from storm_pipeline.errors import ContradictionError, SettingsError
from storm_pipeline.evidence.evidence import Evidence
from storm_pipeline.method.context import RunContext
from storm_pipeline.method.steps import searching
from storm_pipeline.method.steps.article import (
    as_article,
    finish,
    gather_evidence,
    search_for_answer,
    write_answer,
    write_from_memory,
)
from storm_pipeline.method.steps.interviews import (
    ask_all_at_once,
    hold_interviews,
    hold_interviews_in_rounds,
    hold_interviews_without_perspectives,
)
from storm_pipeline.method.steps.outline import (
    draft_outline,
    inputs_of_refinement,
    keep_outline,
    plan_outline,
    refine_outline,
)
from storm_pipeline.method.steps.points import look_up_points
from storm_pipeline.method.steps.reading import read_pages
from storm_pipeline.method.writers.writing import evidence_cited, evidence_from, write_article, write_sections
from storm_pipeline.run.concurrency import Tasks
from storm_pipeline.settings import Settings
from storm_pipeline.text.files import table_beside
from storm_pipeline.text.formatting import did_you_mean
from storm_pipeline.types import UNTITLED, Article, Conversations, Heading, Outline, Snippet

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9+_-]{0,59}")
Interviews = Callable[[RunContext], Conversations]
FurtherResearch = Callable[[RunContext, Conversations], Conversations]
_questions_at_once = partial(hold_interviews, interview=ask_all_at_once)
WITHOUT_OUTLINE = frozenset({"storm-no-outline", "rag", "rr", "rr-no-documents", "answer", "answer-no-outline"})
"""Methods that write without an outline and accept none from the user."""
Recipe = Callable[[RunContext], Article]
"""A whole method: from a run's context to an article."""
_OUTLINE = "outline"  # recipe in the folder of an outline run of STORM; ``outline-<recipe>`` for others
DEFAULT = "storm-iterative"
"""The method that writes the best articles; experiments name theirs."""
EXTRACTS = frozenset({DEFAULT, "answer"})
"""Methods that can make an extract instead."""


def storm(ctx: RunContext) -> Article:
    """Write an article with STORM: interviews by perspective, outline, parallel sections, editing, lead (section 3)."""
    return _write_sections(ctx, *_outline_and_interviews(ctx, hold_interviews))


def storm_iterative(ctx: RunContext) -> Article:
    """Write an article with STORM and further research on questions that the interviews left open, before writing.

    Not in the paper. The outline drafter and the interviewers see the results of a first search, and interviewers see
    each other's questions. A search with few new results is repeated for more, and pages that a model chooses are read
    in full. If the settings say so, an extract is made instead.
    """
    if ctx.settings.is_extract:
        from storm_pipeline.method.steps.extract import extract

        return extract(ctx)
    ctx = searching.look_up_topic(ctx)
    outline, conversations, notes = look_up_points(
        ctx, *_outline_and_interviews(ctx, hold_interviews_in_rounds, read_pages)
    )
    return _from_evidence(ctx, gather_evidence(ctx, outline, conversations, notes), conversations)


def storm_no_perspective(ctx: RunContext) -> Article:
    """Write an article with STORM without perspectives in the prompts; as many interviews (section 5.2)."""
    return _write_sections(ctx, *_outline_and_interviews(ctx, hold_interviews_without_perspectives))


def storm_no_conversation(ctx: RunContext) -> Article:
    """Write an article with STORM whose interviewers ask all questions at once; as many questions (section 5.2)."""
    return _write_sections(ctx, *_outline_and_interviews(ctx, _questions_at_once))


def storm_no_outline(ctx: RunContext) -> Article:
    """Write an article with STORM in one piece from the topic and the whole conversations (section 5.2)."""
    conversations = hold_interviews(ctx)
    article = write_article(ctx, evidence_cited(ctx, conversations), conversations)
    return as_article(ctx, article, conversations=conversations)


def _outline_and_interviews(
    ctx: RunContext, interviews: Interviews, further: FurtherResearch | None = None
) -> tuple[Outline, Conversations]:
    """Run STORM's pre-writing stage (Algorithm 1); return the refined outline and the conversations.

    The draft does not depend on the interviews, nor further research on the refinement: they run concurrently.
    """
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
    body = finish(ctx, write_sections(ctx, evidence.outline, evidence.sections), conversations)
    return as_article(ctx, body, evidence.outline, searching.without_excluded_pages(ctx, conversations), evidence)


def direct(ctx: RunContext) -> Article:
    """Write outline and article from the model's own knowledge, without sources: Direct Gen (section 4.3)."""
    outline = direct_outline(ctx)
    return as_article(ctx, write_from_memory(ctx, outline), outline)


def rag(ctx: RunContext) -> Article:
    """Search for the topic and write the whole article from the results alone: RAG (section 4.3).

    The paper makes an outline *or* an article with it: the outline is :func:`rag_outline`; this article has none.
    """
    return _write_at_once(ctx, searching.search_with_topic(ctx))


def orag(ctx: RunContext) -> Article:
    """Write as STORM does, from RAG's outline and a search per section title: outline-driven RAG (section 4.3)."""
    outline = rag_outline(ctx)
    ctx.store.add(searching.search_all(ctx, [f"{ctx.brief.topic} {section.title}" for section in outline.sections]))
    searching.leave_out_copies(ctx)
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
    found = [searching.search_all(ctx, [need]) for need in needs]
    best = [searching.usable(ctx, snippets)[: ctx.settings.top_k] for snippets in found]
    number = sum(map(bool, best)) or 1  # sections without results leave their words to the others
    parts = [evidence_from(ctx, *part, number) for part in zip(outline.sections, best, strict=True)]
    return _from_evidence(ctx, Evidence(outline, tuple(parts)))


def answer(ctx: RunContext) -> Article:
    """Write an outline-enhanced answer (FoRAG 4.1): search, an outline whose points name their passages, expansion.

    If the settings say so, an extract is made instead: the sources' sentences that are nearest to the question.
    """
    if ctx.settings.is_extract:
        from storm_pipeline.method.steps.extract import extract_answer

        return extract_answer(ctx)
    return as_article(ctx, write_answer(ctx, search_for_answer(ctx), ctx.programs.answer))


def answer_no_outline(ctx: RunContext) -> Article:
    """Write the answer in one call from the same passages: FoRAG's generator without the outline (table 4)."""
    return as_article(ctx, write_answer(ctx, search_for_answer(ctx), ctx.programs.plain_answer))


def direct_outline(ctx: RunContext) -> Outline:
    """Make the outline of :func:`direct`."""
    return keep_outline(ctx, draft_outline(ctx))


def rag_outline(ctx: RunContext) -> Outline:
    """Make the outline of RAG and oRAG (Table 3) from a search with the topic."""
    return keep_outline(ctx, plan_outline(ctx, searching.search_with_topic(ctx)))


def _best_chunks(ctx: RunContext) -> tuple[Snippet, ...]:
    return searching.search_with_topic(ctx)[: ctx.settings.top_k]


def _write_at_once(ctx: RunContext, snippets: Sequence[Snippet]) -> Article:
    """Write an article without an outline, from search results."""
    return as_article(ctx, write_article(ctx, evidence_from(ctx, Heading(UNTITLED), snippets)))


def require_outline(recipe: str) -> None:
    """Check that a method writes from an outline, so that the user may give one. Raises SettingsError: it does not."""
    if recipe in WITHOUT_OUTLINE:
        raise SettingsError(f"{recipe} writes without an outline: leave --outline out, or choose another recipe")


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


OUTLINES: Mapping[str, Callable[[RunContext], Outline]] = {
    "storm": lambda ctx: _outline_and_interviews(ctx, hold_interviews)[0],
    DEFAULT: lambda ctx: _outline_and_interviews(searching.look_up_topic(ctx), hold_interviews_in_rounds)[0],
    "storm-no-perspective": lambda ctx: _outline_and_interviews(ctx, hold_interviews_without_perspectives)[0],
    "storm-no-conversation": lambda ctx: _outline_and_interviews(ctx, _questions_at_once)[0],
    "direct": direct_outline,
    "rag": rag_outline,
}
"""The pre-writing stages, by recipe name; recipes not listed make no outline or share one of these."""


PROGRAMS: Mapping[str, frozenset[str]] = {
    recipe: frozenset(programs.split()) for recipe, programs in table_beside(__file__).items()
}
"""Recipe → the programs that it asks, besides those for remarks and checks; compiling others does not change it."""


def outline_run(recipe: str) -> str:
    """Return the recipe in the folder of a run that makes an outline. Raises SettingsError: it makes none."""
    if recipe not in OUTLINES:
        raise SettingsError(f"there is no outline recipe {recipe!r}: choose one of {', '.join(OUTLINES)}")
    return _OUTLINE if recipe == "storm" else f"{_OUTLINE}-{recipe}"


def recipe_of_run(name: str) -> tuple[str, bool]:
    """Return the method of the recipe in a run's folder, and whether the run makes an outline."""
    if not name.startswith(_OUTLINE):
        return name, False
    return name.removeprefix(_OUTLINE).removeprefix("-") or "storm", True


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


def require_recipe(name: str, known: Iterable[str]) -> None:
    """Check that a recipe is among the known ones. Raises SettingsError: it is not."""
    if name not in (known := tuple(known)):
        hint = did_you_mean(name, known, "")
        given = f"there is no recipe {name!r}: choose one of {', '.join(known)}"
        raise SettingsError(f"{given}; {hint}" if hint else given)


def own_recipes(given: Mapping[str, Recipe]) -> Mapping[str, Recipe]:
    """Return the package's methods and the user's own.

    Raises SettingsError: a name is taken or invalid, or a method is not a function.
    """
    for name, method in given.items():
        if not (isinstance(name, str) and _NAME.fullmatch(name)) or name in RECIPES or name.startswith(_OUTLINE):
            raise SettingsError(
                f"a recipe cannot be called {name!r}: take letters, digits and hyphens, none of {', '.join(RECIPES)}, "
                "and no name that begins with outline"
            )
        if not callable(method):
            raise SettingsError(f"the recipe {name!r} is not a function of a run's context")
    return {**RECIPES, **given}
