"""Perspectives from related articles, and all interviews of a run in parallel (Algorithm 1, lines 1 to 23).

An interview is a conversation between a writer with a perspective and an expert with a search engine (section 3.2).
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace

from storm_pipeline.errors import ModelError, SearchError
from storm_pipeline.method.context import RunContext, piece_of
from storm_pipeline.method.steps.searching import (
    distinct_queries,
    find,
    nothing_found,
    without_excluded_pages,
)
from storm_pipeline.method.writers.passage_answers import answer_from_passages
from storm_pipeline.run.concurrency import Tasks, parallel_map
from storm_pipeline.run.journal import call_scope
from storm_pipeline.signatures.shapes import Editor
from storm_pipeline.text.plain import one_line
from storm_pipeline.text.words import folded_words
from storm_pipeline.types import Conversation, Conversations, Perspective, Sentence, Snippet, Turn

_FAREWELL = "thank you so much for your help"  # the reply that the prompt asks for if a writer has no more questions
_DEEPER = 2  # depth factor of a repeated search if half of the results were shown before
_IN_ITS_LANGUAGE = (
    "where the topic belongs to a place whose people mainly write in another language, one of the queries in that one"
)
_TITLES = 6
_FIRST_TRIES = 3  # attempts at the first question: small models may end the interview before asking anything
_HEADINGS_SHOWN = 14
BASIC_FACT_WRITER = Perspective("Basic fact writer", "Broadly covers the basic facts about the topic.")
"""p0 of the paper: takes part in every run."""
Interview = Callable[[RunContext, Perspective], Conversation]


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
                "asker", ctx.programs.questions, **ctx.brief.inputs, perspective=_describe(perspective), number=number
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
        deeper: whether the search is repeated for twice as many results if half of them are known. Not in the paper.
    """
    topic, number = ctx.brief.topic_with_note, ctx.settings.queries
    also = _IN_ITS_LANGUAGE if number > 1 else ""
    reply = ctx.ask("expert", ctx.programs.queries, topic=topic, also=also, question=question, number=number)
    queries = distinct_queries(ctx, reply.queries)

    def unknown(snippets: Sequence[Snippet]) -> tuple[Snippet, ...]:
        return tuple(snippet for snippet in snippets if snippet.id not in known)

    results = find(ctx, queries or (question,))
    if deeper and results.snippets and len(unknown(results.snippets)) <= len(results.snippets) / 2:
        results = find(ctx, queries or (question,), depth=_DEEPER)
    new = tuple(dict.fromkeys(unknown(results.snippets)))
    answer = answer_from_passages(ctx, question, new, unknown(results.page_passages), earlier=earlier)
    return replace(answer, queries=queries)


def _ask_question(
    ctx: RunContext, perspective: Perspective, turns: Sequence[Turn], others: Sequence[Sequence[Turn]]
) -> str | None:
    """Return the next question, or None when the writer has nothing more to ask.

    The prompt mentions perspectives only if the writer has one.
    """
    about = {"topic": ctx.brief.topic_with_preview, "language": ctx.brief.language_name}
    about |= {"conversation": history(turns, others, ctx.settings.turns)}
    about |= {"perspective": _describe(perspective)} if perspective.focus else {}
    program = ctx.programs.question if perspective.focus else ctx.programs.plain_question
    for tried in range(1 if turns else _FIRST_TRIES):
        with call_scope(f"try {tried + 1}"):  # otherwise a seed would reproduce the same reply
            reply = str(ctx.ask("asker", program, **about).question)
        if _FAREWELL not in _plain(reply):
            break
    else:
        return None
    question = one_line(reply)
    asked = {_plain(turn.question) for turn in turns}
    return None if _plain(question) in asked else question


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


def related_contents(ctx: RunContext) -> str:
    """Return the contents of related articles, one line per article: ``Title: heading; heading; …``.

    An article whose contents are not available is left out: its title gives the model no information that it did not
    supply itself. If the contents cannot be fetched, that is recorded once.
    """
    if ctx.settings.related_topics == 0:
        return ""
    with ctx.events.in_stage("related topics"):
        try:
            titles = ctx.ask("asker", ctx.programs.related, topic=ctx.brief.topic_with_preview).related_topics
        except ModelError as error:
            ctx.events.failed("no related topics", error)
            return ""
        topic, distinct = ctx.brief.topic.casefold(), dict.fromkeys(title.strip() for title in titles)
        others = (title for title in distinct if title and title.casefold() != topic)
        usable = [title for title in others if not ctx.search.run_search.excludes_title(title)]
        titles = usable[: ctx.settings.related_topics]
        contents = parallel_map(lambda title: _contents_line(ctx, title), titles, workers=len(titles))
        errors = [str(item) for item in contents if isinstance(item, SearchError)]
        if errors:
            first = min(errors, key=len)  # others may say that the engine is left alone after it
            ctx.events.degraded(f"{len(errors)} of {len(titles)} tables of contents could not be fetched: {first}")
        lines = [item for item in contents if item and isinstance(item, str)]
        ctx.run.save_json("contents.json", lines)
        return "\n".join(lines)


def _contents_line(ctx: RunContext, title: str) -> str | SearchError:
    """Return an article's contents on one line, empty if unknown or excluded, or the SearchError of the request."""
    try:
        contents = ctx.contents.table_of_contents(title)
    except SearchError as error:
        return error
    if not contents or not contents.headings or ctx.search.run_search.excludes_title(contents.title):
        return ""
    return f"{title}: " + "; ".join(text for _, text in contents.headings[:_HEADINGS_SHOWN])


def find_perspectives(ctx: RunContext) -> tuple[Perspective, ...]:
    """Return the user's perspectives, or N distinct ones besides p0 found with related tables of contents."""
    perspectives = ctx.user_pieces.perspectives
    if perspectives is None:
        perspectives = _named_perspectives(ctx, related_contents(ctx))
    ctx.run.save_json("perspectives.json", perspectives)
    return perspectives


def _named_perspectives(ctx: RunContext, contents: str) -> tuple[Perspective, ...]:
    """Return N perspectives, or fewer, which is recorded, when the model names fewer."""
    wanted = ctx.settings.perspectives
    if wanted == 0:
        return ()
    with ctx.events.in_stage("perspectives"):
        try:
            reply = ctx.ask(
                "asker",
                ctx.programs.perspectives,
                topic=ctx.brief.topic_with_preview,
                related_contents=contents,
                language=ctx.brief.language_name,
                number=wanted,
            )
        except ModelError as error:
            ctx.events.failed("no perspectives but the basic facts", error)
            return ()
        distinct: dict[str, Editor] = {}
        for editor in reply.editors:
            distinct.setdefault(editor.name.casefold().strip(), editor)
        chosen = list(distinct.values())[:wanted]
        if len(chosen) < wanted:
            ctx.events.degraded(f"the model named {len(chosen)} distinct perspectives of {wanted}")
        return tuple(Perspective(editor.name.strip(), editor.focus.strip()) for editor in chosen)


def hold_interviews(ctx: RunContext, interview: Interview = converse) -> Conversations:
    """Hold the basic-fact writer's interview and, as soon as they are known, those of the perspectives.

    Raises ModelError: no question could be asked; NothingFoundError: no question found a source.
    """
    with Tasks() as tasks, ctx.events.in_stage("conversations", total=_most_turns(ctx)):
        first = tasks.start(interview, ctx, BASIC_FACT_WRITER)
        others = [tasks.start(interview, ctx, perspective) for perspective in find_perspectives(ctx)]
        held = tuple(task.result() for task in (first, *others))
    return _require_findings(ctx, held)


def hold_interviews_in_rounds(ctx: RunContext) -> Conversations:
    """Hold the interviews of :func:`hold_interviews` a question each at a time, so that each sees the others' turns.

    Not in the paper. No two of them research the same, and no prompt depends on which was faster.
    """
    with Tasks() as tasks, ctx.events.in_stage("conversations", total=_most_turns(ctx)):
        first = tasks.start(next_turn, ctx, BASIC_FACT_WRITER, (), ())
        writers = (BASIC_FACT_WRITER, *find_perspectives(ctx))
        started = (first, *(tasks.start(next_turn, ctx, writer, (), ()) for writer in writers[1:]))
        rounds = [[task.result() for task in started]]

        def turn_of(number: int) -> Turn | None:
            turns = tuple(turn for turns in rounds if (turn := turns[number]) is not None)
            others = [[turn for turn in (*turns[:number], *turns[number + 1 :]) if turn] for turns in rounds]
            return next_turn(ctx, writers[number], turns, others) if rounds[-1][number] else None

        while any(rounds[-1]) and len(rounds) < ctx.settings.turns:
            rounds.append(parallel_map(turn_of, range(len(writers)), workers=len(writers)))
    turns = [tuple(filter(None, of_writer)) for of_writer in zip(*rounds, strict=True)]
    return _require_findings(ctx, tuple(map(Conversation, writers, turns)))


def _most_turns(ctx: RunContext) -> int:
    return (ctx.settings.perspectives + 1) * ctx.settings.turns


def hold_interviews_without_perspectives(ctx: RunContext) -> Conversations:
    """Hold as many interviews as :func:`hold_interviews`, without perspectives."""
    nobody = [Perspective(f"Interview {number}", "") for number in range(1, ctx.settings.perspectives + 2)]
    with ctx.events.in_stage("conversations", total=_most_turns(ctx)):
        held = parallel_map(lambda perspective: converse(ctx, perspective), nobody, workers=len(nobody))
    return _require_findings(ctx, tuple(held))


def _require_findings(ctx: RunContext, held: Conversations) -> Conversations:
    conversations = without_excluded_pages(ctx, held)
    if len(ctx.store):
        return conversations
    why = ctx.ledger.failure_summary()
    queries = [query for conversation in conversations for turn in conversation.turns for query in turn.queries]
    if not queries:
        if not why:
            ctx.run.journal.forget("reply", role="asker")
        raise ModelError(f"no question about {ctx.brief.topic!r} could be asked: {why or 'the writer asked none'}")
    tried = ", ".join(repr(query) for query in queries[:3])
    raise nothing_found(
        ctx,
        f"{ctx.search.name} found no source for {ctx.brief.topic!r} ({len(queries)} queries, such as {tried}); "
        "try another topic, or another engine with --search",
    )
