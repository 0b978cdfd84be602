"""Conversations between a writer with a perspective and an expert with a search engine (paper section 3.2)."""

import re

from storm_pipeline.concurrency import parallel_map
from storm_pipeline.context import RunContext
from storm_pipeline.errors import ModelError
from storm_pipeline.journal import at_place, fingerprint
from storm_pipeline.references.citations import parse_cited
from storm_pipeline.references.facts import nearest, nearest_facts, numbered
from storm_pipeline.references.support import check_support
from storm_pipeline.runs import slug
from storm_pipeline.sentences import is_complete, split_sentences
from storm_pipeline.steps.searching import search_all
from storm_pipeline.types import Conversation, Perspective, Sentence, Snippet, Turn

_THANKS = re.compile(r"\bthank you\b.{0,40}\bhelp\b", re.I | re.S)
_NOTHING = re.compile(r"^\W*(the )?(sources?|facts?)\b.{0,20}\b(do|does) not (say|mention|contain|provide)", re.I)

_FIRST_TRIES = 3
"""Small models give thanks before they have asked anything; then they are asked again."""


def converse(ctx: RunContext, topic: str, perspective: Perspective) -> Conversation:
    """Hold one conversation of at most M turns.

    A turn that fails is recorded and ends the conversation; the turns before it are kept. What the expert was
    shown goes into the store at once, so that it is embedded while the conversation goes on.

    Raises:
        ModelAuthError: the endpoint refuses the key; no turn can succeed.
    """
    turns: list[Turn] = []
    with at_place(piece_of(perspective)):
        while len(turns) < ctx.settings.turns:
            try:
                turn = _take_turn(ctx, topic, perspective, turns)
            except ModelError as error:
                ctx.events.failed(f"turn {len(turns) + 1} of {perspective.name!r}", error)
                break
            if turn is None:
                break
            turns.append(turn)
            ctx.run.save_json(piece_of(perspective), Conversation(perspective, tuple(turns)))
            ctx.events.advance(f"{perspective.name}: {turn.question}")
    return Conversation(perspective, tuple(turns))


def ask_all_at_once(ctx: RunContext, topic: str, perspective: Perspective) -> Conversation:
    """M questions written down together, before anything is known, then looked up side by side (paper section 5.2).

    The ablation of the conversation: as many questions as an interview has, none of which follows from an answer. What
    cannot be asked or looked up is recorded.
    """
    number = ctx.settings.turns
    with at_place(piece_of(perspective)):
        try:
            reply = ctx.ask(
                "asker", ctx.programs.questions, topic=topic, perspective=_told(perspective), number=number
            ).questions
        except ModelError as error:
            ctx.events.failed(f"questions of {perspective.name!r}", error)
            return Conversation(perspective)
        questions = list(dict.fromkeys(" ".join(question.split()) for question in reply if question.strip()))[:number]
        found = parallel_map(lambda question: _try_looking_up(ctx, topic, question), questions, workers=len(questions))
    conversation = Conversation(perspective, tuple(turn for turn in found if turn is not None))
    ctx.run.save_json(piece_of(perspective), conversation)
    return conversation


def _try_looking_up(ctx: RunContext, topic: str, question: str) -> Turn | None:
    try:
        turn = _looked_up(ctx, topic, question)
    except ModelError as error:
        ctx.events.failed(f"question {question!r}", error)
        return None
    ctx.events.advance(question)
    return turn


def _told(perspective: Perspective) -> str:
    """As a prompt tells it; a perspective without a focus has no part in prompts."""
    return f"{perspective.name}. {perspective.focus}" if perspective.focus else ""


def piece_of(perspective: Perspective) -> str:
    """Name of the file that holds a conversation."""
    number = fingerprint(perspective.name, perspective.focus)[:6]
    return f"conversations/{slug(perspective.name)}-{number}.json"


def _take_turn(ctx: RunContext, topic: str, perspective: Perspective, turns: list[Turn]) -> Turn | None:
    """The next turn, or None when the writer has nothing more to ask."""
    question = _ask_question(ctx, topic, perspective, turns)
    return None if question is None else _looked_up(ctx, topic, question)


def _looked_up(ctx: RunContext, topic: str, question: str) -> Turn:
    """A question with the queries, the sources and the answer that it leads to."""
    reply = ctx.ask("expert", ctx.programs.queries, topic=topic, question=question)
    queries = tuple(dict.fromkeys(q for q in (" ".join(q.split()) for q in reply.queries) if q))[: ctx.settings.queries]
    snippets = search_all(ctx, queries or (question,))
    return Turn(question, queries, _answer(ctx, topic, question, snippets), snippets)


def _ask_question(ctx: RunContext, topic: str, perspective: Perspective, turns: list[Turn]) -> str | None:
    for tried in range(1 if turns else _FIRST_TRIES):
        with at_place(f"try {tried + 1}"):  # else a seed would bring the same thanks again
            reply = ctx.ask(
                "asker",
                ctx.programs.question,
                topic=topic,
                perspective=_told(perspective),
                conversation=history(turns),
            ).question
        if not _THANKS.search(reply):
            break
    else:
        return None
    question = _first_question(reply)
    asked = {_plain(turn.question) for turn in turns}
    return None if _plain(question) in asked else question


def history(turns: list[Turn] | tuple[Turn, ...]) -> str:
    """The conversation so far; that of one more turn begins with exactly this, which serves prefix caches."""
    return "\n".join(f"Writer: {turn.question}\nExpert: {turn.answer_text}" for turn in turns)


def _first_question(reply: str) -> str:
    """The question alone, whatever small models put around it."""
    reply = re.sub(r"^\s*(?:writer|question)\s*:\s*", "", reply, flags=re.I)
    lines = [line.strip() for line in reply.splitlines() if line.strip()]
    sentences = split_sentences(" ".join(lines[:1] if "?" in lines[0] else lines))
    upto = next((i for i, s in enumerate(sentences) if "?" in s), len(sentences) - 1)
    return " ".join(sentences[: upto + 1]).strip('"“” ')


def _plain(question: str) -> str:
    return re.sub(r"\W+", " ", question.casefold()).strip()


def _answer(ctx: RunContext, topic: str, question: str, snippets: tuple[Snippet, ...]) -> tuple[Sentence, ...]:
    """The expert's sentences, each supported by what was found; none where nothing was found."""
    if not snippets:
        return ()
    need = f"{topic} {question}"
    limit = ctx.settings.answer_facts
    facts = nearest_facts(nearest(snippets, need, limit), need, limit)
    # What is shown is embedded while the conversation goes on; the rest can still be found by its words.
    shown = {fact.citation.snippet_id for fact in facts}
    ctx.store.add(snippet for snippet in snippets if snippet.id in shown)
    reply = ctx.ask("expert", ctx.programs.answer, topic=topic, question=question, facts=numbered(facts)).answer
    if _NOTHING.match(reply):
        return ()
    cited = parse_cited(reply, [fact.citation for fact in facts])
    whole = [s for s in cited.sentences if is_complete(s.text)]
    checked = check_support(whole, facts, known=need, embed=ctx.store.embed)
    ctx.events.count(
        invented_citations=cited.invented,
        attributed=checked.attributed,
        dropped_unsupported=checked.unsupported,
        dropped_faulty=len(cited.sentences) - len(whole),
    )
    return tuple(s for s in checked.sentences if s.citations)
