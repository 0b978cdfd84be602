"""The best of several samples: a wrapper of programs, which nothing uses unless it is asked to."""

import re
from collections.abc import Callable, Mapping
from typing import Any

import dspy
from dspy.utils.exceptions import AdapterParseError

from storm_pipeline.models.programs import Program
from storm_pipeline.optimize.metrics.base import names_in, share_of
from storm_pipeline.optimize.metrics.cited import checked
from storm_pipeline.references.passages import Passage
from storm_pipeline.retrieval.embedder import Embed
from storm_pipeline.types import Snippet

Reward = Callable[[Mapping[str, Any], dspy.Prediction], float]
"""Inputs of a program, and its reply → how good the reply is; the highest wins."""
_TEMPERATURE = 1.0
_LINE = re.compile(r"^\[\d+\] (?P<title>[^:]*): (?P<text>.*)$", re.M)


def best_of(program: Program, samples: int, reward: Reward) -> Program:
    """A program that asks several times, at temperature 1, and keeps the reply with the highest reward.

    Every sample is paid and journalled. ``dspy.BestOfN`` would also hide that a cap is reached, and count failures over
    all calls.

    Args:
        samples: how often, at least 1.
        reward: judges a reply; ties go to the earlier one.
    """
    best = Program(_BestOf(program, samples, reward), token_limit=program.token_limit)
    best.name = program.name
    return best


def citation_reward(field: str, embed: Embed) -> Reward:
    """The mean of three shares: supported sentences, citations that stand, and the passages' names and numbers told.

    For programs that write from numbered ``passages``; no human text is needed.
    """

    def reward(inputs: Mapping[str, Any], reply: dspy.Prediction) -> float:
        lines = list(_LINE.finditer(str(inputs["passages"])))
        shown = [
            Passage(own["text"], (Snippet(f"shown:{i}", own["title"], own["text"]),)) for i, own in enumerate(lines)
        ]
        text = str(reply[field])
        found = checked(text, shown, str(inputs.get("topic") or inputs.get("article")), embed)
        told = share_of(names_in(" ".join(one.text for one in shown)), names_in(text))
        return (found.recall + found.precision + told) / 3

    return reward


class _BestOf(dspy.Module):
    """Samples a program; see :func:`best_of`."""

    def __init__(self, program: Program, samples: int, reward: Reward) -> None:
        super().__init__()
        self.program = program
        self._samples = samples
        self._reward = reward

    def forward(self, **inputs: Any) -> dspy.Prediction:
        found: list[tuple[float, dspy.Prediction]] = []
        failed: AdapterParseError | None = None
        for number in range(self._samples):
            one = self.program.deepcopy()
            for asked in one.predictors():
                asked.lm = (asked.lm or dspy.settings.lm).copy(rollout_id=number + 1, temperature=_TEMPERATURE)
            try:
                reply = one(**inputs)
            except AdapterParseError as error:
                failed = error
                continue
            found.append((self._reward(inputs, reply), reply))
        if failed and not found:
            raise failed
        return max(found, key=lambda own: own[0])[1]
