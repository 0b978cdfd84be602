"""What a run's judge doubts among the sentences that the screen lets pass, as problems for the writer."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import dspy

from storm_pipeline.errors import ModelError
from storm_pipeline.judges.base import Judge, Question, Verdict
from storm_pipeline.judges.language_model import LanguageModelJudge
from storm_pipeline.judges.spans import ExplainingJudge
from storm_pipeline.models.programs import Program
from storm_pipeline.references.passages import Passage
from storm_pipeline.references.screen import Claim, Judged, Screen, numbers_shown
from storm_pipeline.run.context import RunContext

_LONGEST = 40  # words of a passage that a remark quotes
_PROBLEM = {"contradicted": "{} say otherwise", "not": "{} do not say this", "partly": "{} do not say all of this"}
_UNSEEN = frozenset({"findings", "interviews", "written"})
"""Inputs behind the passages, which a judge need not see."""
_NUMBER = re.compile(r"\[(\d+)\]")
_SHOWN = re.compile(r"^\[(\d+)\] ", re.M)
_MARKERS = re.compile(r"[\[\]|]")


def judge_of(ctx: RunContext, program: Program, inputs: Mapping[str, object], shown: Sequence[Passage]) -> Judge | None:
    """The run's judge of a text that a program wrote from passages; None where the screen alone checks it.

    The writer's own language model is asked behind the prompt of the text, which its server has in its cache. Where the
    prompt lacks some passages, as in a revision, the model is asked beside what is cited.
    """
    judge, own = ctx.judge, program.own_lm
    is_writer = own is not None or ctx.settings.lm_of("judge") == ctx.settings.lm_of("writer")
    if not isinstance(judge, LanguageModelJudge):
        return judge
    prompt = {int(number) - 1 for number in _SHOWN.findall(str(inputs.get("passages", "")))}
    lacks_some = "passages" in inputs and not prompt >= set(range(len(shown)))
    is_writer = is_writer and own is ctx.programs.check.own_lm
    if lacks_some or not is_writer or not isinstance(program.predict, dspy.Predict):
        return ExplainingJudge(judge)

    def ask(appended: Program, check: str) -> object:
        seen = {name: "" if name in _UNSEEN else value for name, value in inputs.items()}
        return ctx.ask("writer", appended, **seen, remarks="", check=check)

    return ExplainingJudge(judge.behind(program, ask, [with_source(passage) for passage in shown]))


@dataclass(frozen=True)
class Doubts:
    """Puts sentences without a problem to a judge.

    Where the judge doubts one, it looks wider, at the similar passages that the sentence does not cite; a language
    model does not, since it has read them all. What it still doubts gets a problem with its reason and the deciding
    words. Without a judge nothing is doubted.
    """

    ctx: RunContext
    where: str
    screen: Screen
    judge: Judge | None

    @property
    def again(self) -> "Doubts":
        """These doubts about answers to remarks, which a language model sees beside their own passages alone."""
        if self.judge is None or not isinstance(self.ctx.judge, LanguageModelJudge):
            return self
        return replace(self, judge=ExplainingJudge(self.ctx.judge))

    def raised(self, claims: Sequence[Claim], judged: Sequence[Judged]) -> list[Judged]:
        """The verdicts, with a problem where the judge doubts; unchanged, and recorded, where it cannot be asked."""
        asked = [i for i, one in enumerate(judged) if not one.problem or one.is_only_copied]
        found = list(judged)
        if self.judge is None or not asked:
            return found
        try:
            told = self._verdicts([claims[i] for i in asked], [judged[i] for i in asked])
        except ModelError as error:
            self.ctx.events.failed(f"judging {self.where}", error)
            return found
        for i, (verdict, cited) in zip(asked, told, strict=True):
            self.ctx.verdicts.note(claims[i].text, verdict)
            if verdict.label != "supported":
                found[i] = replace(judged[i], problem=self._problem(verdict, cited), is_only_copied=False, change="")
            elif set(cited) != set(self._cited(judged[i])):
                sentence = self.screen.as_written(Claim(claims[i].text, cited))
                found[i] = replace(judged[i], sentence=sentence, change=f"{numbers_shown(cited)} cited")
        return found

    def _verdicts(self, claims: Sequence[Claim], judged: Sequence[Judged]) -> list[tuple[Verdict, tuple[int, ...]]]:
        """Verdict on each claim and the passages that it is by."""
        assert self.judge is not None  # noqa: S101
        cited = [self._cited(one) for one in judged]
        verdicts = self.judge.judge([self._question(*one) for one in zip(claims, cited, strict=True)])
        found = list(zip(verdicts, cited, strict=True))
        if isinstance(self.ctx.judge, LanguageModelJudge):
            return found
        doubted = [i for i, verdict in enumerate(verdicts) if verdict.label != "supported"]
        wider = [tuple(dict.fromkeys((*cited[i], *self.screen.concerned(claims[i], judged[i])))) for i in doubted]
        again = self.judge.judge([self._question(claims[i], more) for i, more in zip(doubted, wider, strict=True)])
        for i, more, verdict in zip(doubted, wider, again, strict=True):
            if verdict.label == "supported":
                deciding = [more[span.passage] for span in verdict.spans]
                found[i] = (verdict, tuple(sorted({*cited[i], *deciding})))
        return found

    def _question(self, claim: Claim, cited: Sequence[int]) -> Question:
        told = with_source if isinstance(self.ctx.judge, LanguageModelJudge) else lambda passage: passage.text
        return Question(claim.text, tuple(told(self.screen.shown[i]) for i in cited))

    def _cited(self, judged: Judged) -> tuple[int, ...]:
        """The passages that the checked sentence cites."""
        own = set(judged.sentence.citations)
        return tuple(i for i, passage in enumerate(self.screen.shown) if own & set(passage.citations()))

    def _problem(self, verdict: Verdict, cited: Sequence[int]) -> str:
        problem = verdict.reason or _PROBLEM[verdict.label].format(numbers_shown(cited))
        quoted = [_excerpt(self.screen.shown[cited[s.passage]].text[s.start : s.end]) for s in verdict.spans[:1]]
        return f"{problem.rstrip('.')}" + "".join(f"; the passage has “{words}”" for words in quoted if words)


def with_source(passage: Passage) -> str:
    """A passage's text and, behind it, where it is from: a sentence may say whose review, and of which day."""
    known = ", ".join(filter(None, (passage.title, passage.site, passage.published)))
    return f"{passage.text} ({known})" if known else passage.text


def _excerpt(text: str) -> str:
    """The first words of a text, without marks that a remark gives a meaning."""
    words = _MARKERS.sub("", text).split()
    return " ".join(words[:_LONGEST]) + (" …" if len(words) > _LONGEST else "")


def doubted(judge: Judge, claim: str, *passages: Sequence[str]) -> str:
    """Why a judge doubts a claim by each of several sets of passages, asked in turn; empty if one supports it."""
    reason = ""
    for some in passages:
        (verdict,) = judge.judge([Question(claim, tuple(some))])
        if verdict.label == "supported":
            return ""
        reason = verdict.reason or "what it says goes further than the sentence and its sources"
    return reason
