"""Copy editing of a finished article: a model names edits by sentence, and the program makes them.

The article is never written again, so no citation can be lost by it: what is cut gives its citations to the sentence
that stays, and what is reworded keeps its own.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from storm_pipeline.errors import ModelError
from storm_pipeline.quantities import missing
from storm_pipeline.references.citations import parse_cited
from storm_pipeline.run.context import RunContext
from storm_pipeline.signatures.shapes import Edit
from storm_pipeline.text.sentences import is_complete
from storm_pipeline.text.words import word_count
from storm_pipeline.types import Paragraph, Revision, Section, Sentence
from storm_pipeline.writers.repetition import remove_certain_repetition

_SHORTEST, _LONGEST = 0.5, 1.8
"""Times the length of a sentence that its reworded form may have."""
_A_FEW = 8
"""Words that it may have more in any case: those of a name in place of "he"."""


def edit_article(ctx: RunContext, topic: str, sections: tuple[Section, ...]) -> tuple[Section, ...]:
    """The sections after repetition is cut, sentences that lean on a missing one are reworded, and strays are moved.

    An edit by which the article would lose a number or a date, or gain one, is not made. Where the model fails, the
    sections stay as they are, and that is recorded.
    """
    with ctx.events.in_stage("editing"):
        sections = remove_certain_repetition(ctx, sections)
        try:
            edits = ctx.ask("reviewer", ctx.programs.edit, topic=topic, article=_numbered(sections)).edits
        except ModelError as error:
            ctx.events.degraded(f"the article was not edited: {error}")
            return sections
        return _Edited(ctx, topic, sections).with_all(edits)


class _Edited:
    """An article whose sentences are changed one by one; the numbers are those of the unedited article."""

    def __init__(self, ctx: RunContext, topic: str, sections: tuple[Section, ...]) -> None:
        self._ctx = ctx
        self._topic = topic
        self._sections = sections
        self._sentences = dict(enumerate((s for own in sections for s in own.sentences()), 1))
        self._order: dict[int, list[int]] = {}  # a sentence → those that were moved behind it
        self._gone: set[int] = set()
        self._moved: set[int] = set()

    def with_all(self, edits: Sequence[Edit]) -> tuple[Section, ...]:
        """The sections after all edits that can be made."""
        for edit in edits:
            if edit.sentence in self._sentences and edit.sentence not in self._gone:
                {"cut": self._cut, "reword": self._reword, "move": self._move}[edit.kind](edit)
        numbers = iter(self._sentences)
        edited = [self._section(section, numbers) for section in self._sections]
        return tuple(section for section in edited if section is not None)

    def _cut(self, edit: Edit) -> None:
        cut, kept = self._sentences[edit.sentence], self._sentences.get(edit.other)
        if kept is None or edit.other == edit.sentence or edit.other in self._gone:
            return
        rest = (s.text for n, s in self._sentences.items() if n != edit.sentence and n not in self._gone)
        if self._lacks(cut.text, " ".join(rest)):
            return
        both = dict.fromkeys((*kept.citations, *cut.citations))
        self._sentences[edit.other] = replace(kept, citations=tuple(both))
        self._gone.add(edit.sentence)
        self._ctx.events.count(repeated=1)
        self._record(cut, f"says what another sentence says: {kept.text}", "cut by the editor", "")

    def _reword(self, edit: Edit) -> None:
        old = self._sentences[edit.sentence]
        new, length = (
            " ".join(s.text for s in parse_cited(edit.text, (), self._ctx.settings.article_language).sentences),
            word_count(old.text),
        )
        fits = _SHORTEST * length <= word_count(new) <= max(_LONGEST * length, length + _A_FEW)
        before = self._sentences.get(edit.sentence - 1, old).text
        if not fits or (is_complete(old.text) and not is_complete(new)):
            return
        if self._lacks(new, f"{old.text} {before} {self._topic}") or self._lacks(old.text, new):
            return
        self._sentences[edit.sentence] = replace(old, text=new)
        self._record(old, "does not stand where it is", "reworded by the editor", new)

    def _move(self, edit: Edit) -> None:
        other = edit.other
        if (
            other not in self._sentences
            or other == edit.sentence
            or {other, edit.sentence} & (self._gone | self._moved)
        ):
            return
        if edit.sentence in self._order:  # something was moved behind it
            return
        self._order.setdefault(other, []).append(edit.sentence)
        self._moved.add(edit.sentence)
        self._record(self._sentences[edit.sentence], "stands in the wrong place", "moved by the editor")

    def _lacks(self, text: str, other: str) -> bool:
        """Whether a text has a number or a date that the other has not."""
        language = self._ctx.settings.article_language
        return bool(missing(text, [other], language=language, source_languages=[language]))

    def _record(self, old: Sentence, reason: str, outcome: str, after: str | None = None) -> None:
        self._ctx.events.revised(Revision("editing", old.text, reason, outcome, old.text if after is None else after))

    def _section(self, section: Section, numbers: Iterator[int]) -> Section | None:
        paragraphs = [self._paragraph(paragraph, numbers) for paragraph in section.paragraphs]
        below = [self._section(own, numbers) for own in section.subsections]
        filled = tuple(paragraph for paragraph in paragraphs if paragraph.sentences)
        subsections = tuple(own for own in below if own is not None)
        return Section(section.heading, filled, subsections) if filled or subsections else None

    def _paragraph(self, paragraph: Paragraph, numbers: Iterator[int]) -> Paragraph:
        kept: list[Sentence] = []
        for _ in paragraph.sentences:
            number = next(numbers)
            own = [] if number in self._gone | self._moved else [number]
            kept += [self._sentences[n] for n in (*own, *self._order.get(number, ())) if n not in self._gone]
        return Paragraph(tuple(kept))


def _numbered(sections: Sequence[Section]) -> str:
    """The article with its headings and a number before each sentence, a paragraph a line."""
    lines: list[str] = []
    number = 0

    def add(section: Section, level: int) -> None:
        nonlocal number
        lines.append(f"{'#' * level} {section.heading}")
        for paragraph in section.paragraphs:
            told = []
            for sentence in paragraph.sentences:
                number += 1
                told.append(f"[{number}] {sentence.text}")
            lines.append(" ".join(told))
        for own in section.subsections:
            add(own, level + 1)

    for section in sections:
        add(section, 1)
    return "\n".join(lines)
