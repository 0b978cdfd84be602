"""Support judged by a language model, asked by a DSPy signature."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import dspy

from storm_pipeline.documents.chunks import chunks
from storm_pipeline.evaluation.judges.base import Pair, Parameters
from storm_pipeline.evaluation.judges.model import JudgeModel, fingerprint
from storm_pipeline.models.programs import Program
from storm_pipeline.signatures.judging import JudgeSupport, Verdict

WINDOW = 500
"""Most words of a passage in one question, as in the official evaluation."""
_WORTH: Mapping[Verdict, float] = {"yes": 1.0, "partly": 0.5, "no": 0.0}


class LanguageModelJudge:
    """Asks a language model whether a passage supports a claim: yes 1, partly 0.5, no 0.

    With the tokens' probabilities the score is their expectation, so that a judge that mostly says yes can still be
    given a threshold that tells its claims apart. A passage longer than the window is judged part by part and scores
    as its best part does, as the official evaluation does with its 500 words.

    Args:
        model: the model that judges.
        threshold: least score of a supported claim, in [0, 1].
        window: most words of a passage in one question, >= 1.
    """

    def __init__(self, model: JudgeModel, *, threshold: float = 0.75, window: int = WINDOW) -> None:
        self.threshold = threshold
        self._model = model
        self._window = window
        self._program = Program(JudgeSupport, token_limit=20, greedy=True)

    @property
    def name(self) -> str:
        """Name of the model."""
        return f"lm:{self._model.name}"

    @property
    def parameters(self) -> Parameters:
        """Settings of the model, threshold, window, and a fingerprint of the prompt."""
        own: dict[str, str | int | float] = {
            "threshold": self.threshold,
            "window": self._window,
            "prompt": fingerprint(self._program),
        }
        return {**self._model.settings, **own}

    def scores(self, pairs: Sequence[Pair]) -> list[float]:
        """As :class:`~storm_pipeline.evaluation.judges.base.SupportJudge`; an empty passage scores 0 unasked.

        Raises:
            MetricError: the model cannot be asked, or gives no verdict.
        """
        questions = [
            (i, {"passage": part, "claim": pair.claim})
            for i, pair in enumerate(pairs)
            for part in chunks(pair.passage, self._window)
        ]
        found = [0.0] * len(pairs)
        replies = self._model.ask(self._program, [question for _, question in questions])
        for (i, _), reply in zip(questions, replies, strict=True):
            found[i] = max(found[i], _score(reply))
        return found


def _score(reply: dspy.Prediction) -> float:
    verdict: Verdict = reply.verdict
    masses = _masses(reply.get("logprobs"), verdict)
    total = sum(masses.values())
    return sum(_WORTH[name] * mass for name, mass in masses.items()) / total if total else _WORTH[verdict]


def _masses(logprobs: Any, verdict: Verdict) -> dict[Verdict, float]:
    """Probability of each verdict at the token where the reply's own begins; empty without probabilities."""
    tokens = logprobs["content"] if logprobs else []
    at = "".join(token["token"] for token in tokens).rfind(verdict)
    begun, masses = 0, dict.fromkeys(_WORTH, 0.0)
    for token in tokens:
        begun += len(token["token"])
        if at < 0 or begun <= at:
            continue
        for option in token["top_logprobs"] or [token]:
            start = option["token"].strip(' ":\n{').rstrip('"}')
            for name in _WORTH:
                if start and (name.startswith(start) or start.startswith(name)):
                    masses[name] += math.exp(option["logprob"])
        break
    return masses
