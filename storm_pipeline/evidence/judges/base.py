"""The protocol of judges: claims and passages in, verdicts and the deciding words out."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from storm_pipeline.text.words import has_word

Label = Literal["supported", "partly", "not", "contradicted"]
"""Support of a claim by passages: full, partial, none, or contradiction. Only a judge that reads them gives one."""
Finding = Literal["on topic", "digits not found", "another source fits better", "another language", "not found"]
"""Findings of the screen, which compares words and digits and reads nothing for support."""
Outcome = Label | Finding | Literal["unjudged"]
"""Label or finding; ``unjudged`` if a cap or a failure left no verdict."""


@dataclass(frozen=True)
class Question:
    """A claim, a sentence without citation markers, and the passages that may support it, alone or together."""

    claim: str
    passages: tuple[str, ...]
    unfound: tuple[str, ...] = ()  # numbers of the claim that no passage has in this form
    before: str = ""  # the sentence before it, which supports nothing; empty if that is the question before, or none

    @property
    def has_words(self) -> bool:
        """Whether the claim and a passage have words, as a verdict requires."""
        return has_word(self.claim) and any(map(has_word, self.passages))


@dataclass(frozen=True)
class Span:
    """A part of a passage: ``question.passages[passage][start:end]``, never empty."""

    passage: int  # position among the question's passages, from 0
    start: int  # first character, from 0
    end: int  # after the last character


@dataclass(frozen=True)
class Verdict:
    """A judge's verdict on whether passages support a claim."""

    label: Outcome  # supported if and only if ``probability`` reaches the threshold of a judge that has one
    probability: float  # probability that the whole claim follows, in [0, 1]; comparable within one judge only
    spans: tuple[Span, ...] = ()  # the deciding words, most important first (:mod:`.spans` finds them)
    reason: str = ""  # a short reason for the writer: missing or contradicted parts
    supporting: tuple[int, ...] = ()  # positions of the passages that the judge names for a supported claim
    better: str = ""  # the passage of another question that fits better, if the screen finds one


class Judge(Protocol):
    """A judge of whether passages support claims. Called from several threads.

    Without words in claim or passages a verdict is ``not``, or ``not found``, with probability 0.
    """

    @property
    def name(self) -> str: ...  # noqa: D102

    def judge(self, questions: Sequence[Question]) -> list[Verdict]:
        """Return one verdict per question, in order. Raises SettingsError, ModelError: its model cannot be used."""
        ...


class JudgeWrapper:
    """A judge that wraps another one, under its name."""

    def __init__(self, judge: Judge) -> None:
        self._judge, self.name = judge, judge.name


def label_of(probability: float, threshold: float) -> Label:
    """Return the label for a probability: ``not`` below half the threshold."""
    if probability >= threshold:
        return "supported"
    return "partly" if probability >= threshold / 2 else "not"
