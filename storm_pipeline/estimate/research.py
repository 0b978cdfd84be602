"""What research asks: related topics, perspectives, interviews, and searches (paper sections 3.1 and 3.2)."""

from collections.abc import Iterator

from storm_pipeline.estimate.asks import Ask, Asked, Searches, count
from storm_pipeline.estimate.courses import Run
from storm_pipeline.estimate.material import Shown, told
from storm_pipeline.estimate.prompts import filler, measure

_QUESTION = 28
"""Tokens of a question."""


def find_perspectives(run: Run) -> Iterator[Asked]:
    """Related topics, whose contents are looked up, and perspectives."""
    course, wanted = run.course, run.settings.perspectives
    if run.settings.related_topics:
        prompts = measure(run.programs.related, *[{"topic": run.topic}] * 2)
        yield Ask("related topics", "asker", "related", 1, prompts, run.reply(40))
    if wanted:
        lines = min(run.settings.related_topics, course.related)
        line = filler(course.title + course.contents * course.heading, "a")
        inputs = {"topic": run.topic, "related_contents": "\n".join([line] * lines), "number": wanted}
        prompts = measure(run.programs.perspectives, inputs, inputs)
        yield Ask("perspectives", "asker", "perspectives", 1, prompts, run.reply(30 * wanted))


def converse(run: Run, *, named: bool = True) -> Iterator[Asked]:
    """Interviews, a question after the other; ``named``: whether prompts name the writer's perspective."""
    held, settings = run.conversations, run.settings
    why = f"{count(held, 'conversation')} × {count(settings.turns, 'turn')}"
    why += "; fewer where a writer ends it" if settings.turns > 1 else ""

    def asked(mark: str, turns: int) -> dict[str, object]:
        perspective = filler(run.course.perspective, mark) if named else ""
        return {"topic": run.topic, "perspective": perspective, "conversation": _history(run, turns, mark)}

    prompts = measure(run.programs.question, asked("a", 0), *(asked("b", turn) for turn in range(run.turns)))
    yield Ask("conversations", "asker", "question", held * run.questions, prompts, run.reply(_QUESTION), why)
    yield from _looked_up(run, why)


def ask_all_at_once(run: Run) -> Iterator[Asked]:
    """Interviews whose questions are all written down before the first answer."""
    held, settings = run.conversations, run.settings
    asked = [
        {"topic": run.topic, "perspective": filler(run.course.perspective, mark), "number": settings.turns}
        for mark in "ab"
    ]
    prompts, reply = measure(run.programs.questions, *asked), run.reply(_QUESTION * settings.turns)
    yield Ask("conversations", "asker", "questions", held, prompts, reply, "one a conversation")
    yield from _looked_up(run, f"{count(held, 'conversation')} × {count(settings.turns, 'question')}")


def search_topic(_: Run) -> Iterator[Asked]:
    """A search with the topic."""
    yield Searches(1)


def search_headings(run: Run) -> Iterator[Asked]:
    """A search with the title of each section."""
    yield Searches(run.sections)


def fill_gaps(run: Run) -> Iterator[Asked]:
    """A search with every heading of the sections that the interviews passed by."""
    yield Searches(run.sections * (1 + run.subheadings) * run.course.gaps)


def _looked_up(run: Run, why: str) -> Iterator[Asked]:
    """The queries, searches and answers of all questions."""
    answered = run.conversations * run.turns
    turn = [{"topic": run.topic, "question": filler(run.course.question, mark)} for mark in "ab"]
    queries = measure(run.programs.queries, *turn)
    yield Ask("conversations", "expert", "queries", answered, queries, run.reply(40), why)
    yield Searches(answered * run.queries)
    facts = Shown(run.answer_facts, run.course.fact)
    shown = [own | {"facts": told(run, facts, mark)} for own, mark in zip(turn, "ab", strict=True)]
    answers = measure(run.programs.answer, *shown)
    yield Ask("conversations", "expert", "answer", answered, answers, run.reply(110), why)


def _history(run: Run, turns: int, mark: str) -> str:
    turn = f"Writer: {filler(run.course.question, mark)}\nExpert: {filler(run.course.answer, mark)}"
    return "\n".join([turn] * turns)
