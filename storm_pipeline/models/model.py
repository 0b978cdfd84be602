"""A language model, ready to be asked."""

from dataclasses import dataclass
from typing import Any

import dspy

from storm_pipeline.models.prices import Price
from storm_pipeline.models.prompt_adapter import PromptAdapter


@dataclass(frozen=True)
class Model:
    """A language model, the adapter that speaks to it, and its name and place for people.

    Attributes:
        lm: is called as it is, with its own parameters.
        adapter: makes messages of signatures, and values of replies.
        name: in reports.
        where: in errors; calls in flight are bounded for each of these places.
        price: None where it is unknown.
        bounded: whether the ``token_limit`` of a program bounds replies, beside the model and the settings.
        greedy: whether programs that ask for it are decoded greedily, unless that reply did not parse.
    """

    lm: dspy.BaseLM
    adapter: PromptAdapter
    name: str
    where: str
    price: Price | None = None
    bounded: bool = False
    greedy: bool = False


class DiscreetLM(dspy.LM):
    """Keeps no history: DSPy holds on to the last 10,000 prompts and replies of the whole process."""

    def update_history(self, entry: dict[str, Any]) -> None:
        """Forget a call."""
