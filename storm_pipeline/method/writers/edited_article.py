"""An article to which edits are applied by the numbers of its sentences and headings.

A sentence that is cut or joined passes its citations on to the one that stays; one that is moved or reworded keeps its
own. Every edit is recorded, and so many sentences at most go for good.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from storm_pipeline.evidence.citations import parse_marked
from storm_pipeline.evidence.judges.base import Question
from storm_pipeline.evidence.passages import Passage, describe, numbered_passages, passages, with_source
from storm_pipeline.method.context import RunContext
from storm_pipeline.method.writers.edit_checks import EditChecks, find_nearest
from storm_pipeline.method.writers.numbered_article import NumberedArticle
from storm_pipeline.signatures.shapes import Edit
from storm_pipeline.text.languages import join_sentences
from storm_pipeline.text.markers import mark_citations
from storm_pipeline.text.quantities import missing
from storm_pipeline.text.words import has_word, tidy
from storm_pipeline.types import Revision, Section, Sentence

_MOST_REMOVED = 0.15  # maximum share of the sentences that may be cut or dropped
NEW_TEXT = frozenset(("join", "reword", "trim"))  # kinds of edits that write a sentence
_GONE = "there is no such sentence any more"
_LOSES = "it would lose a number or a date that the article states nowhere else"


class EditedArticle:
    """An article being edited; sentences and headings keep the numbers that they had before the first edit.

    Passages found for the editor have the numbers after those of the sentences, and are cited like these.

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
        self._checks = EditChecks(ctx, [*self._headings.values(), *self._texts()])
        self._removals_left = max(1, int(_MOST_REMOVED * len(self._sentences)))
        self._changed: set[int] = set()
        self._verdicts: Mapping[Edit, str] = {}

    def make(self, edits: Sequence[Edit], verdicts: Mapping[Edit, str] = MappingProxyType({})) -> str:
        """Apply the edits in the given order; return those that cannot be made, a line each with the reason.

        ``verdicts``: of edits that a judge has read: why the new text does not follow from what it has read, or "".
        """
        self._verdicts = verdicts
        apply: dict[str, Callable[[Edit], str]] = {
            "cut": self._cut,
            "drop": self._drop_off_topic,
            "join": self._join,
            "reword": self._reword,
            "trim": self._reword,
            "heading": self._rename,
        }
        self._changed.clear()
        refused = []
        for edit in edits:
            reason = verdicts.get(edit, "") or apply.get(edit.kind, self._move)(edit)
            if reason:
                refused.append(f"- {_described(edit)}: {reason}")
                self._changed |= {edit.sentence, edit.other} if edit.kind in {*apply, "move"} - {"heading"} else set()
        return "\n".join(refused)

    def question(self, edit: Edit) -> Question:
        """Return the new text of an edit with what may support it, for a judge.

        That is the sentences at its place and those that it names, with their sources, what these sources say nearest
        to it, and the passages that it names.
        """
        new, named = self._read(edit)
        numbers = dict.fromkeys((edit.sentence - 1, edit.sentence, edit.other, *named))
        written = [self._sentences[n] for n in numbers if n in self._sentences]
        cited = self._checks.cited(written)
        sources = dict.fromkeys(map(describe, cited))
        texts = " ".join(sentence.text for sentence in written)
        context = f"{self._ctx.brief.topic}: {texts} (sources: {'; '.join(sources)})"
        passages = self._checks.cited([self._passages[n] for n in named if n in self._passages])
        near = find_nearest([passage.text for passage in cited], new)
        nearest = (f"{describe(cited[i])}: {text}" for i, text in near)
        return Question(new, (context, *nearest, *map(with_source, passages)))

    def add_passages(self, sentence: int, results: Sequence[Passage]) -> str:
        """Return the passages cited or found for a sentence, numbered, without duplicates; show the sentence again."""
        self._checks.know(results)
        if sentence in self._sentences:
            self._changed.add(sentence)
            results = [*self._checks.cited([self._sentences[sentence]]), *results]
        known = {passage.text for passage in self._passages.values()}
        new = list({passage.text: passage for passage in results if passage.text not in known}.values())
        first = self._last + len(self._passages) + 1
        self._passages |= {n: Sentence(passage.text, passage.citations()) for n, passage in enumerate(new, first)}
        return numbered_passages(new, first=first)

    def add_findings(self, findings: Sequence[Sentence]) -> str:
        """Return findings of the research, numbered as further passages, without those that are known."""
        known = {sentence.text for sentence in (*self._sentences.values(), *self._passages.values())}
        first = self._last + len(self._passages) + 1
        new = dict(enumerate((finding for finding in findings if finding.text not in known), first))
        self._passages |= new
        cited = dict.fromkeys(citation.snippet_id for finding in new.values() for citation in finding.citations)
        self._checks.know(passages(map(self._ctx.store.snippet, cited), language=self._ctx.brief.language))
        return "\n".join(f"[{number}] {tidy(finding.text)} (a finding)" for number, finding in new.items())

    def shown(self, *, changed: bool = False) -> str:
        """Return the article as the editor sees it; ``changed``: only the paragraphs that the last edits concern."""
        return self._article.shown(self._changed if changed else None)

    def numbers_of_sources(self, *, changed: bool = False) -> dict[str, list[int]]:
        """Map the id of each source cited in the shown text to the numbers of the sentences, in reading order."""
        numbers_of: dict[str, list[int]] = {}
        for number in self._article.numbers_shown(self._changed if changed else None):
            for source_id in dict.fromkeys(c.source_id for c in self._sentences[number].citations):
                numbers_of.setdefault(source_id, []).append(number)
        return numbers_of

    @property
    def was_changed(self) -> bool:
        """Whether the last edits concern any sentence."""
        return bool(self._changed)

    def sections(self) -> tuple[Section, ...]:
        """Return the article as it is now."""
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
        self._record(cut.text, f"says what another sentence says: {kept.text}", "cut by the editor", "")
        return ""

    def _drop_off_topic(self, edit: Edit) -> str:
        dropped = self._sentences.get(edit.sentence)
        if dropped is None:
            return _GONE
        if full := self._remove(edit.sentence):
            return full
        self._record(dropped.text, "is off the topic, or on a source", "dropped by the editor", "")
        return ""

    def _join(self, edit: Edit) -> str:
        first, second = self._pair(edit)
        if first is None or second is None:
            return _GONE
        new, named = self._read(edit)
        both = _with_citations_of(first, *self._known(named))
        both_texts = f"{first.text} {second.text}"
        if problem := self._checks.problem(new, both, both_texts, was_read=edit in self._verdicts):
            return problem
        if self._lacks(both_texts, f"{new} {' '.join(self._texts(edit.sentence, edit.other))}"):
            return _LOSES
        self._changed |= {edit.sentence, *self._article.take_out(edit.other)}
        del self._sentences[edit.other]
        self._sentences[edit.sentence] = replace(both, text=new)
        self._record(first.text, f"goes with another sentence: {second.text}", "joined by the editor", new)
        return ""

    def _reword(self, edit: Edit) -> str:
        old, (new, named) = self._sentences.get(edit.sentence), self._read(edit)
        if old is None:
            return _GONE
        if new == old.text:
            return ""
        before = self._sentences.get(edit.sentence - 1, old).text
        others = self._known(named)
        cited = _with_citations_of(old, *others)
        allowed = " ".join((*(other.text for other in others), before, old.text))
        if problem := self._checks.problem(new, cited, allowed, was_read=edit in self._verdicts):
            return problem
        if edit.kind == "reword" and self._lacks(old.text, f"{new} {' '.join(self._texts(edit.sentence))}"):
            return _LOSES
        self._changed.add(edit.sentence)
        self._sentences[edit.sentence] = replace(cited, text=new)
        reason = "does not fit where it is" if edit.kind == "reword" else "has detail that the topic does not need"
        self._record(old.text, reason, "reworded by the editor", new)
        return ""

    def _known(self, numbers: Sequence[int]) -> list[Sentence]:
        """Return the sentences and the passages of these numbers, without those that no longer exist."""
        known = self._sentences | self._passages
        return [known[number] for number in numbers if number in known]

    def _move(self, edit: Edit) -> str:
        if edit.kind.startswith("section"):
            problem, moved = self._article.move_section(edit.kind, edit.sentence, edit.other)
            texts = [self._headings[edit.sentence]] if not problem else []
        else:
            problem, moved = self._article.move(edit.kind, edit.sentence, edit.last, edit.other)
            texts = [self._sentences[number].text for number in moved]
        for text in texts:
            self._record(text, "is in the wrong place", "moved by the editor", text)
        self._changed |= set(moved)
        return problem

    def _rename(self, edit: Edit) -> str:
        old, new = self._headings.get(edit.sentence), tidy(edit.text).strip("#*: ")
        taken = {heading.casefold() for heading in (*self._headings.values(), self._ctx.brief.topic)}
        if not old or not has_word(new):
            return "there is no such heading, or the new one is empty"
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
        self._changed |= self._article.take_out(number)
        del self._sentences[number]
        return ""

    def _texts(self, *but: int) -> list[str]:
        return [sentence.text for number, sentence in self._sentences.items() if number not in but]

    def _read(self, edit: Edit) -> tuple[str, list[int]]:
        """Return an edit's new text without markers, and the numbers of the other sentences and passages it names.

        It names them as ``other`` and by markers in the text.
        """
        language = self._ctx.brief.language
        last = self._last + len(self._passages)
        claims, _ = parse_marked(mark_citations(edit.text, last), last, language)
        named = dict.fromkeys((edit.other, *(position + 1 for claim in claims for position in claim.cited)))
        return join_sentences([claim.text for claim in claims], language), [n for n in named if n != edit.sentence]

    def _lacks(self, text: str, other: str) -> bool:
        """Return whether a text has a number or a date that the other one lacks."""
        language = self._ctx.brief.language
        return bool(missing(text, [other], language=language, source_languages=[language]))

    def _record(self, before: str, reason: str, outcome: str, after: str) -> None:
        self._ctx.events.revised(Revision("editing", before, reason, outcome, after))


def _described(edit: Edit) -> str:
    of = "H" if edit.kind.startswith(("heading", "section")) else ""
    numbers = f"[{of}{edit.sentence}]" + (f" and [{of}{edit.other}]" if edit.other else "")
    return f"{edit.kind} {numbers}" + (f" “{tidy(edit.text)}”" if edit.text else "")


def _with_citations_of(sentence: Sentence, *others: Sentence) -> Sentence:
    cited = (citation for other in others for citation in other.citations)
    return replace(sentence, citations=tuple(dict.fromkeys((*sentence.citations, *cited))))
