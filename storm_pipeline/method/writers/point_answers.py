"""Answers to the points of a section: all in one call, from passages that are numbered once."""

from collections.abc import Mapping, Sequence
from itertools import zip_longest

from storm_pipeline.evidence.cleaning import has_sentences
from storm_pipeline.evidence.passages import Passage, distinct, numbered_passages, passages
from storm_pipeline.evidence.subject import keep_relevant
from storm_pipeline.method.context import RunContext
from storm_pipeline.method.writers.drafts import without_prompt_lines
from storm_pipeline.method.writers.passage_answers import supported, that_fit, words_for_answer
from storm_pipeline.signatures.shapes import PointAnswer
from storm_pipeline.types import Snippet, Turn

SnippetsByQuestion = Mapping[str, Sequence[Snippet]]
"""A question → the snippets that may answer it, best first."""


def answer_points(
    ctx: RunContext, section: str, questions: Sequence[str], candidates: SnippetsByQuestion
) -> list[Turn]:
    """Return a turn for each question; a question that the passages do not answer has queries for a web search.

    ``section``: title of the section that the questions belong to; empty for several.

    Raises ModelError: the model fails.
    """
    shown = _shown(ctx, questions, candidates)
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
        answer = supported(ctx, question, text, shown) if text.strip() else ()
        queries = () if answer else tuple(own_reply.queries)
        ids = {*(s.id for s in candidates[question]), *(c.snippet_id for s in answer for c in s.citations)}
        turns.append(Turn(question, queries, answer, tuple(snippet for snippet in snippets if snippet.id in ids)))
    return turns


def _shown(ctx: RunContext, questions: Sequence[str], candidates: SnippetsByQuestion) -> tuple[Passage, ...]:
    """Return the best passages for each question in turn, with their neighbours, as many as an answer may be shown.

    The best one for each question comes with its neighbours; those of the others fill the room that is left. Pages
    related neither to the topic nor to a question are left out; menus and lists come last.
    """
    ranks = zip_longest(*(candidates[question] for question in questions))
    language, asked = ctx.brief.language, " ".join(questions)
    hits = tuple(dict.fromkeys(snippet for rank in ranks for snippet in rank if snippet is not None))
    if not hits:
        return ()
    relevant = keep_relevant(ctx.brief, hits, ctx.store.embed, asked) or hits
    ctx.events.count(off_topic=len(hits) - len(relevant))
    ranked = distinct(sorted(relevant, key=lambda snippet: not has_sentences(snippet.text)))
    every = (*hits, *(beside for hit in hits for beside in ctx.store.source(hit.source_id).snippets))
    shown = passages(that_fit(ranked, every, words_for_answer(ctx), len(questions)), language=language)
    ctx.store.add(snippet for passage in shown for snippet in passage.snippets)
    return shown
