"""An article to which edits are applied by the numbers of its sentences and headings.

A sentence that is cut or joined passes its citations on to the one that stays, and a sentence that is moved keeps
its own, and one that is reworded too.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from storm_pipeline.languages import count_words, joined
from storm_pipeline.references.citations import parse_cited
from storm_pipeline.run.context import RunContext
from storm_pipeline.signatures.shapes import Edit
from storm_pipeline.text.quantities import missing
from storm_pipeline.text.sentences import is_complete
from storm_pipeline.text.words import has_word, tidy
from storm_pipeline.types import Citation, Paragraph, Revision, Section, Sentence

_SHORTEST, _LONGEST = 0.2, 1.8  # bounds of the reworded length, as multiples of the original length
_SHORTEST_JOIN, _LONGEST_JOIN = 0.4, 1.2
"""Bounds of a joined sentence's length, as multiples of the two sentences' total length."""
_MOST_DROPPED = 0.05  # maximum share of the sentences that may be dropped although no other one says the same
_A_FEW = 8  # words that a rewording may always add, such as a name in place of "he"
_FEWEST_WORDS = 4  # minimum length of a reworded sentence
_LONGEST_MOVE = 20  # maximum number of sentences moved by one edit
_LONGEST_HEADING = 12  # maximum length of a heading in words
NEW_TEXT = frozenset(("join", "reword"))  # kinds of edits that write a sentence
_GONE = "there is no such sentence any more"
_LOSES = "it would lose a number or a date that the article states nowhere else"
_GAINS = "it would add a number or a date that neither the sentence nor its sources have"
_PART = "the new text is no whole sentence"


class EditedArticle:
    """An article being edited; sentences and headings keep the numbers that they had before the first edit.

    Args:
        ctx: the run; its events record every edit.
        sections: the article before the first edit, its sentences and headings numbered from 1 in reading order.
    """

    def __init__(self, ctx: RunContext, topic: str, sections: tuple[Section, ...]) -> None:
        self._ctx = ctx
        self._topic = topic
        self._sections = sections
        self._texts = {snippet.id: snippet.text for source in ctx.store.sources() for snippet in source.snippets}
        everything = list(_with_subsections(sections))
        self._headings = {number: section.heading for number, section in enumerate(everything, 1)}
        paragraphs = [paragraph for section in everything for paragraph in section.paragraphs]
        self._sentences = dict(enumerate((s for own in paragraphs for s in own.sentences), 1))
        numbers = iter(self._sentences)
        self._paragraphs = [[next(numbers) for _ in own.sentences] for own in paragraphs]
        self._drops_left = math.ceil(_MOST_DROPPED * len(self._sentences))

    def make(self, edits: Sequence[Edit], doubted: Callable[[Edit], str] = lambda _: "") -> str:
        """Apply the edits in the given order; returns those that cannot be made, a line each with the reason.

        ``doubted``: why an edit's new text does not follow from what it replaces; empty if it does.
        """
        apply = {
            "cut": self._cut,
            "drop": self._drop_dead_weight,
            "join": self._join,
            "reword": self._reword,
            "move": self._move,
            "move_before": self._move,
            "heading": self._rename,
        }
        refused = ((edit, (edit.kind in NEW_TEXT and doubted(edit)) or apply[edit.kind](edit)) for edit in edits)
        return "\n".join(f"- {_described(edit)}: {reason}" for edit, reason in refused if reason)

    def behind(self, edit: Edit) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The sentences that an edit replaces, with the topic and the sentence before; and what they cite."""
        own = [one for n in (edit.sentence, edit.other) if (one := self._sentences.get(n))]
        before = self._sentences.get(edit.sentence - 1)
        told = (self._topic, *([before.text] if before else []), *(one.text for one in own))
        return told, tuple(self._texts.get(c.snippet_id, "") for one in own for c in one.citations)

    def sections(self) -> tuple[Section, ...]:
        """The article with the edits made so far."""
        paragraphs, headings = iter(self._paragraphs), iter(self._headings.values())
        edited = [self._section(section, paragraphs, headings) for section in self._sections]
        return tuple(section for section in edited if section is not None)

    def _cut(self, edit: Edit) -> str:
        cut, kept = self._pair(edit)
        if cut is not None and not edit.other:
            return "name the sentence that says the same, or use drop"
        if cut is None or kept is None:
            return _GONE
        if self._lacks(cut.text, self._text_without(edit.sentence)):
            return _LOSES
        self._sentences[edit.other] = _with_citations_of(kept, cut)
        self._drop(edit.sentence)
        self._ctx.events.count(repeated=1)
        self._record(cut.text, f"says what another sentence says: {kept.text}", "cut by the editor", "")
        return ""

    def _drop_dead_weight(self, edit: Edit) -> str:
        dropped = self._sentences.get(edit.sentence)
        if dropped is None:
            return _GONE
        if self._drops_left < 1:
            return "enough sentences have been dropped"
        self._drops_left -= 1
        self._drop(edit.sentence)
        self._record(dropped.text, "says nothing about the topic", "dropped by the editor", "")
        return ""

    def _join(self, edit: Edit) -> str:
        first, second = self._pair(edit)
        if first is None or second is None:
            return _GONE
        both, new = f"{first.text} {second.text}", self._plain(edit.text)
        length = count_words(both)
        if problem := _misfit(new, _SHORTEST_JOIN * length, _LONGEST_JOIN * length):
            return problem
        if self._lacks(new, both):
            return _GAINS
        if self._lacks(both, new):
            return _LOSES
        self._sentences[edit.sentence] = replace(_with_citations_of(first, second), text=new)
        self._drop(edit.other)
        self._record(first.text, f"goes with another sentence: {second.text}", "joined by the editor", new)
        return ""

    def _reword(self, edit: Edit) -> str:
        old = self._sentences.get(edit.sentence)
        if old is None:
            return _GONE
        new, length = self._plain(edit.text), count_words(old.text)
        if new == old.text:
            return ""
        problem = _misfit(new, max(_SHORTEST * length, _FEWEST_WORDS), max(_LONGEST * length, length + _A_FEW))
        if problem and (problem != _PART or is_complete(old.text)):
            return problem
        before = self._sentences.get(edit.sentence - 1, old).text
        sources = " ".join((old.text, *(self._texts.get(c.snippet_id, "") for c in old.citations)))
        if self._lacks(new, f"{old.text} {before} {self._topic}") and self._lacks(new, sources):
            return _GAINS
        if self._lacks(old.text, f"{new} {self._text_without(edit.sentence)}"):
            return _LOSES
        self._sentences[edit.sentence] = replace(old, text=new)
        self._record(old.text, "does not stand where it is", "reworded by the editor", new)
        return ""

    def _move(self, edit: Edit) -> str:
        last = min(max(edit.sentence, edit.last), edit.sentence + _LONGEST_MOVE - 1)
        moved = [n for n in range(edit.sentence, last + 1) if n in self._sentences]
        target = next((own for own in self._paragraphs if edit.other in own), None)
        if not moved or target is None:
            return _GONE
        if edit.other in moved:
            return "a sentence cannot be moved behind or before itself"
        for number in moved:
            self._remove(number)
        at = target.index(edit.other) + int(edit.kind == "move")
        target[at:at] = moved
        for number in moved:
            text = self._sentences[number].text
            self._record(text, "stands in the wrong place", "moved by the editor", text)
        return ""

    def _rename(self, edit: Edit) -> str:
        old, new = self._headings.get(edit.sentence), tidy(edit.text).strip("#*: ")
        taken = {heading.casefold() for heading in (*self._headings.values(), self._topic)}
        if not old or not has_word(new) or count_words(new) > _LONGEST_HEADING:
            return "there is no such heading, or the new one is empty or too long"
        if new.casefold() in taken:
            return "another heading, or the article, is called so"
        if self._lacks(new, f"{self._topic} {old} {' '.join(s.text for s in self._sentences.values())}"):
            return _GAINS
        self._headings[edit.sentence] = new
        self._record(old, "does not fit what stands under it", "renamed by the editor", new)
        return ""

    def _pair(self, edit: Edit) -> tuple[Sentence | None, Sentence | None]:
        """The two distinct sentences of an edit; None for one that no longer exists."""
        other = None if edit.other == edit.sentence else self._sentences.get(edit.other)
        return self._sentences.get(edit.sentence), other

    def _drop(self, number: int) -> None:
        self._remove(number)
        del self._sentences[number]

    def _remove(self, number: int) -> None:
        next(own for own in self._paragraphs if number in own).remove(number)

    def _text_without(self, number: int) -> str:
        return " ".join(sentence.text for n, sentence in self._sentences.items() if n != number)

    def _plain(self, text: str) -> str:
        """A model's replacement sentence without markers, whose numbers are those of the sentences."""
        language = self._ctx.settings.article_language
        shown = [Citation("", "")] * max(self._sentences, default=0)
        return joined([s.text for s in parse_cited(text, shown, language).sentences], language)

    def _lacks(self, text: str, other: str) -> bool:
        """Whether a text has a number or a date that the other one lacks."""
        language = self._ctx.settings.article_language
        return bool(missing(text, [other], language=language, source_languages=[language]))

    def _record(self, before: str, reason: str, outcome: str, after: str) -> None:
        self._ctx.events.revised(Revision("editing", before, reason, outcome, after))

    def _section(self, section: Section, paragraphs: Iterator[list[int]], headings: Iterator[str]) -> Section | None:
        heading = next(headings)
        numbers = [next(paragraphs) for _ in section.paragraphs]
        below = [self._section(own, paragraphs, headings) for own in section.subsections]
        filled = tuple(Paragraph(tuple(self._sentences[n] for n in own)) for own in numbers if own)
        subsections = tuple(own for own in below if own is not None)
        return Section(heading, filled, subsections) if filled or subsections else None


def _misfit(text: str, shortest: float, longest: float) -> str:
    """Why a text cannot stand as a sentence of such a length in words; empty if it can."""
    words = count_words(text)
    if words < shortest:
        return "the new text is too short"
    if words > longest:
        return "the new text is too long"
    return "" if is_complete(text) else _PART


def _described(edit: Edit) -> str:
    numbers = f"[H{edit.sentence}]" if edit.kind == "heading" else f"[{edit.sentence}]"
    if edit.other:
        numbers += f" and [{edit.other}]"
    return f"{edit.kind} {numbers}" + (f" “{tidy(edit.text)}”" if edit.text else "")


def _with_subsections(sections: Sequence[Section]) -> Iterator[Section]:
    """Every section, each before its subsections."""
    for section in sections:
        yield section
        yield from _with_subsections(section.subsections)


def _with_citations_of(sentence: Sentence, other: Sentence) -> Sentence:
    return replace(sentence, citations=tuple(dict.fromkeys((*sentence.citations, *other.citations))))
