"""The protocol of judges: claims and passages in, verdicts with a probability and the deciding words out."""

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from storm_pipeline.text.words import has_word

Label = Literal["supported", "partly", "not", "contradicted"]
"""Support of a claim by passages: full, partial, none, or contradiction."""
Parameters = Mapping[str, str | int | float]
"""The parameters of a judge's verdicts: model, threshold, hash of the prompt. Printed with its figures."""
_CACHED = 20_000  # cached verdicts: about those of a hundred articles


@dataclass(frozen=True)
class Question:
    """A claim, a sentence without citation markers, and the passages that may support it, alone or together."""

    claim: str
    passages: tuple[str, ...]
    unfound: tuple[str, ...] = ()  # numbers of the claim that no passage has in this form

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

    label: Label  # supported if and only if ``probability`` reaches the judge's threshold
    probability: float  # probability that the whole claim follows, in [0, 1]; comparable within one judge only
    spans: tuple[Span, ...] = ()  # the deciding words, most important first (:mod:`.spans` finds them)
    reason: str = ""  # a short reason for the writer: missing or contradicted parts
    supporting: tuple[int, ...] = ()  # positions of the passages that the judge names for a supported claim


class Judge(Protocol):
    """A judge of whether passages support claims. Called from several threads.

    A verdict depends on its question alone; without words in claim or passages it is ``not`` with probability 0.
    ``threshold`` is the minimum probability of a supported claim, in [0, 1].
    """

    @property
    def name(self) -> str: ...  # noqa: D102

    @property
    def threshold(self) -> float: ...  # noqa: D102

    @property
    def parameters(self) -> Parameters: ...  # noqa: D102

    def judge(self, questions: Sequence[Question]) -> list[Verdict]:
        """Return one verdict per question, in order. Raises SettingsError, ModelError: its model cannot be used."""
        ...


class JudgeWrapper:
    """A judge that wraps another one, under its name, threshold and parameters."""

    def __init__(self, judge: Judge) -> None:
        self._judge = judge
        self.name, self.threshold, self.parameters = judge.name, judge.threshold, judge.parameters


class CachingJudge(JudgeWrapper):
    """A judge that caches another one's latest verdicts and asks it in one thread at a time."""

    def __init__(self, judge: Judge) -> None:
        super().__init__(judge)
        self._known: dict[Question, Verdict] = {}
        self._lock = threading.Lock()

    @classmethod
    def of(cls, judge: Judge) -> "CachingJudge":
        """Return the judge itself if it is a caching one, else wrap it."""
        return judge if isinstance(judge, cls) else cls(judge)

    def judge(self, questions: Sequence[Question]) -> list[Verdict]:
        """Judge as :meth:`Judge.judge`."""
        with self._lock:
            new = [question for question in dict.fromkeys(questions) if question not in self._known]
            if new:
                self._known.update(zip(new, self._judge.judge(new), strict=True))
            verdicts = [self._known[question] for question in questions]
            for oldest in list(self._known)[: max(0, len(self._known) - _CACHED)]:
                del self._known[oldest]
            return verdicts


def label_of(probability: float, threshold: float) -> Label:
    """Return the label for a probability: ``not`` below half the threshold."""
    if probability >= threshold:
        return "supported"
    return "partly" if probability >= threshold / 2 else "not"
