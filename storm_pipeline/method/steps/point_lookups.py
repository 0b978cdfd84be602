"""Looks points up: first in the run's passages, then on the web for points that these do not answer."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from itertools import islice, zip_longest

from storm_pipeline.errors import ModelError
from storm_pipeline.method.context import RunContext
from storm_pipeline.method.steps.exclusions import usable
from storm_pipeline.method.steps.searching import distinct_queries, search_all
from storm_pipeline.method.writers.point_answers import SnippetsByQuestion, answer_points
from storm_pipeline.run.concurrency import parallel_map
from storm_pipeline.run.journal import call_scope
from storm_pipeline.types import Snippet, Turn

_PASSAGES = 6  # snippets for a question, without their neighbours
_SEARCHED = 12  # maximum points of a run that are searched for on the web

Sections = Sequence[tuple[str, Sequence[str]]]
"""Titles of sections with their open questions, most important first."""


def answered_points(ctx: RunContext, wanted: Sections, read: Collection[str] = frozenset()) -> dict[str, Turn]:
    """Return each question with its answer, in order; questions that stay open have an empty one.

    One call answers all of a section's questions from the run's passages. Questions that these do not answer are
    searched for with the model's queries, at most twelve questions, the first of each section first, and answered in
    another call. A failing call is recorded and leaves its questions open.

    Args:
        read: ids of the snippets that were read completely and cannot answer open questions.
    """
    questions = [question for _, section in wanted for question in section]
    # Searched before the answers add to the store, so that results do not depend on their order.
    ranked = ([s for s in ranking if s.id not in read] for ranking in ctx.store.search(questions, 2 * _PASSAGES))
    candidates = {question: ranking[:_PASSAGES] for question, ranking in zip(questions, ranked, strict=True)}
    turns = _answered(ctx, wanted, candidates)
    ranks = zip_longest(*(section for _, section in wanted))
    still_open = (question for rank in ranks for question in rank if question and not turns[question].answer)
    searched = list(islice(still_open, _SEARCHED))
    queries = {question: distinct_queries(ctx, turns[question].queries) or (question,) for question in searched}
    further = _searched(ctx, queries, wanted, turns)
    again = [("", [question for question in searched if further[question]])]
    second = _answered(ctx, again, further)
    return turns | {question: replace(turn, queries=queries[question]) for question, turn in second.items()}


def _answered(ctx: RunContext, wanted: Sections, candidates: SnippetsByQuestion) -> dict[str, Turn]:
    asked = [(title, section) for title, section in wanted if section]

    def answer(section: tuple[str, Sequence[str]]) -> list[Turn]:
        title, questions = section
        try:
            with call_scope(title or "again"):
                return answer_points(ctx, title, questions, candidates)
        except ModelError as error:
            ctx.events.failed(f"points of section {title!r}" if title else "points that were searched for", error)
            return [Turn(question) for question in questions]
        finally:
            ctx.events.advance(title or "again")

    held = parallel_map(answer, asked, workers=len(asked))
    return {turn.question: turn for turns in held for turn in turns}


def _searched(
    ctx: RunContext, queries: Mapping[str, Sequence[str]], wanted: Sections, turns: dict[str, Turn]
) -> dict[str, tuple[Snippet, ...]]:
    """Return for each question new web results alternating with passages not shown for its section."""
    questions = list(queries)
    results = parallel_map(
        lambda texts: usable(ctx, search_all(ctx, texts)), list(queries.values()), workers=len(queries)
    )
    before = {
        question: [s for other in section for s in turns[other].snippets]
        for _, section in wanted
        for question in section
    }
    editions = ctx.store.editions()
    further = {}
    held = (ctx.store.search_fused(texts, _PASSAGES) for texts in queries.values())
    for question, new, old in zip(questions, results, held, strict=True):
        shown = dict.fromkeys(before[question])
        ranked = dict.fromkeys(snippet for rank in zip_longest(new, old) for snippet in rank if snippet is not None)
        distinct = editions.one_per_text((*shown, *ranked))
        further[question] = tuple(islice((snippet for snippet in distinct if snippet not in shown), _PASSAGES))
    return further
