"""The tokens of a call in its OpenTelemetry span, which OpenInference's instrumentation of DSPy leaves out."""

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import dspy
from dspy.utils.callback import BaseCallback
from dspy.utils.usage_tracker import UsageTracker

from storm_pipeline.models.request import valid_counts


@contextmanager
def tokens_in_spans(model: str, tracker: UsageTracker) -> Iterator[None]:
    """Write the tokens of the model's call in the block, which ``tracker`` counts, into the span of that call.

    The names are OpenInference's, ``llm.token_count.*``. Nothing happens where the call has no span of its own.
    """
    opentelemetry = sys.modules.get("opentelemetry.trace")
    if opentelemetry is None:
        yield
        return
    outer = opentelemetry.get_current_span()

    def write() -> None:
        if (span := opentelemetry.get_current_span()) is not outer:
            span.set_attributes(_token_counts(model, tracker))

    with dspy.context(callbacks=[_AtEnd(write), *dspy.settings.callbacks]):  # first: another's may end the span
        yield


class _AtEnd(BaseCallback):
    """Calls a function when a model has replied, in the call's span."""

    def __init__(self, function: Callable[[], None]) -> None:
        self._function = function

    def on_lm_end(self, call_id: str, outputs: Any, exception: BaseException | None = None) -> None:  # noqa: ARG002
        """Call the function."""
        self._function()


def _token_counts(model: str, tracker: UsageTracker) -> Mapping[str, int]:
    """The counts that the provider reported, by OpenInference's names."""
    usage = valid_counts(tracker.get_total_tokens().get(model))
    counts = {
        "prompt": usage.get("prompt_tokens"),
        "completion": usage.get("completion_tokens"),
        "total": usage.get("total_tokens"),
        "prompt_details.cache_read": usage.get("prompt_tokens_details", {}).get("cached_tokens"),
    }
    return {f"llm.token_count.{name}": count for name, count in counts.items() if count is not None}
