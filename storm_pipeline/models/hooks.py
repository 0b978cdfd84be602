"""Hooks into DSPy: around a predictor's call, and around the request that its adapter sends."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import dspy

Completions = list[dict[str, Any]]
"""Values of the output fields, one dict per requested reply (``n``, 1 by default)."""
Send = Callable[[list[dict[str, Any]], dict[str, Any]], list[Any]]
"""Messages and parameters of a call → its replies, in the form of ``dspy.LM``."""


@dataclass(frozen=True)
class Predictor:
    """What DSPy passes to an adapter besides the language model: parameters, signature, examples, inputs."""

    options: dict[str, Any]
    signature: type[dspy.Signature]
    demos: list[dict[str, Any]]
    inputs: dict[str, Any]

    def through(self, adapter: dspy.Adapter, lm: dspy.BaseLM) -> Completions:
        """Call ``lm`` through ``adapter`` and parse its replies; raises AdapterParseError if they do not parse."""
        completions: Completions = adapter(lm, dict(self.options), self.signature, self.demos, self.inputs)
        return completions


class PredictorHook(dspy.Adapter):
    """An adapter that delegates each predictor call of a program to a function.

    Args:
        ask: the function; without it, that of the active hook: ``dspy.Refine`` makes a subclass without arguments.
    """

    def __init__(self, ask: Callable[[Predictor], Completions] | None = None) -> None:
        super().__init__()
        self._ask: Callable[[Predictor], Completions] = ask or dspy.settings.adapter._ask

    def __call__(
        self,
        lm: dspy.BaseLM,
        lm_kwargs: dict[str, Any],
        signature: type[dspy.Signature],
        demos: list[dict[str, Any]],
        inputs: dict[str, Any],
    ) -> Completions:
        """Delegate the call. Of a model of the predictor's own only what makes another sample counts."""
        own = lm.kwargs if lm.kwargs.get("rollout_id") is not None else {}
        sampling = {name: own[name] for name in ("rollout_id", "temperature") if own.get(name) is not None}
        return self._ask(Predictor({**sampling, **lm_kwargs}, signature, demos, inputs))


class RequestHook(dspy.BaseLM):
    """A language model that delegates each request to a function; to adapters it looks like ``lm``."""

    def __init__(self, lm: dspy.BaseLM, send: Send) -> None:
        super().__init__(lm.model, lm.model_type, cache=False, num_retries=0)
        self.kwargs = dict(lm.kwargs)
        self._send = send

    def __call__(
        self,
        prompt: str | None = None,
        *,
        messages: list[dict[str, Any]] | None = None,
        **kwargs: Any,
    ) -> list[Any]:
        """Delegate the request."""
        return self._send(messages or [{"role": "user", "content": prompt}], kwargs)
