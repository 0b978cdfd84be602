"""The judge that is a language model: what it is told, and what is read from its replies."""

from types import SimpleNamespace
from typing import Any

import pytest

from storm_pipeline.errors import ModelError
from storm_pipeline.judges.base import Question, Verdict
from storm_pipeline.judges.language_model import LanguageModelJudge
from storm_pipeline.models.programs import Program, Programs

DAM = "The Orrin Dam was built between 1931 and 1936."
TOWN = "Selby took in 400 families who lost their farms."
CHECK = Programs().check


class Scripted:
    """Replies in order; keeps the programs and inputs that it was asked."""

    def __init__(self, *replies: str) -> None:
        self.asked: list[tuple[Program, dict[str, Any]]] = []
        self._replies = iter(replies)

    def __call__(self, program: Program, **inputs: Any) -> SimpleNamespace:
        self.asked.append((program, inputs))
        reply = next(self._replies)
        return SimpleNamespace(verdicts=reply, text=reply)


def test_sentences_share_a_call_and_each_gets_its_line() -> None:
    model = Scripted(
        "1: supported\n2. **contradicted** — Selby took in 400, not 40 | “took in  400 families”\n"
        "Sentence 3) not - nothing of it"
    )
    judge = LanguageModelJudge(model, "one", CHECK)
    questions = [
        Question("The dam is from the 1930s.", (DAM,)),
        Question("It took in 40.", (DAM, TOWN)),
        Question("No.", (TOWN,)),
    ]
    built, took, nothing = judge.judge(questions)
    assert built == Verdict("supported", 1.0)
    assert (took.label, took.reason) == ("contradicted", "Selby took in 400, not 40")
    assert [TOWN[span.start : span.end] for span in took.spans if span.passage == 1] == ["took in 400 families"]
    assert (nothing.label, nothing.reason, nothing.spans) == ("not", "nothing of it", ())
    ((_, inputs),) = model.asked
    assert inputs["passages"] == f"[1] {DAM}\n[2] {TOWN}"
    assert inputs["check"].splitlines() == [
        "1. The dam is from the 1930s. [1]",
        "2. It took in 40. [1][2]",
        "3. No. [2]",
    ]
    assert judge.name == "model:one"


def test_what_a_reply_leaves_out_is_asked_again_once() -> None:
    questions = [Question("One.", (DAM,)), Question("Two.", (DAM,))]
    model = Scripted("2: partly", "1: not")
    assert [one.label for one in LanguageModelJudge(model, "one", CHECK).judge(questions)] == ["not", "partly"]
    assert model.asked[1][1]["check"] == "1. One. [1]"
    with pytest.raises(ModelError, match="no verdict on 2 sentences"):
        LanguageModelJudge(Scripted("I cannot.", "Still not."), "one", CHECK).judge(questions)


def test_without_words_nothing_is_asked() -> None:
    judge = LanguageModelJudge(Scripted(), "one", CHECK)
    assert (
        judge.judge([Question("", (DAM,)), Question("One.", ()), Question("One.", ("…",))]) == [Verdict("not", 0.0)] * 3
    )
    assert judge.judge([]) == []


def test_long_passages_are_spread_over_calls() -> None:
    questions = [Question(f"Claim {n}.", (f"Passage {n}. " + "word " * 1400,)) for n in range(5)]
    model = Scripted("1: supported\n2: supported", "1: supported\n2: supported", "1: supported")
    assert len(LanguageModelJudge(model, "one", CHECK).judge(questions)) == 5
    assert len(model.asked) == 3
