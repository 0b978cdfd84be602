"""An article to which edits are applied by the numbers of its sentences and headings.

A sentence that is cut or joined passes its citations on to the one that stays; one that is moved or reworded keeps its
own. Every edit is recorded, and the number of deleted sentences is limited. The additions of a new sentence must be in
the article or in the passages that it cites.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from storm_pipeline.evidence.citations import parse_marked
from storm_pipeline.evidence.judges.base import Question
from storm_pipeline.evidence.judges.spans import deciding
from storm_pipeline.evidence.passages import Passage, numbered_passages, passages, with_source
from storm_pipeline.method.context import RunContext
from storm_pipeline.method.outlines import outline_from_headings
from storm_pipeline.method.writers.draft_checks import first_words, support_question
from storm_pipeline.method.writers.numbered_article import NumberedArticle
from storm_pipeline.signatures.shapes import Edit
from storm_pipeline.text.languages import detect, join_sentences
from storm_pipeline.text.markers import mark_citations
from storm_pipeline.text.quantities import missing, month_names
from storm_pipeline.text.sentences import is_complete
from storm_pipeline.text.words import GENITIVE, folded_words, tidy, words
from storm_pipeline.types import Revision, Section, Sentence

_MOST_REMOVED = 0.15  # maximum share of the sentences that may be cut or dropped
NEW_TEXT = frozenset(("join", "reword", "trim"))  # kinds of edits that write a sentence
_GONE = "there is no such sentence any more"
_LOSES = "it would lose a number or a date that the article states nowhere else"


Reading = tuple[str, tuple[Sentence, ...]]
"""The finding of a judge on an edit: a problem, or "", and its sentences with the citations that the judge names."""
NOT_WHOLE = "the new text is not a whole sentence"


class EditedArticle:
    """An article being edited; sentences and headings keep the numbers that they had before the first edit.

    Sentences that an edit adds, and passages found for the editor, have the numbers after these; passages are cited
    like sentences.

    Args:
        ctx: the run; its events record every edit.
        sections: the article before the first edit, its sentences and headings numbered from 1 in reading order.
    """

    def __init__(self, ctx: RunContext, sections: tuple[Section, ...]) -> None:
        self._ctx = ctx
        self._article = NumberedArticle(sections)
        self._sentences = self._article.sentences
        self._headings = self._article.headings
        self._passages: dict[int, Sentence] = {}
        self._last = len(self._sentences)
        article = (ctx.brief.topic, *self._headings.values(), *self._texts())
        self._words = {word for text in article for word in folded_words(text)}  # names that any sentence may have
        self._removals_left = max(1, int(_MOST_REMOVED * len(self._sentences)))
        self._moves_left = len(self._sentences)
        self.changed: set[int] = set()  # numbers of the sentences that the last edits concern
        self._read: Mapping[Edit, Reading] = {}

    def make(self, edits: Sequence[Edit], read: Mapping[Edit, Reading] = MappingProxyType({})) -> str:
        """Apply the edits in the given order; return those that cannot be made, a line each with the reason.

        ``read``: what a judge found of edits that it doubts, and, if it is a language model, of all that it has read.
        """
        self._read = read
        apply: dict[str, Callable[[Edit], str]] = {
            "cut": self._cut,
            "drop": self._drop_off_topic,
            "join": self._rewrite,
            "reword": self._rewrite,
            "trim": self._rewrite,
            "heading": self._rename,
        }
        self.changed.clear()
        refused = []
        for edit in edits:
            reason = (read[edit][0] if edit in read else "") or apply.get(edit.kind, self._move)(edit)
            if reason:
                refused.append(f"- {_described(edit)}: {reason}")
                self.changed |= {edit.sentence, edit.other} if edit.kind in {*apply, "move"} - {"heading"} else set()
        self._read = {}
        return "\n".join(refused)

    def questions(self, edit: Edit, edits: Iterable[Edit]) -> list[tuple[Sentence, Question]]:
        """Return the new sentences of an edit, each with the question whether its citations support it.

        The question has the sentence before it, unless one of ``edits`` removes or moves either.
        """
        new = self._written(edit) if edit.kind in NEW_TEXT and edit.sentence in self._sentences else []
        if not new or self._says(new) or not all(sentence.citations for sentence in new):
            return []
        pair = self._before(edit.sentence), edit.sentence
        is_left = not any(_takes_away(other, number) for other in edits for number in pair)
        befores = " ".join(_texts_of(self._known(pair[:1] if is_left else ()))), *_texts_of(new)
        return [(added, support_question(self._ctx.store, added, b)) for added, b in zip(new, befores, strict=False)]

    def add_passages(self, sentence: int, results: Sequence[Passage]) -> str:
        """Return the passages cited or found for a sentence, numbered, without duplicates; show the sentence again."""
        if sentence in self._sentences:
            self.changed.add(sentence)
            results = [*self._cited([self._sentences[sentence]]), *results]
        known = {passage.text for passage in self._passages.values()}
        new = list({passage.text: passage for passage in results if passage.text not in known}.values())
        numbered = self._number(Sentence(passage.text, passage.citations()) for passage in new)
        return numbered_passages(new, first=min(numbered, default=0))

    def add_findings(self, findings: Sequence[Sentence]) -> str:
        """Return findings of the research, numbered as further passages, without those that are known."""
        known = {sentence.text for sentence in (*self._sentences.values(), *self._passages.values())}
        new = self._number(finding for finding in findings if finding.text not in known)
        return "\n".join(f"[{number}] {tidy(finding.text)} (a finding)" for number, finding in new.items())

    def _number(self, passages: Iterable[Sentence]) -> dict[int, Sentence]:
        new = dict(enumerate(passages, self._last + 1))
        self._passages |= new
        self._last += len(new)
        return new

    def shown(self, *, changed: bool = False) -> str:
        """Return the article as the editor sees it; ``changed``: only the paragraphs that the last edits concern."""
        return self._article.shown(self.changed if changed else None)

    def numbers_of_sources(self, *, changed: bool = False) -> dict[str, list[int]]:
        """Map the id of each source cited in the shown text to the numbers of the sentences, in reading order."""
        numbers_of: dict[str, list[int]] = {}
        for number in self._article.numbers_shown(self.changed if changed else None):
            for source_id in dict.fromkeys(c.source_id for c in self._sentences[number].citations):
                numbers_of.setdefault(source_id, []).append(number)
        return numbers_of

    def sections(self) -> tuple[Section, ...]:
        """Return the current sections of the article."""
        return self._article.sections()

    def _cut(self, edit: Edit) -> str:
        cut, kept = self._pair(edit)
        if cut is not None and not edit.other:
            return "name the sentence that says the same, or use drop"
        if cut is None or kept is None:
            return _GONE
        if self._lacks(cut.text, " ".join(self._texts(edit.sentence))):
            return _LOSES
        if full := self._remove(edit.sentence):
            return full
        self._sentences[edit.other] = _with_citations_of(kept, cut)
        self._ctx.events.count(repeated=1)
        self._record(cut.text, f"says what another sentence says: {kept.text}", "cut by the editor")
        return ""

    def _drop_off_topic(self, edit: Edit) -> str:
        dropped = self._sentences.get(edit.sentence)
        if dropped is None:
            return _GONE
        if full := self._remove(edit.sentence):
            return full
        self._record(dropped.text, "is off the topic, or on a source", "dropped by the editor")
        return ""

    def _rewrite(self, edit: Edit) -> str:
        joins = edit.kind == "join"
        old, other = self._pair(edit)
        if old is None or (joins and other is None):
            return _GONE
        new = self._written(edit)
        if not joins and self._says(new):
            return ""
        known = self._known(
            [self._before(edit.sentence), *(number for _, named in self._parse(edit) for number in named)]
        )
        allowed, read = " ".join((old.text, *_texts_of(known))), edit in self._read
        problems = [self._problem(sentence, old.text, allowed, was_read=read) for sentence in new]
        if problem := next(filter(None, problems), "" if new else NOT_WHOLE):
            return problem
        gone = (edit.sentence, edit.other) if joins else (edit.sentence,)
        left = " ".join((*_texts_of(new), *self._texts(*gone)))
        if edit.kind != "trim" and self._lacks(" ".join(_texts_of(self._known(gone))), left):
            return _LOSES
        reason = "does not fit where it is" if edit.kind == "reword" else "has detail that the topic does not need"
        if joins and other:
            reason = f"goes with another sentence: {other.text}"
            self.changed |= self._article.take_out(edit.other)
            del self._sentences[edit.other]
        self.changed.add(edit.sentence)
        self._sentences[edit.sentence], *more = new
        for at, sentence in enumerate(more):  # they follow it, with new numbers
            self._last += 1
            self._article.add(self._last, sentence, behind=self._last - 1 if at else edit.sentence)
        self._record(old.text, reason, f"{'join' if joins else 'reword'}ed by the editor", *_texts_of(new))
        return ""

    def _says(self, sentences: Sequence[Sentence]) -> bool:
        """Return whether the article has sentences of these texts."""
        return bool(sentences) and {*_texts_of(sentences)} <= {*self._texts()}

    def _before(self, number: int) -> int:
        """Return the number of the sentence before another one, in the order of now; 0 if there is none."""
        order = self._article.numbers_shown()
        return (order[: order.index(number)] or [0])[-1]

    def _known(self, numbers: Iterable[int]) -> list[Sentence]:
        """Return the sentences and passages with these numbers that still exist."""
        known = self._sentences | self._passages
        return [known[number] for number in numbers if number in known]

    def _move(self, edit: Edit) -> str:
        if edit.kind.startswith("section"):
            problem, moved = self._article.move_section(edit.kind, edit.sentence, edit.other)
            texts = [self._headings[edit.sentence]] if not problem else []
        elif self._moves_left < 1:
            return "as many sentences as there are have been moved"
        else:
            problem, moved = self._article.move(edit.kind, edit.sentence, edit.last, edit.other)
            self._moves_left -= len(moved)
            texts = [self._sentences[number].text for number in moved]
        for text in texts:
            self._record(text, "is in the wrong place", "moved by the editor", text)
        self.changed |= set(moved)
        return problem

    def _rename(self, edit: Edit) -> str:
        old, made = self._headings.get(edit.sentence), outline_from_headings([(1, edit.text)], "").sections
        taken = {heading.casefold() for heading in (*self._headings.values(), self._ctx.brief.topic)}
        if not old or not made:
            return "there is no such heading, or the new one cannot be one"
        new = made[0].title
        if new.casefold() in taken:
            return "another heading, or the article, is called so"
        if self._lacks(new, " ".join((self._ctx.brief.topic, old, *self._texts()))):
            return "it has a number or a date that the article does not have"
        self._headings[edit.sentence] = new
        self._record(old, "does not fit the text below it", "renamed by the editor", new)
        return ""

    def _pair(self, edit: Edit) -> tuple[Sentence | None, Sentence | None]:
        """Return the two distinct sentences of an edit; None for one that no longer exists."""
        other = None if edit.other == edit.sentence else self._sentences.get(edit.other)
        return self._sentences.get(edit.sentence), other

    def _remove(self, number: int) -> str:
        """Remove a sentence; return why that is not possible, else an empty string."""
        if self._removals_left < 1:
            return "as many sentences as may go have been cut and dropped"
        self._removals_left -= 1
        self.changed |= self._article.take_out(number)
        del self._sentences[number]
        return ""

    def _texts(self, *but: int) -> list[str]:
        return [sentence.text for number, sentence in self._sentences.items() if number not in but]

    def _written(self, edit: Edit) -> list[Sentence]:
        """Return the new sentences of an edit: as judged, or citing what the old one cites and what each names."""
        if edit in self._read:
            return list(self._read[edit][1])
        old = self._sentences[edit.sentence]
        return [replace(_with_citations_of(old, *self._known(named)), text=text) for text, named in self._parse(edit)]

    def _parse(self, edit: Edit) -> list[tuple[str, list[int]]]:
        """Return the sentences of an edit's text, each with the other sentences and passages that it names, by number.

        They are ``other`` and those of its markers.
        """
        claims, _ = parse_marked(mark_citations(edit.text, self._last), self._last, self._ctx.brief.language)
        return [
            (claim.text, [n for n in dict.fromkeys((edit.other, *(i + 1 for i in claim.cited))) if n != edit.sentence])
            for claim in claims
        ]

    def _lacks(self, text: str, other: str) -> bool:
        """Return whether a text has a number or a date that the other one lacks."""
        language = self._ctx.brief.language
        return bool(missing(text, [other], language=language, source_languages=[language]))

    def _cited(self, sentences: Sequence[Sentence]) -> tuple[Passage, ...]:
        """Return the passages that sentences cite, joined."""
        ids = dict.fromkeys(citation.snippet_id for sentence in sentences for citation in sentence.citations)
        known = {snippet.id: snippet for source in self._ctx.store.sources() for snippet in source.snippets}
        return passages((known[name] for name in ids if name in known), language=self._ctx.brief.language)

    def _problem(self, sentence: Sentence, old: str, allowed: str, *, was_read: bool = False) -> str:
        """Return why a sentence cannot replace the old one; empty if it can.

        Args:
            allowed: the texts that the new one may repeat.
            was_read: whether a language model has read it, and supports it.
        """
        new = sentence.text
        if not is_complete(new) and (not new or is_complete(old)):
            return NOT_WHOLE
        if was_read:
            return ""
        sources = list(map(with_source, self._cited([sentence])))
        added = self._added(new, allowed, sources)
        if not added:
            return ""
        near = deciding(Question(new, tuple(sources)))[:1]
        have = "".join(f", which have “{first_words(sources[s.passage][s.start : s.end])}”" for s in near)
        return f"{', '.join(f'“{word}”' for word in added)} is neither in the sentence nor in its sources{have}"

    def _added(self, new: str, allowed: str, sources: Sequence[str]) -> list[str]:
        """Return the numbers and dates missing in ``allowed`` and sources, and capitalised words that occur nowhere."""
        language = self._ctx.brief.language
        known, languages = [f"{self._ctx.brief.topic} {allowed}", *sources], [language, *map(detect, sources)]
        absent = list(missing(new, known, language=language, source_languages=languages))
        had = self._words.union(*map(folded_words, known))
        had |= set(map(str.casefold, month_names(language)))
        # the first word always has a capital
        names = dict.fromkeys(GENITIVE.sub("", word) for word in words(new)[1:] if word[:1].isupper())
        return absent + [name for name in names if not had.issuperset(folded_words(name))]

    def _record(self, before: str, reason: str, outcome: str, *after: str) -> None:
        text = join_sentences(after, self._ctx.brief.language)
        self._ctx.events.revised(Revision("editing", before, reason, outcome, text))


def _takes_away(edit: Edit, number: int) -> bool:
    """Return whether an edit removes or moves a sentence."""
    if edit.kind == "join":
        return edit.other == number
    last = max(edit.sentence, edit.last) if edit.kind in {"move", "move_before", "paragraph"} else edit.sentence
    return edit.kind in {"cut", "drop", "move", "move_before", "paragraph"} and edit.sentence <= number <= last


def _described(edit: Edit) -> str:
    of = "H" if edit.kind.startswith(("heading", "section")) else ""
    numbers = f"[{of}{edit.sentence}]" + (f" and [{of}{edit.other}]" if edit.other else "")
    return f"{edit.kind} {numbers}" + (f" “{tidy(edit.text)}”" if edit.text else "")


def _with_citations_of(sentence: Sentence, *others: Sentence) -> Sentence:
    cited = (citation for other in others for citation in other.citations)
    return replace(sentence, citations=tuple(dict.fromkeys((*sentence.citations, *cited))))


def _texts_of(sentences: Iterable[Sentence]) -> list[str]:
    return [sentence.text for sentence in sentences]
