"""A support judge that asks a language model through a DSPy signature."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import dspy

from storm_bench.judges.base import Pair, Parameters
from storm_bench.judges.model_judge import JudgeModel, prompt_fingerprint
from storm_bench.signatures.judging import JudgeSupport, Verdict
from storm_pipeline.api import Program, chunks

WINDOW = 500
"""Maximum words of a passage per question, as in the official evaluation."""
_VERDICT_SCORES: Mapping[Verdict, float] = {"yes": 1.0, "partly": 0.5, "no": 0.0}


class LanguageModelJudge:
    """Asks a language model whether a passage supports a claim: yes 1, partly 0.5, no 0.

    With token probabilities the score is the expected value, so that a judge that mostly says yes can still be given a
    useful threshold. A passage longer than the window is judged in parts and gets its best part's score, as in the
    official evaluation.

    Args:
        model: the judge model.
        threshold: minimum score of a supported claim, in [0, 1].
        window: maximum words of a passage per question, >= 1.
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
            "prompt": prompt_fingerprint(self._program),
        }
        return {**self._model.settings, **own}

    def scores(self, pairs: Sequence[Pair]) -> list[float]:
        """As :class:`~storm_bench.judges.base.SupportJudge`; an empty passage scores 0 without a call.

        Raises:
            MetricError: the model cannot be called or returns no verdict.
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
    probabilities = _verdict_probabilities(reply.get("logprobs"), verdict)
    total = sum(probabilities.values())
    return (
        sum(_VERDICT_SCORES[name] * probability for name, probability in probabilities.items()) / total
        if total
        else _VERDICT_SCORES[verdict]
    )


def _verdict_probabilities(logprobs: Any, verdict: Verdict) -> dict[Verdict, float]:
    """Probability of each verdict at the first token of the reply's verdict; all 0 without probabilities."""
    tokens = logprobs["content"] if logprobs else []
    at = "".join(token["token"] for token in tokens).rfind(verdict)
    end, probabilities = 0, dict.fromkeys(_VERDICT_SCORES, 0.0)
    for token in tokens:
        end += len(token["token"])
        if at < 0 or end <= at:
            continue
        for option in token["top_logprobs"] or [token]:
            start = option["token"].strip(' ":\n{').rstrip('"}')
            for name in _VERDICT_SCORES:
                if start and (name.startswith(start) or start.startswith(name)):
                    probabilities[name] += math.exp(option["logprob"])
        break
    return probabilities
