"""Looks points up: first in the run's passages, then on the web for points that these do not answer.

All points of a section are answered in one call, from passages that are numbered once.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from itertools import islice, zip_longest

from storm_pipeline.errors import ModelError
from storm_pipeline.evidence.cleaning import has_sentences
from storm_pipeline.evidence.passages import Passage, distinct, numbered_passages, passages
from storm_pipeline.evidence.subject import keep_relevant
from storm_pipeline.method.context import RunContext
from storm_pipeline.method.steps.searching import distinct_queries, search_all, usable
from storm_pipeline.method.writers.drafts import without_prompt_lines
from storm_pipeline.method.writers.passage_answers import keep_supported, select_within, words_for_answer
from storm_pipeline.run.concurrency import parallel_map
from storm_pipeline.run.journal import call_scope
from storm_pipeline.signatures.shapes import PointAnswer
from storm_pipeline.types import Snippet, Turn

_PASSAGES = 6  # snippets for a question, without their neighbours
_SEARCHED = 12  # maximum points of a run that are searched for on the web

SnippetsByQuestion = Mapping[str, Sequence[Snippet]]
"""A question → the snippets that may answer it, best first."""
Sections = Sequence[tuple[str, Sequence[str]]]
"""Titles of sections with their open questions, most important first."""


def answer_all_points(ctx: RunContext, wanted: Sections, read: Collection[str] = frozenset()) -> dict[str, Turn]:
    """Return each question with its answer, in order; questions that stay open have an empty one.

    One call answers all of a section's questions from the run's passages. Questions that stay open, as a whole before
    those in part, are searched for with the model's queries, at most twelve questions, the first of each section first,
    and answered in another call. A failing call is recorded and leaves its questions open.

    Args:
        read: ids of the snippets that were read completely and cannot answer open questions.
    """
    questions = [question for _, section in wanted for question in section]
    # Searched before the answers add to the store, so that results do not depend on their order.
    ranked = ([s for s in ranking if s.id not in read] for ranking in ctx.store.search(questions, 2 * _PASSAGES))
    candidates = {question: ranking[:_PASSAGES] for question, ranking in zip(questions, ranked, strict=True)}
    turns = _answer_sections(ctx, wanted, candidates)
    ranks = zip_longest(*(section for _, section in wanted))
    still_open = [q for rank in ranks for q in rank if q and (turns[q].queries or not turns[q].answer)]
    searched = sorted(still_open, key=lambda question: bool(turns[question].answer))[:_SEARCHED]
    queries = {question: distinct_queries(ctx, turns[question].queries) or (question,) for question in searched}
    further = _search_web(ctx, queries, wanted, turns)
    again = [("", [question for question in searched if further[question]])]
    second = _answer_sections(ctx, again, further)
    joined = turns | {question: _join_turns(turns[question], turn) for question, turn in second.items()}
    return {question: replace(turn, queries=queries.get(question, ())) for question, turn in joined.items()}


def _join_turns(first: Turn, other: Turn) -> Turn:
    """Return one turn with what two turns of one question say."""
    answer = tuple(dict.fromkeys((*first.answer, *other.answer)))
    return replace(first, answer=answer, snippets=tuple(dict.fromkeys((*first.snippets, *other.snippets))))


def _answer_sections(ctx: RunContext, wanted: Sections, candidates: SnippetsByQuestion) -> dict[str, Turn]:
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


def _search_web(
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


def answer_points(
    ctx: RunContext, section: str, questions: Sequence[str], candidates: SnippetsByQuestion
) -> list[Turn]:
    """Return a turn for each question, with queries for a web search where the passages leave something open.

    ``section``: title of the section that the questions belong to; empty for several.

    Raises ModelError: the model fails.
    """
    shown = _choose_passages(ctx, questions, candidates)
    if not shown:
        return [Turn(question) for question in questions]
    inputs: dict[str, object] = {
        **ctx.brief.inputs,
        "section": section,
        "passages": numbered_passages(shown),
        "questions": "\n".join(f"{number}. {question}" for number, question in enumerate(questions, 1)),
    }
    reply = ctx.ask("expert", ctx.programs.point_answers, **inputs).answers
    replies = {answer.point: answer for answer in reversed(reply)}
    snippets = [snippet for passage in shown for snippet in passage.snippets]
    turns = []
    for number, question in enumerate(questions, 1):
        own_reply = replies.get(number, PointAnswer(point=number))
        text = without_prompt_lines(own_reply.answer, inputs)
        answer = keep_supported(ctx, question, text, shown) if text.strip() else ()
        ids = {*(s.id for s in candidates[question]), *(c.snippet_id for s in answer for c in s.citations)}
        shown_for_it = tuple(snippet for snippet in snippets if snippet.id in ids)
        turns.append(Turn(question, tuple(own_reply.queries), answer, shown_for_it))
    return turns


def _choose_passages(ctx: RunContext, questions: Sequence[str], candidates: SnippetsByQuestion) -> tuple[Passage, ...]:
    """Return the best passages for each question in turn, with their neighbours, as many as an answer may be shown.

    The best one for each question comes with its neighbours; those of the others fill the room that is left. Pages
    related neither to the topic nor to a question are left out; menus and lists come last.
    """
    ranks = zip_longest(*(candidates[question] for question in questions))
    hits = tuple(dict.fromkeys(snippet for rank in ranks for snippet in rank if snippet is not None))
    if not hits:
        return ()
    relevant = keep_relevant(ctx.brief, hits, ctx.store.embed, *questions) or hits
    ctx.events.count(off_topic=len(hits) - len(relevant))
    ranked = distinct(sorted(relevant, key=lambda snippet: not has_sentences(snippet.text)))
    every = (*hits, *(beside for hit in hits for beside in ctx.store.source(hit.source_id).snippets))
    shown = passages(select_within(ranked, every, words_for_answer(ctx), len(questions)), language=ctx.brief.language)
    ctx.store.add(snippet for passage in shown for snippet in passage.snippets)
    return shown
