"""Perspectives from related articles, and all interviews of a run in parallel (Algorithm 1, lines 1 to 23)."""

from collections.abc import Callable

from storm_pipeline.errors import ModelError, SearchError
from storm_pipeline.method.context import RunContext
from storm_pipeline.method.steps.conversations import converse, next_turn
from storm_pipeline.method.steps.searching import nothing_found, without_excluded_pages
from storm_pipeline.run.concurrency import Tasks, parallel_map
from storm_pipeline.signatures.shapes import Editor
from storm_pipeline.types import Conversation, Conversations, Perspective, Turn

_HEADINGS_SHOWN = 14


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


BASIC_FACT_WRITER = Perspective("Basic fact writer", "Broadly covers the basic facts about the topic.")
"""p0 of the paper: takes part in every run."""


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


Interview = Callable[[RunContext, Perspective], Conversation]


def hold_interviews(ctx: RunContext, interview: Interview = converse) -> Conversations:
    """Hold the basic-fact writer's interview and, as soon as they are known, those of the perspectives.

    Raises:
        ModelError: no question could be asked.
        NothingFoundError: no question found a source.
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
