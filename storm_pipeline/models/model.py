"""A language model, ready to be asked."""

from dataclasses import dataclass
from typing import Any

import dspy

from storm_pipeline.adapter import PromptAdapter
from storm_pipeline.prices import Price


@dataclass(frozen=True)
class Model:
    """A language model, the adapter that speaks to it, and its name and place for people.

    ``price`` is None where it is unknown. ``bounded`` replies end where a program's ``ample`` says; others where the
    model or the settings do. A ``steady`` model gives its likeliest reply to a program that asks for it, unless that
    did not parse.
    """

    lm: dspy.LM
    adapter: PromptAdapter
    name: str
    where: str
    price: Price | None = None
    bounded: bool = False
    steady: bool = False


class DiscreetLM(dspy.LM):
    """Keeps its calls to itself: DSPy holds on to the last 10,000 prompts and replies of the whole process."""

    def update_history(self, entry: dict[str, Any]) -> None:
        """Remember a call here alone."""
        self.history.append(entry)
