"""What writing asks: sections, whole articles, polish and lead (paper sections 3.4 and 4.3).

The bounds below are those of the steps, which load far more than an estimate needs; a test holds them together.
"""

import math
from collections.abc import Iterator

from storm_pipeline.estimate.asks import Ask, Asked, count
from storm_pipeline.estimate.courses import Run
from storm_pipeline.estimate.material import FEWEST_FACTS, UNTITLED_SECTIONS, Material, Shown, facts_of, told, words_for
from storm_pipeline.estimate.planning import outline_text
from storm_pipeline.estimate.prompts import Prompts, filler, measure

LONGEST_ARTICLE = 3000
"""Words of the article shown to the writer of the lead."""
_WORDS_A_SENTENCE = 20
_TOKENS_A_WORD = 1.45
"""Of a section, its citation markers included."""
_TOKENS_A_PAIR = 3
_HEADING = 6
"""Tokens of a heading."""
_REWORDED = 40
"""Tokens of a sentence said again."""


def sections(run: Run, material: Material) -> Iterator[Asked]:
    """Sections side by side, each from its own facts; sentence by sentence where the writer needs that."""
    if run.settings.writes_by_sentence:
        where = f"at most {count(run.settings.max_sections, 'section')}, "
        yield from _titled(run, run.sections, material(run), where)
        return
    shown, most = material(run), run.settings.section_words
    inputs = [_section(run, shown, mark) for mark in "ab"]
    why = f"one a section that the sources can fill: at most {run.settings.max_sections}, usually five to seven"
    reply = run.reply(_TOKENS_A_WORD * words_for(material(run.usual), most))
    yield Ask("sections", "writer", "section", run.sections, measure(run.programs.section, *inputs), reply, why)
    yield _copies(run, "sections", run.sections * words_for(shown, most))


def outlined_article(run: Run, material: Material, share: Material) -> Iterator[Asked]:
    """An article on an outline in one call; sentence by sentence, each section from its ``share`` of what was found."""
    if run.settings.writes_by_sentence:
        filled = max(1, min(run.sections, facts_of(run, run.pages) // FEWEST_FACTS))
        yield from _titled(run, filled, share(run), "in sections that the few sources can fill, ")
        return
    yield from _article(run, material(run), outline_text(run), run.sections)


def article(run: Run, material: Material) -> Iterator[Asked]:
    """An article without an outline in one call; sentence by sentence, it is a single section with room for five."""
    if run.settings.writes_by_sentence:
        yield _by_sentence(run, 1, material(run), "", UNTITLED_SECTIONS)
        return
    yield from _article(run, material(run), "", UNTITLED_SECTIONS)


def article_from_memory(run: Run) -> Iterator[Asked]:
    """An article on an outline in one call, from no facts, however the writer writes else."""
    words = run.settings.section_words * run.sections
    inputs = {"topic": run.topic, "outline": outline_text(run), "words": words}
    reply = _TOKENS_A_WORD * words * run.course.written
    yield Ask("article", "writer", "memory", 1, measure(run.programs.memory, inputs, inputs), reply)


def polish(run: Run) -> Iterator[Asked]:
    """Pairs of sentences that may say the same."""
    words = min(run.course.fact, run.course.sentence * 2) if run.settings.writes_by_sentence else run.course.fact
    pairs = "\n".join(f"{n}. {' / '.join([filler(words, 'a')] * 2)}" for n in range(1, run.course.pairs + 1))
    prompts = measure(run.programs.repeated, {"pairs": pairs}, {"pairs": pairs})
    calls, reply = min(1, run.course.pairs), run.reply(_TOKENS_A_PAIR * run.course.pairs)
    yield Ask("polish", "reviewer", "repeated", calls, prompts, reply, "once, where sentences are alike")


def lead(run: Run, material: Material) -> Iterator[Asked]:
    """The lead of an article whose sections are written from that material."""
    if run.settings.writes_by_sentence:
        yield _reword(run, "lead", run.course.tries, "its opening in other words; the rest is taken from the sections")
        return
    words = words_for(material(run), run.settings.section_words) * run.course.written
    share = min(words, LONGEST_ARTICLE // run.sections)
    body = "\n".join(f"# {filler(run.course.heading, 's')}\n{filler(share, 's')}" for _ in range(run.sections))
    inputs = {"topic": run.topic, "article": body}
    yield Ask("lead", "writer", "lead", 1, measure(run.programs.lead, inputs, inputs), run.reply(130))
    yield _reword(run, "lead", run.course.lead_copies * run.course.tries, "sentences that copy the body")


def _section(run: Run, shown: Shown, mark: str) -> dict[str, object]:
    below = "\nSubheadings: " + "; ".join([filler(run.course.heading, "s")] * run.subheadings)
    return {
        "article": run.topic,
        "outline": "; ".join([filler(run.course.heading, "s")] * run.sections),
        "section": filler(run.course.heading, mark) + (below if run.subheadings else ""),
        "words": words_for(shown, run.settings.section_words),
        "facts": told(run, shown, mark),
    }


def _article(run: Run, shown: Shown, outline: str, room: int) -> Iterator[Asked]:
    """A single reply, so its length may lie farther from the usual one than the mean of several sections' does."""
    asked = run.settings.section_words * room
    inputs = {"topic": run.topic, "outline": outline, "words": asked, "facts": told(run, shown, "a")}
    words = words_for(shown, asked)
    reply = _TOKENS_A_WORD * words * run.course.written
    yield Ask("article", "writer", "article", 1, measure(run.programs.article, inputs, inputs), reply)
    yield _copies(run, "article", words)


def _titled(run: Run, number: int, shown: Shown, where: str) -> Iterator[Asked]:
    """So many sections sentence by sentence, and a heading for each, to be compared with the planned one."""
    yield _by_sentence(run, number, shown, where)
    sentences = [filler(run.course.fact, "s")] * _sentences(run, shown)
    inputs = {"topic": run.topic, "sentences": "\n".join(sentences)}
    prompts = measure(run.programs.heading, inputs, inputs)
    yield Ask("sections", "writer", "heading", number, prompts, run.reply(_HEADING))


def _by_sentence(run: Run, number: int, shown: Shown, where: str, room: int = 1) -> Ask:
    """Each fact of so many sections said again, as far as a section has room."""
    why = f"{where}each fact in other words, {run.settings.section_words * room} words"
    return _reword(run, "sections", number * _sentences(run, shown, room) * run.course.tries, why)


def _sentences(run: Run, shown: Shown, room: int = 1) -> int:
    """How many facts a section of so much room can say again."""
    return min(shown.number, math.ceil(run.settings.section_words * room / run.course.sentence))


def _copies(run: Run, stage: str, words: float) -> Ask:
    """What of so many words follows a source too closely and is said again."""
    calls = words / _WORDS_A_SENTENCE * run.course.copies * run.course.tries
    return _reword(run, stage, calls, "sentences that copy a source")


def _reword(run: Run, stage: str, calls: float, why: str) -> Ask:
    return Ask(stage, "writer", "reword", calls, _rewording(run), run.reply(_REWORDED), why)


def _rewording(run: Run) -> Prompts:
    inputs = [{"about": filler(run.course.title, m), "sentence": filler(run.course.fact, m)} for m in "ab"]
    return measure(run.programs.reword, *inputs)
