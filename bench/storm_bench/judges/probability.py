"""A judge that asks a language model about each claim and its passages alone, and takes its probability of yes."""

import hashlib
import math
from collections.abc import Mapping, Sequence
from typing import Any

import dspy

from storm_bench.judges.model_judge import JudgeModel
from storm_bench.signatures.judging import JudgeSupport, Supports
from storm_pipeline.api import Program, chunks
from storm_pipeline.judges.base import Parameters, Question, Verdict, label_of

WINDOW = 500
"""Maximum words of a passage per question, as in the official evaluation."""
_VERDICT_SCORES: Mapping[str, float] = {"yes": 1.0, "partly": 0.5, "no": 0.0}


class ProbabilityJudge:
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

    def judge(self, questions: Sequence[Question]) -> list[Verdict]:
        """As :class:`~storm_pipeline.judges.base.Judge`; without passages there is no call.

        Raises:
            MetricError: the model cannot be called or returns no verdict.
        """
        asked = [
            (i, {"passage": part, "claim": one.claim})
            for i, one in enumerate(questions)
            for part in chunks("\n".join(one.passages), self._window)
        ]
        found = [0.0] * len(questions)
        replies = self._model.ask(self._program, [inputs for _, inputs in asked])
        for (i, _), reply in zip(asked, replies, strict=True):
            found[i] = max(found[i], _score(reply))
        return [Verdict(label_of(score, self.threshold), score) for score in found]


def probabilities(logprobs: Any, chosen: str, options: Sequence[str]) -> dict[str, float]:
    """Return the probability of each option at the first token of the chosen one, in [0, 1]; all 0 where unknown.

    Args:
        logprobs: of a reply's tokens, in OpenAI's form, as a prediction carries them; None without any.
        chosen: the option in the reply.
        options: the values that the field may have.
    """
    found = dict.fromkeys(options, 0.0)
    tokens = logprobs["content"] if logprobs else []
    at = "".join(token["token"] for token in tokens).rfind(chosen)
    end = 0
    for token in tokens:
        end += len(token["token"])
        if at < 0 or end <= at:
            continue
        for candidate in token["top_logprobs"] or [token]:
            start = candidate["token"].strip(' ":\n{').rstrip('"}')
            for option in options:
                if start and (option.startswith(start) or start.startswith(option)):
                    found[option] += math.exp(candidate["logprob"])
        break
    return found


def _score(reply: dspy.Prediction) -> float:
    verdict: Supports = reply.verdict
    found = probabilities(reply.get("logprobs"), verdict, tuple(_VERDICT_SCORES))
    total = sum(found.values())
    return (
        sum(_VERDICT_SCORES[name] * probability for name, probability in found.items()) / total
        if total
        else _VERDICT_SCORES[verdict]
    )


def prompt_fingerprint(*programs: Program) -> str:
    """A 12-digit hexadecimal hash of prompts: instructions, fields and reply types."""
    parts = [
        f"{program.predict.signature.instructions}\n{name} {field.annotation} {field.json_schema_extra}"
        for program in programs
        for name, field in program.predict.signature.fields.items()
    ]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:12]
