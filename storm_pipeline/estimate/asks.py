"""Everything that a run asks language models, in the order of :mod:`storm_pipeline.recipes`.

The bounds below are those of the steps, which load far more than an estimate needs; a test holds them together.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from storm_pipeline.estimate.courses import Run
from storm_pipeline.estimate.prompts import Prompts, filler, measure
from storm_pipeline.outlines import outline_to_markdown
from storm_pipeline.references.facts import Fact, numbered
from storm_pipeline.settings import Role
from storm_pipeline.types import Citation, Heading, Outline

TITLES_SHOWN = 1500
"""Characters of source titles shown when the outline is refined."""
LONGEST_ARTICLE = 3000
"""Words of the article shown to the writer of the lead."""
MOST_SENTENCES = 6
"""Sentences of a lead that is made of sentences of the body."""
_WORDS_A_SENTENCE = 20


@dataclass(frozen=True)
class Ask:
    """The calls of one program in one stage: how many, their prompts, and why so many."""

    stage: str
    role: Role
    program: str
    calls: float
    prompts: Prompts
    why: str


def asks_of(run: Run) -> Iterator[Ask]:
    """What the run asks, in the order of its steps."""
    yield from _perspectives(run)
    yield from _conversations(run)
    yield from _outline(run)
    yield from _sections(run)
    yield from _polish(run)
    yield from _lead(run)


def _perspectives(run: Run) -> Iterator[Ask]:
    course, wanted = run.course, run.settings.perspectives
    if run.settings.related_topics:
        prompts = measure(run.programs.related, *[{"topic": run.topic}] * 2)
        yield Ask("related topics", "asker", "related", 1, prompts, "once")
    if wanted:
        lines = min(run.settings.related_topics, course.related)
        line = filler(course.title + course.contents * course.heading, "a")
        inputs = {"topic": run.topic, "related_contents": "\n".join([line] * lines), "number": wanted}
        prompts = measure(run.programs.perspectives, inputs, inputs)
        yield Ask("perspectives", "asker", "perspectives", 1, prompts, "once")


def _conversations(run: Run) -> Iterator[Ask]:
    held, settings = run.conversations, run.settings
    why = f"{_count(held, 'conversation')} × {_count(settings.turns, 'turn')}"
    why += "; fewer where a writer ends it" if settings.turns > 1 else ""

    def asked(mark: str, turns: int) -> dict[str, object]:
        perspective, history = filler(run.course.perspective, mark), _history(run, turns, mark)
        return {"topic": run.topic, "perspective": perspective, "conversation": history}

    prompts = measure(run.programs.question, asked("a", 0), *(asked("b", turn) for turn in range(run.turns)))
    yield Ask("conversations", "asker", "question", held * run.questions, prompts, why)
    turn = [{"topic": run.topic, "question": filler(run.course.question, mark)} for mark in "ab"]
    yield Ask("conversations", "expert", "queries", held * run.turns, measure(run.programs.queries, *turn), why)
    shown = [own | {"facts": _facts(run, run.answer_facts, mark)} for own, mark in zip(turn, "ab", strict=True)]
    yield Ask("conversations", "expert", "answer", held * run.turns, measure(run.programs.answer, *shown), why)


def _outline(run: Run) -> Iterator[Ask]:
    prompts = measure(run.programs.draft, *[{"topic": run.topic}] * 2)
    yield Ask("draft outline", "outliner", "draft", 1, prompts, "once, from the topic alone")
    told = run.conversations * run.turns * (run.course.question + run.course.answer)
    inputs = {
        "topic": run.topic,
        "sources": filler(run.course.title * run.sources, "a")[:TITLES_SHOWN],
        "interviews": filler(min(told, run.settings.outline_words), "a"),
        "draft": outline_to_markdown(Outline(run.topic, (_heading(run),) * run.sections)),
    }
    yield Ask("outline", "outliner", "refine", 1, measure(run.programs.refine, inputs, inputs), "once")


def _sections(run: Run) -> Iterator[Ask]:
    most = _count(run.settings.max_sections, "section")
    if run.settings.by_sentence:
        calls = run.sections * run.sentences * run.course.tries
        why = f"at most {most}, each fact in other words, {run.settings.section_words} words"
        yield Ask("sections", "writer", "reword", calls, _rewording(run), why)
        return
    headings = "; ".join([filler(run.course.heading, "s")] * run.sections)
    below = "\nSubheadings: " + "; ".join([filler(run.course.heading, "s")] * run.subheadings)
    section = [
        {
            "article": run.topic,
            "outline": headings,
            "section": filler(run.course.heading, mark) + (below if run.subheadings else ""),
            "words": run.section_words,
            "facts": _facts(run, run.section_facts, mark),
        }
        for mark in "ab"
    ]
    why = f"one a section that the sources can fill: at most {run.settings.max_sections}, usually five to seven"
    yield Ask("sections", "writer", "section", run.sections, measure(run.programs.section, *section), why)
    copied = run.sections * run.section_words / _WORDS_A_SENTENCE * run.course.copies * run.course.tries
    yield Ask("sections", "writer", "reword", copied, _rewording(run), "sentences that copy a source")


def _polish(run: Run) -> Iterator[Ask]:
    told = min(run.course.fact, run.course.sentence * 2) if run.settings.by_sentence else run.course.fact
    pairs = "\n".join(f"{n}. {' / '.join([filler(told, 'a')] * 2)}" for n in range(1, run.course.pairs + 1))
    prompts = measure(run.programs.repeated, {"pairs": pairs}, {"pairs": pairs})
    yield Ask("polish", "reviewer", "repeated", min(1, run.course.pairs), prompts, "once, where sentences are alike")


def _lead(run: Run) -> Iterator[Ask]:
    if run.settings.by_sentence:
        openings = min(MOST_SENTENCES, run.sections)
        why = f"a sentence of each section, at most {MOST_SENTENCES}, in other words"
        yield Ask("lead", "writer", "reword", openings * run.course.tries, _rewording(run), why)
        return
    share = min(run.section_words * run.course.written, LONGEST_ARTICLE // run.sections)
    body = "\n".join(f"# {filler(run.course.heading, 's')}\n{filler(share, 's')}" for _ in range(run.sections))
    inputs = {"topic": run.topic, "article": body}
    yield Ask("lead", "writer", "lead", 1, measure(run.programs.lead, inputs, inputs), "once")
    calls = run.course.lead_copies * run.course.tries
    yield Ask("lead", "writer", "reword", calls, _rewording(run), "sentences that copy the body")


def _rewording(run: Run) -> Prompts:
    inputs = [{"about": filler(run.course.title, m), "sentence": filler(run.course.fact, m)} for m in "ab"]
    return measure(run.programs.reword, *inputs)


def _history(run: Run, turns: int, mark: str) -> str:
    turn = f"Writer: {filler(run.course.question, mark)}\nExpert: {filler(run.course.answer, mark)}"
    return "\n".join([turn] * turns)


def _facts(run: Run, number: int, mark: str) -> str:
    fact = Fact(filler(run.course.fact, mark), filler(run.course.title, mark), Citation("", ""))
    return numbered([fact] * number)


def _heading(run: Run) -> Heading:
    title = filler(run.course.heading, "h")
    return Heading(title, (Heading(title),) * run.subheadings)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
