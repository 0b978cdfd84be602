"""A language model with its adapter, name and price."""

from dataclasses import dataclass
from typing import Any

import dspy

from storm_pipeline.models.prices import Price
from storm_pipeline.models.prompt_adapter import PromptAdapter


@dataclass(frozen=True)
class Model:
    """A language model, its adapter, and its name and endpoint for people."""

    lm: dspy.BaseLM  # called with its own parameters
    adapter: PromptAdapter  # formats signatures as messages and parses replies
    name: str  # name in reports
    where: str  # endpoint as named in errors; concurrent calls are limited per endpoint
    price: Price | None = None  # None if unknown
    bounded: bool = False  # whether a program's ``token_limit`` limits replies, beside the limits of model and settings
    greedy: bool = False  # whether the first sample of programs with ``greedy`` is decoded greedily

    @property
    def timeout(self) -> float | None:
        """Seconds within which a reply must be complete; None if the model's object sets none."""
        seconds = self.connection("timeout")
        return float(seconds) if isinstance(seconds, int | float) else None

    def connection(self, name: str) -> Any:
        """A parameter of the connection, such as ``api_key``, which an engine of DSPy's has in place of its model."""
        return getattr(getattr(self.lm, "engine", None), name, None) or self.lm.kwargs.get(name)


class StatelessLM(dspy.LM):
    """A ``dspy.LM`` without history; DSPy would keep the last 10,000 prompts and replies of the process."""

    def update_history(self, entry: dict[str, Any]) -> None:
        """Keep nothing."""
