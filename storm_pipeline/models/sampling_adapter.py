"""The adapter of a run: what a program's predictors ask is drawn from the role's model until a reply parses."""

import asyncio
from collections.abc import Callable
from typing import Any

import dspy

from storm_pipeline.models.prompt_adapter import PromptAdapter

Values = list[dict[str, Any]]
"""Values of the output fields, one dict per requested reply (``n``, 1 by default)."""
Parse = Callable[[dspy.Adapter, dspy.BaseLM], Values]
"""Asks a model once through an adapter and parses its replies; raises AdapterParseError if they do not parse."""


class SamplingAdapter(PromptAdapter):
    """Hands each call of a predictor to a function, which may ask and parse several times.

    Args:
        draw: the function; without it, that of the active adapter: ``dspy.Refine`` makes a subclass without arguments.
    """

    def __init__(self, draw: Callable[[Parse], Values] | None = None) -> None:
        super().__init__()
        self._draw: Callable[[Parse], Values] = draw or dspy.settings.adapter._draw

    def __call__(
        self,
        lm: dspy.BaseLM,
        lm_kwargs: dict[str, Any],
        signature: type[dspy.Signature],
        demos: list[dict[str, Any]],
        inputs: dict[str, Any],
    ) -> Values:
        """The values of the output fields. Of a model of the predictor's own only what makes another sample counts."""
        own = lm.kwargs if lm.kwargs.get("rollout_id") is not None else {}
        options = {name: own[name] for name in ("rollout_id", "temperature") if own.get(name) is not None} | lm_kwargs

        def parse(adapter: dspy.Adapter, served: dspy.BaseLM) -> Values:
            values: Values = adapter(served, dict(options), signature, demos, inputs)
            return values

        return self._draw(parse)

    async def acall(self, *call: Any, **named: Any) -> Values:
        """As a call."""
        return await asyncio.to_thread(self, *call, **named)
