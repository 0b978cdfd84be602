"""Conversations between a writer with a perspective and an expert with a search engine (paper section 3.2)."""

from collections.abc import Collection, Sequence
from dataclasses import replace

from storm_pipeline.errors import ModelError
from storm_pipeline.method.context import RunContext, piece_of
from storm_pipeline.method.steps.searching import QueryResults, distinct_queries, find
from storm_pipeline.method.writers.passage_answers import answer_from_passages
from storm_pipeline.run.concurrency import parallel_map
from storm_pipeline.run.journal import call_scope
from storm_pipeline.text.plain import one_line
from storm_pipeline.text.words import folded_words
from storm_pipeline.types import Conversation, Perspective, Sentence, Turn

_FAREWELL = "thank you so much for your help"
"""The reply that the prompt asks for if a writer has no more questions."""
_DEEPER = 2  # depth factor of a repeated search if half of the results were shown before
_IN_ITS_LANGUAGE = (
    "where the topic belongs to a place whose people mainly write in another language, one of the queries in that one"
)
_TITLES = 6
_FIRST_TRIES = 3  # attempts at the first question: small models may end the interview before asking anything


def converse(ctx: RunContext, perspective: Perspective) -> Conversation:
    """Hold one conversation of at most M turns. Raises ModelAuthError: the endpoint refuses the key."""
    turns: tuple[Turn, ...] = ()
    while len(turns) < ctx.settings.turns and (turn := next_turn(ctx, perspective, turns)):
        turns = (*turns, turn)
    return Conversation(perspective, turns)


def next_turn(
    ctx: RunContext,
    perspective: Perspective,
    turns: tuple[Turn, ...] = (),
    others: Sequence[Sequence[Turn]] | None = None,
) -> Turn | None:
    """Return the next turn of a conversation; None: the writer has nothing more to ask, or fails, which is recorded.

    Passages shown to the expert are added to the store at once, so that they are embedded in the background.

    ``others``: for each turn so far, those of the same number of other interviews, which writer and expert then see,
    and a search with few new results is repeated for more. None: interviews share nothing, as in the paper.
    """
    piece = piece_of(perspective)
    with call_scope(piece):
        try:
            question = _ask_question(ctx, perspective, turns, others or ())
            if question is None:
                return None
            known = {snippet.id for turn in turns for snippet in turn.snippets}
            shared = () if others is None else (turns, *others)
            earlier = [sentence for before in shared for turn in before for sentence in turn.answer]
            turn = look_up(ctx, question, known=known, earlier=earlier, deeper=others is not None)
        except ModelError as error:
            ctx.events.failed(f"turn {len(turns) + 1} of {perspective.name!r}", error)
            return None
    ctx.run.save_json(piece, Conversation(perspective, (*turns, turn)))
    ctx.events.advance(f"{perspective.name}: {question}")
    return turn


def ask_all_at_once(ctx: RunContext, perspective: Perspective) -> Conversation:
    """Ask M questions generated in one call, and answer them in parallel (paper section 5.2).

    The ablation of the conversation: as many questions as an interview has, but no follow-up questions. Failures are
    recorded.
    """
    number = ctx.settings.turns
    with call_scope(piece_of(perspective)):
        try:
            reply = ctx.ask(
                "asker",
                ctx.programs.questions,
                **ctx.brief.inputs,
                perspective=_describe(perspective),
                number=number,
            ).questions
        except ModelError as error:
            ctx.events.failed(f"questions of {perspective.name!r}", error)
            return Conversation(perspective)
        questions = list(dict.fromkeys(" ".join(question.split()) for question in reply if question.strip()))[:number]
        turns = parallel_map(lambda question: _try_looking_up(ctx, question), questions, workers=len(questions))
    conversation = Conversation(perspective, tuple(turn for turn in turns if turn is not None))
    ctx.run.save_json(piece_of(perspective), conversation)
    return conversation


def _try_looking_up(ctx: RunContext, question: str) -> Turn | None:
    try:
        turn = look_up(ctx, question)
    except ModelError as error:
        ctx.events.failed(f"question {question!r}", error)
        return None
    ctx.events.advance(question)
    return turn


def _describe(perspective: Perspective) -> str:
    """Return the perspective as given in prompts; empty if it has no focus."""
    return f"{perspective.name}. {perspective.focus}" if perspective.focus else ""


def look_up(
    ctx: RunContext,
    question: str,
    *,
    known: Collection[str] = frozenset(),
    earlier: Sequence[Sentence] = (),
    deeper: bool = False,
) -> Turn:
    """Search for a question and return the turn with its queries and answer. Raises ModelError: the model fails.

    Args:
        known: ids of snippets that are left out of the results.
        earlier: sentences of earlier answers; the expert sees the sentences that cite the passages shown.
        deeper: whether a search is repeated for more if half of its results are known.
    """
    queries, results = _search_for(ctx, question, known=known, deeper=deeper)
    answer = answer_from_passages(ctx, question, results.snippets, results.page_passages, earlier=earlier)
    return replace(answer, queries=queries)


def _search_for(
    ctx: RunContext, question: str, *, known: Collection[str] = frozenset(), deeper: bool = False
) -> tuple[tuple[str, ...], QueryResults]:
    """Return the queries for a question, and their results. Raises ModelError: the model fails.

    Args:
        known: ids of snippets that are left out of the results.
        deeper: whether the search is repeated for twice as many results if half of them are known. Not in the paper.
    """
    topic, number = ctx.brief.topic_with_note, ctx.settings.queries
    also = _IN_ITS_LANGUAGE if number > 1 else ""
    reply = ctx.ask("expert", ctx.programs.queries, topic=topic, also=also, question=question, number=number)
    queries = distinct_queries(ctx, reply.queries)
    results = find(ctx, queries or (question,))
    new = tuple(snippet for snippet in results.snippets if snippet.id not in known)
    if deeper and results.snippets and len(new) <= len(results.snippets) / 2:
        results = find(ctx, queries or (question,), depth=_DEEPER)
        new = tuple(snippet for snippet in results.snippets if snippet.id not in known)
    page_passages = tuple(snippet for snippet in results.page_passages if snippet.id not in known)
    return queries, QueryResults(tuple(dict.fromkeys(new)), page_passages)


def _ask_question(
    ctx: RunContext, perspective: Perspective, turns: Sequence[Turn], others: Sequence[Sequence[Turn]]
) -> str | None:
    """Return the next question, or None when the writer has nothing more to ask."""
    for tried in range(1 if turns else _FIRST_TRIES):
        with call_scope(f"try {tried + 1}"):  # otherwise a seed would reproduce the same reply
            reply = _reply_of_asker(ctx, perspective, history(turns, others, ctx.settings.turns))
        if _FAREWELL not in _plain(reply):
            break
    else:
        return None
    question = one_line(reply)
    asked = {_plain(turn.question) for turn in turns}
    return None if _plain(question) in asked else question


def _reply_of_asker(ctx: RunContext, perspective: Perspective, conversation: str) -> str:
    """Return the writer's next reply; the prompt mentions perspectives only if the writer has one."""
    about = {"topic": ctx.brief.topic_with_preview, "language": ctx.brief.language_name, "conversation": conversation}
    if not perspective.focus:
        return str(ctx.ask("asker", ctx.programs.plain_question, **about).question)
    return str(ctx.ask("asker", ctx.programs.question, perspective=_describe(perspective), **about).question)


def history(turns: Sequence[Turn], others: Sequence[Sequence[Turn]] = (), questions: int = 0) -> str:
    """Return the conversation so far as text; each turn only appends to it, for prefix caches.

    Titles of the search results show the writer what the sources cover.

    Args:
        others: for each turn, the other interviewers' turns of the same number.
        questions: how many questions the interview has, to number them in the text; 0: not numbered.
    """
    asked_by = (" ".join(turn.question for turn in beside) for beside in others)
    meanwhile = [f"\nAsked by other writers: {asked}" if asked else "" for asked in asked_by]
    meanwhile += [""] * (len(turns) - len(meanwhile))
    exchanges = [
        f"Writer: {turn.question}\nExpert: {turn.answer_text}{_titles_found(turn)}{asked}"
        for turn, asked in zip(turns, meanwhile, strict=True)
    ]
    if not questions:
        return "\n".join(exchanges)
    numbered = (f"Question {n} of {questions}:\n{exchange}" for n, exchange in enumerate([*exchanges, ""], 1))
    return "\n".join(["An interview:", *numbered]).rstrip()  # of two lines, for an equal beginning of every prompt


def _titles_found(turn: Turn) -> str:
    titles = list(dict.fromkeys(snippet.title for snippet in turn.snippets if snippet.title))
    return f"\nFound: {'; '.join(titles[:_TITLES])}" if titles else ""


def _plain(question: str) -> str:
    return " ".join(folded_words(question))
