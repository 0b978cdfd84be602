"""Conversations between a writer with a perspective and an expert with a search engine (paper section 3.2)."""

import re
from collections.abc import Sequence

from storm_pipeline.concurrency import parallel_map
from storm_pipeline.errors import ModelError
from storm_pipeline.languages import joined, split_sentences
from storm_pipeline.run.context import RunContext
from storm_pipeline.run.folder import slug
from storm_pipeline.run.journal import at_place, fingerprint
from storm_pipeline.steps.searching import search_all
from storm_pipeline.types import Conversation, Perspective, Turn

_THANKS = re.compile(r"\bthank you\b.{0,40}\bhelp\b", re.I | re.S)
_THANKS_ELSEWHERE = re.compile(
    r"\b(?:danke|dank|merci|gracias|grazie|obrigad[oa]|bedankt|tack|takk|dziękuję|teşekkür|спасибо|благодар\w+)\b|"
    r"شكر|谢谢|謝謝|感谢|感謝|ありがとう|감사",
    re.I,
)
"""In languages into which a model may translate the words that end an interview, if it asks nothing with them."""
_QUESTION_MARKS = "?？؟"
_LABEL = re.compile(r"^\s*(?:writer|question|frage|pregunta|domanda|вопрос|سؤال|问题|問題|質問)\s*[:：]\s*", re.I)

_DEEPER = 2
"""Times as deep a search goes of which half was shown before."""
_TITLES = 6
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
                "asker",
                ctx.programs.questions,
                topic=topic,
                language=ctx.settings.language_name,
                perspective=_told(perspective),
                number=number,
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
        turn = look_up(ctx, topic, question, ())
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
    return None if question is None else look_up(ctx, topic, question, turns)


def look_up(ctx: RunContext, topic: str, question: str, before: Sequence[Turn]) -> Turn:
    """A question with the queries, the sources and the answer that it leads to.

    What earlier turns were shown is not shown again. Where the search finds little else, it is made again, deeper.

    Raises:
        ModelError: the model fails.
    """
    number = ctx.settings.queries
    reply = ctx.ask("expert", ctx.programs.queries, topic=topic, question=question, number=number)
    queries = tuple(dict.fromkeys(q for q in (" ".join(q.split()) for q in reply.queries) if q))[:number]
    known = {snippet.id for turn in before for snippet in turn.snippets}
    found = search_all(ctx, queries or (question,))
    new = tuple(snippet for snippet in found if snippet.id not in known)
    if len(new) <= len(found) / 2 and found:
        deeper = search_all(ctx, queries or (question,), depth=_DEEPER)
        new = tuple(snippet for snippet in deeper if snippet.id not in known)
    answer = ctx.writer.answer(ctx, topic, question, new)
    return Turn(question, queries, answer.sentences, answer.shown)


def _ask_question(ctx: RunContext, topic: str, perspective: Perspective, turns: list[Turn]) -> str | None:
    for tried in range(1 if turns else _FIRST_TRIES):
        with at_place(f"try {tried + 1}"):  # else a seed would bring the same thanks again
            reply = ctx.ask(
                "asker",
                ctx.programs.question,
                topic=topic,
                language=ctx.settings.language_name,
                perspective=_told(perspective),
                conversation=history(turns),
            ).question
        if not _is_farewell(reply, ctx.settings.article_language):
            break
    else:
        return None
    question = _first_question(reply, ctx.settings.article_language)
    asked = {_plain(turn.question) for turn in turns}
    return None if _plain(question) in asked else question


def history(turns: Sequence[Turn]) -> str:
    """The conversation so far; that of one more turn begins with exactly this, which serves prefix caches.

    The titles of what was found tell the writer what the sources have.
    """
    return "\n".join(f"Writer: {turn.question}\nExpert: {turn.answer_text}{_found(turn)}" for turn in turns)


def _found(turn: Turn) -> str:
    titles = list(dict.fromkeys(snippet.title for snippet in turn.snippets if snippet.title))
    return f"\nFound: {'; '.join(titles[:_TITLES])}" if titles else ""


def _is_farewell(reply: str, language: str) -> bool:
    if _THANKS.search(reply):
        return True
    return language != "en" and not _asks(reply) and bool(_THANKS_ELSEWHERE.search(reply))


def _first_question(reply: str, language: str) -> str:
    """The question alone, whatever small models put around it."""
    lines = [line.strip() for line in _LABEL.sub("", reply).splitlines() if line.strip()]
    sentences = split_sentences(" ".join(lines[:1] if _asks(lines[0]) else lines), language)
    upto = next((i for i, s in enumerate(sentences) if _asks(s)), len(sentences) - 1)
    return joined(sentences[: upto + 1], language).strip('"“”„«»「」 ')


def _asks(text: str) -> bool:
    return any(mark in text for mark in _QUESTION_MARKS)


def _plain(question: str) -> str:
    return re.sub(r"\W+", " ", question.casefold()).strip()
