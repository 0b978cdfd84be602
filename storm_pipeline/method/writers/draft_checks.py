"""Checks texts that a capable model wrote from numbered passages; unsupported sentences are returned for revision.

Nothing is cut silently. All unsupported sentences of a text are returned to the writer once, in one request, each with
its problem; only those still unsupported afterwards are dropped, and that is recorded. The problems are those of the
screen, and for sentences that pass it the doubts of the run's judge.
"""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from storm_pipeline.errors import ModelError
from storm_pipeline.evidence.citations import Claim
from storm_pipeline.evidence.cleaning import clean
from storm_pipeline.evidence.judges.base import Question, Verdict
from storm_pipeline.evidence.judges.language_model import LanguageModelJudge
from storm_pipeline.evidence.judges.spans import ExplainingJudge
from storm_pipeline.evidence.passages import Passage, numbered_passages, with_source
from storm_pipeline.evidence.screen import Screen, ScreenVerdict, numbers_shown
from storm_pipeline.evidence.store import ReferenceStore
from storm_pipeline.method.context import RunContext
from storm_pipeline.method.writers.drafts import Draft, RemarkReply, read_draft, read_replies, without_prompt_lines
from storm_pipeline.types import Paragraph, Revision, Section, Sentence

_LONGEST = 40  # words of a passage that a remark quotes
_PROBLEM = {"contradicted": "{} say otherwise", "not": "{} do not say this", "partly": "{} do not say all of this"}
_SAME = "the answer to the remark is the sentence as it was"
_MARKERS = re.compile(r"[\[\]|]")
NO_MARKERS = "the reply has no citation markers such as [1]"
AskAgain = Callable[[str, Collection[int]], str]
"""Sends remarks and the passages at these positions to the writer; returns the reply or raises ModelError."""
_Remarked = Mapping[int, tuple[Claim, ScreenVerdict]]
"""Number of a remark → the sentence that it is about, with the verdict on it."""


def find_support(ctx: RunContext, sentences: Sequence[Sentence]) -> dict[Sentence, Sentence]:
    """Map each sentence that cites several snippets to a copy that cites only the supporting ones.

    A language model names these; if it names none, all citations stay. Empty if the judge is not a language model, or
    if it fails, which is recorded.
    """
    several = [sentence for sentence in sentences if len(sentence.citations) > 1]
    if not isinstance(ctx.judge, LanguageModelJudge) or not several:
        return {}
    try:
        verdicts = ctx.judge.judge([support_question(ctx.store, sentence) for sentence in several])
    except ModelError as error:
        ctx.events.failed("judging which sources support a sentence", error)
        return {}
    ctx.verdicts.update((sentence.text, verdict) for sentence, verdict in zip(several, verdicts, strict=True))
    return {s: cite_supporting(s, verdict) for s, verdict in zip(several, verdicts, strict=True)}


def cite_supporting(sentence: Sentence, verdict: Verdict) -> Sentence:
    """Return a sentence with the citations that the judge of :func:`support_question` names; all if it names none."""
    named = tuple(sentence.citations[i] for i in verdict.supporting)
    return replace(sentence, citations=named or sentence.citations)


def support_question(store: ReferenceStore, sentence: Sentence, before: str = "") -> Question:
    """Return the question whether the cited snippets support a sentence."""
    snippets = (store.snippet(citation.snippet_id) for citation in sentence.citations)
    texts = tuple(with_source(Passage(clean(snippet.text), (snippet,))) for snippet in snippets)
    return Question(sentence.text, texts, before=before)


def _problem(verdict: Verdict, cited: Sequence[int], question: Question) -> str:
    problem = verdict.reason or _PROBLEM[verdict.label].format(numbers_shown(cited))
    quoted = [first_words(question.passages[span.passage][span.start : span.end]) for span in verdict.spans[:1]]
    return f"{problem.rstrip('.')}" + "".join(f"; the passage has “{words}”" for words in quoted if words)


def first_words(text: str) -> str:
    """Return the first words of a text, without the marks that have a meaning in a remark."""
    words = _MARKERS.sub("", text).split()
    return " ".join(words[:_LONGEST]) + (" …" if len(words) > _LONGEST else "")


def check_draft(
    ctx: RunContext,
    inputs: dict[str, object],
    reply: str,
    shown: Sequence[Passage],
    *,
    where: str,
    headings: Sequence[str] = (),
) -> list[Section]:
    """Return a reply's supported sentences, after one revision of the others. ``headings``: of the text."""
    language, known = ctx.brief.language, (ctx.brief.topic, *headings)
    draft = read_draft(without_prompt_lines(reply, inputs), len(shown), language, known)
    screen = Screen(shown, known=" ".join(known), embed=ctx.store.embed, language=language)

    def revise(remarks: str, concerned: Collection[int]) -> str:
        return answer_remarks(ctx, where, numbered_passages(shown, concerned), remarks)

    return check_blocks(ctx, where, draft, screen, revise)


def answer_remarks(ctx: RunContext, where: str, passages: str, remarks: str) -> str:
    """Return the writer's reply to remarks on a text. Raises ModelError: the model fails.

    ``where``: name of the text. ``passages``: those that support or may support its sentences, numbered.
    """
    inputs = {"section": where if where != ctx.brief.topic else "", "passages": passages, "remarks": remarks}
    return str(ctx.ask("writer", ctx.programs.remarks, **ctx.brief.inputs, style=ctx.brief.style, **inputs).text)


def check_blocks(ctx: RunContext, where: str, draft: Draft, screen: Screen, ask_again: AskAgain) -> list[Section]:
    """Return the draft's blocks with the sentences that are kept, after at most one round of remarks to the writer.

    If the settings say ``unchecked``, all sentences stay as they were written.

    ``where``: name of the text in the record.
    """
    ctx.events.count(invented_citations=draft.invented, dropped_faulty=int(bool(draft.broken_off)))
    if draft.broken_off:
        ctx.events.revised(Revision(where, draft.broken_off, "the text breaks off in it", "dropped"))
    sentences = iter(_Review(ctx, where, screen, draft.names).of(draft.claims(), ask_again))
    blocks = []
    for block in draft.blocks:
        paragraphs = [tuple(s for _ in claims if (s := next(sentences)) is not None) for claims in block.paragraphs]
        blocks.append(Section(block.heading, tuple(Paragraph(kept) for kept in paragraphs if kept)))
    if draft.is_unmarked and draft.claims():
        _report_unmarked(ctx, where, is_lost=not any(block.paragraphs for block in blocks))
    return blocks


def _report_unmarked(ctx: RunContext, where: str, *, is_lost: bool) -> None:
    """Record that a whole reply cites nothing; it is a failure if nothing of it is kept."""
    if is_lost:
        error = ModelError(f"{NO_MARKERS}; use another model with --lm")
        ctx.events.failed(where, error, counts=False)  # the run ends if every reply is like this
    else:
        ctx.events.degraded(f"{where}: {NO_MARKERS}; its sentences have those sources that the check found for them")


def _quote_neighbours(claims: Sequence[Claim], place: int) -> str:
    """Return the sentences before and after one in quotation marks, as far as there are any."""
    before = f" Before it: “{claims[place - 1].text}”" if place else ""
    return before + (f" After it: “{claims[place + 1].text}”" if place + 1 < len(claims) else "")


@dataclass(frozen=True)
class _Review:
    """Decides whether each sentence of a text is kept, replaced or dropped, and records the decision.

    The judge gets all sentences of a text at once that the screen finds no problem with, with the passages that they
    cite and each page's title and date. A language model also decides on sentences whose words differ from their
    passages, and on numbers that no cited passage has in that form. A doubted sentence gets a problem with the reason
    and the deciding words; the writer sees similar passages with the remark. Without a judge there are no doubts.
    """

    ctx: RunContext
    where: str
    screen: Screen
    names: Sequence[str]

    def of(self, claims: Sequence[Claim], ask_again: AskAgain) -> list[Sentence | None]:
        """Return the final form of each sentence; None where it is dropped."""
        if self.ctx.settings.uncited == "unchecked":
            return list(map(self.screen.as_written, claims))
        judged = self._flag(claims)
        for claim, verdict in zip(claims, judged, strict=True):
            if verdict.change and not verdict.problem:
                self._record(claim, verdict.change, "citations", verdict.sentence.text)
                self.ctx.events.count(attributed=int(not claim.cited))
        sentences: list[Sentence | None] = [verdict.sentence for verdict in judged]
        faulty = [i for i, verdict in enumerate(judged) if verdict.problem]
        if not faulty:
            return sentences
        remarked = {number: (claims[i], judged[i]) for number, i in enumerate(faulty, 1)}
        beside = [_quote_neighbours(claims, i) for i in faulty]
        answers = self._answers(remarked, beside, ask_again)
        rechecked = self._recheck(remarked, answers)
        for i, (number, remark) in zip(faulty, remarked.items(), strict=True):
            sentences[i] = self._decide(*remark, answers.get(number), rechecked.get(number))
        return sentences

    def _answers(self, remarked: _Remarked, beside: Sequence[str], ask_again: AskAgain) -> dict[int, RemarkReply]:
        """Return the writer's replies to the remarks by their numbers; empty if the model fails, which is recorded."""
        remarks = "\n".join(
            f"{number}. {claim.text}{numbers_shown(claim.cited)} — {verdict.problem}.{near}"
            for (number, (claim, verdict)), near in zip(remarked.items(), beside, strict=True)
        )
        passages = (self.screen.passages_for_revision(*remark) for remark in remarked.values())
        try:
            reply = without_prompt_lines(ask_again(remarks, set(chain.from_iterable(passages))), {"remarks": remarks})
        except ModelError as error:
            self.ctx.events.failed(f"revision of {self.where}", error)
            return {}
        claims = [claim for claim, _ in remarked.values()]
        return read_replies(reply, len(self.screen.shown), self.ctx.brief.language, self.names, claims)

    def _decide(
        self, claim: Claim, verdict: ScreenVerdict, answer: RemarkReply | None, second: ScreenVerdict | None
    ) -> Sentence | None:
        """Return the final form of a sentence with a remark.

        ``answer`` is None if the writer did not reply to the remark, ``second`` if there is no sentence in the reply.
        """
        if answer is not None and answer.claim is None:
            self.ctx.events.count(dropped_unsupported=1)
            self._record(claim, verdict.problem, "deleted by the writer")
            return None
        second = second or verdict
        if verdict.is_only_copied and not second.is_supported:
            second = verdict  # the original was supported, the replacement is not
        if second.is_supported:
            outcome = "rewritten" if answer and second.sentence.text != claim.text else "kept"
            self.ctx.events.count(reworded=int(outcome == "rewritten"))
            self._record(claim, verdict.problem, outcome, second.sentence.text)
            return second.sentence
        if self.ctx.settings.uncited == "keep":
            self._record(claim, verdict.problem, "kept without a source", claim.text)
            return Sentence(claim.text)
        self.ctx.events.count(dropped_unsupported=1)
        self._record(claim, verdict.problem, "dropped")
        return None

    def _recheck(self, remarked: _Remarked, answers: Mapping[int, RemarkReply]) -> dict[int, ScreenVerdict]:
        """Return the verdicts on the sentences in replies; a quotation found in a passage overrides a negative one."""
        claims = {n: answer.claim for n, answer in answers.items() if n in remarked and answer.claim is not None}
        verdicts = self._judge_answers([remarked[n] for n in claims], list(claims.values()))
        return {
            n: verdict if verdict.is_supported else self.screen.by_quotation(claim, answers[n].quotation) or verdict
            for (n, claim), verdict in zip(claims.items(), verdicts, strict=True)
        }

    def _flag(self, claims: Sequence[Claim]) -> list[ScreenVerdict]:
        """Return the screen's verdicts, with a problem where the judge doubts a sentence; its failure is recorded."""
        reads = isinstance(self.ctx.judge, LanguageModelJudge)
        judged = self.screen.judge(claims, will_be_read=reads)
        asked = [i for i, verdict in enumerate(judged) if verdict.is_supported or (reads and verdict.unfound)]
        flagged = list(judged)
        if self.ctx.judge is None or not asked:
            return flagged
        questions = [
            Question(claims[i].text, tuple(map(with_source, self._pieces(judged[i]))), judged[i].unfound) for i in asked
        ]
        try:
            verdicts = ExplainingJudge(self.ctx.judge).judge(questions)
        except ModelError as error:
            self.ctx.events.failed(f"judging {self.where}", error)
            return self.screen.judge(claims) if reads else flagged
        for i, verdict, question in zip(asked, verdicts, questions, strict=True):
            self.ctx.verdicts[claims[i].text] = verdict
            if verdict.label == "supported":
                sentence = self._cite_named(judged[i], verdict.supporting)
                problem = "" if judged[i].unfound else judged[i].problem
                flagged[i] = replace(judged[i], sentence=sentence, problem=problem, unfound=())
            else:
                problem = _problem(verdict, self._cited_positions(judged[i]), question)
                flagged[i] = replace(judged[i], problem=problem, is_only_copied=False, change="", is_doubted=True)
        return flagged

    def _judge_answers(
        self, remarked: Sequence[tuple[Claim, ScreenVerdict]], answers: Sequence[Claim]
    ) -> list[ScreenVerdict]:
        """Return the verdicts on answers to remarks, with a problem where the judge doubts them too.

        A language model is asked only about answers that the screen finds a problem with; its doubt remains where the
        answer is the doubted sentence, with no other citations.
        """
        if not isinstance(self.ctx.judge, LanguageModelJudge):
            return self._flag(answers)
        screened = self.screen.judge(answers)
        judged = [
            replace(new, problem=_SAME)
            if not new.problem and before.is_doubted and answer.text == claim.text and {*answer.cited} <= {*claim.cited}
            else new
            for (claim, before), answer, new in zip(remarked, answers, screened, strict=True)
        ]
        unlike = [i for i, verdict in enumerate(screened) if not verdict.is_supported and answers[i].cited]
        for i, verdict in zip(unlike, self._flag([answers[i] for i in unlike]), strict=True):
            judged[i] = verdict
        return judged

    def _pieces(self, judged: ScreenVerdict) -> list[Passage]:
        """Return the cited passages, split by snippet, so that the judge can name each alone."""
        shown = (self.screen.shown[i] for i in self._cited_positions(judged))
        return [piece for passage in shown for piece in passage.pieces()]

    def _cite_named(self, judged: ScreenVerdict, supporting: Sequence[int]) -> Sentence:
        """Return the sentence with the citations of the pieces that the judge names; with all if it names none."""
        pieces = self._pieces(judged)
        kept = {citation for i in supporting for citation in pieces[i].citations()}
        cited = tuple(citation for citation in judged.sentence.citations if citation in kept)
        return replace(judged.sentence, citations=cited) if cited else judged.sentence

    def _cited_positions(self, judged: ScreenVerdict) -> tuple[int, ...]:
        """Return the positions of the passages that the checked sentence cites."""
        cited = set(judged.sentence.citations)
        return tuple(i for i, passage in enumerate(self.screen.shown) if cited & set(passage.citations()))

    def _record(self, claim: Claim, reason: str, outcome: str, after: str = "") -> None:
        self.ctx.events.revised(Revision(self.where, claim.text, reason, outcome, after))
