"""The judge's doubts about sentences that pass the screen, as problems for the writer."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from storm_pipeline.errors import ModelError
from storm_pipeline.evidence.citations import Claim
from storm_pipeline.evidence.cleaning import clean
from storm_pipeline.evidence.judges.base import Question, Verdict
from storm_pipeline.evidence.judges.language_model import LanguageModelJudge
from storm_pipeline.evidence.judges.spans import ExplainingJudge
from storm_pipeline.evidence.passages import Passage, with_source
from storm_pipeline.evidence.screen import Screen, ScreenVerdict, numbers_shown
from storm_pipeline.evidence.store import ReferenceStore
from storm_pipeline.method.context import RunContext
from storm_pipeline.types import Sentence

_LONGEST = 40  # words of a passage that a remark quotes
_PROBLEM = {"contradicted": "{} say otherwise", "not": "{} do not say this", "partly": "{} do not say all of this"}
_SAME = "the answer to the remark is the sentence as it was"
_MARKERS = re.compile(r"[\[\]|]")


@dataclass(frozen=True)
class JudgeReview:
    """The judge's review of sentences that the screen finds no problem with.

    The judge gets all sentences of a text at once, with the passages that they cite and each page's title and date. A
    language model also decides on sentences whose words differ from their passages, and on numbers that no cited
    passage has in that form. A doubted sentence gets a problem with the reason and the deciding words; the writer sees
    similar passages with the remark. Without a judge there are no doubts.
    """

    ctx: RunContext
    where: str
    screen: Screen

    def flag(self, claims: Sequence[Claim]) -> list[ScreenVerdict]:
        """Return the screen's verdicts, with a problem where the judge doubts a sentence; its failure is recorded."""
        reads = isinstance(self.ctx.judge, LanguageModelJudge)
        judged = self.screen.judge(claims, will_be_read=reads)
        asked = [i for i, verdict in enumerate(judged) if verdict.is_supported or (reads and verdict.unfound)]
        flagged = list(judged)
        if self.ctx.judge is None or not asked:
            return flagged
        questions = self._questions([claims[i] for i in asked], [judged[i] for i in asked])
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

    def recheck(self, remarked: Sequence[tuple[Claim, ScreenVerdict]], answers: Sequence[Claim]) -> list[ScreenVerdict]:
        """Return the verdicts on answers to remarks, with a problem where the judge doubts them too.

        A language model is asked only about answers that the screen finds a problem with; its doubt remains where the
        answer is the doubted sentence, with no other citations.
        """
        if not isinstance(self.ctx.judge, LanguageModelJudge):
            return self.flag(answers)
        screened = self.screen.judge(answers)
        judged = [
            replace(new, problem=_SAME)
            if not new.problem and before.is_doubted and answer.text == claim.text and {*answer.cited} <= {*claim.cited}
            else new
            for (claim, before), answer, new in zip(remarked, answers, screened, strict=True)
        ]
        unlike = [i for i, verdict in enumerate(screened) if not verdict.is_supported and answers[i].cited]
        for i, verdict in zip(unlike, self.flag([answers[i] for i in unlike]), strict=True):
            judged[i] = verdict
        return judged

    def _questions(self, claims: Sequence[Claim], judged: Sequence[ScreenVerdict]) -> list[Question]:
        """Return a question for each claim: the claim with the texts of the pieces that it cites."""
        return [
            Question(claim.text, tuple(map(with_source, self._pieces(verdict))), verdict.unfound)
            for claim, verdict in zip(claims, judged, strict=True)
        ]

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


def find_support(ctx: RunContext, sentences: Sequence[Sentence]) -> dict[Sentence, Sentence]:
    """Map those that cite several snippets to themselves with those that a language model names as their support.

    If it names none, all stay. Without a language model as the judge, or if it fails, which is recorded, empty.
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
    """Return the question whether what a sentence cites supports it."""
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
