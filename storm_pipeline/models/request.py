"""One call of a language model: what is sent, which is also what the journal knows it by."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import dspy
from dspy.clients._deprecation import adapter_message_call

from storm_pipeline.models.model import Model
from storm_pipeline.models.prices import cost
from storm_pipeline.models.programs import Program
from storm_pipeline.run.journal import current_place, fingerprint
from storm_pipeline.settings import Role

_CONNECTION = frozenset(
    "api_key api_base api_version base_url headers extra_headers extra_query timeout organization project "
    "custom_llm_provider azure_ad_token_provider".split()
)
"""Parameters of a model that say how it is reached; all others decide about a reply."""
_CHARACTERS_A_TOKEN = 4


@dataclass(frozen=True)
class Request:
    """One call of a language model.

    Attributes:
        role: who asks.
        model: what is asked.
        messages: as the adapter made them.
        options: parameters of this call; they come before the model's own.
        token_limit: tokens that the reply is expected to take at most.
        place: the part of the run that asks, see :func:`storm_pipeline.run.journal.at_place`.
    """

    role: Role
    model: Model
    messages: list[dict[str, Any]]
    options: Mapping[str, Any]
    token_limit: int
    place: str

    @cached_property
    def key(self) -> str:
        """Digits that are equal for equal requests from the same place."""
        sent = {**self.model.lm.kwargs, **self.options}
        drawn = {name: value for name, value in sent.items() if name not in _CONNECTION and value is not None}
        return fingerprint(self.place, self.model.name, drawn, self.messages)

    @property
    def tokens_in(self) -> int:
        """About how many tokens the messages have."""
        return sum(len(str(message["content"])) for message in self.messages) // _CHARACTERS_A_TOKEN

    def send(self) -> "Reply":
        """Make the call.

        Raises:
            LMError: it failed.
        """
        lm = self.model.lm
        # DSPy 3.4 takes messages from adapters alone without a warning. 3.5 replaces the form of messages, and this.
        with dspy.track_usage() as tracker, adapter_message_call(lm, self.messages):
            outputs = lm(messages=self.messages, **self.options)
        return Reply(outputs or [""], tracker.get_total_tokens().get(lm.model, {}))


@dataclass(frozen=True)
class Reply:
    """What a model replied.

    Attributes:
        outputs: one for each reply that was asked for: its text, or a dict that has more beside ``text``.
        usage: tokens, in the terms of OpenAI; empty where the server does not tell or a cache answered.
    """

    outputs: list[Any]
    usage: Mapping[str, Any]

    @property
    def texts(self) -> list[str]:
        """The replies, without what a reasoning model thought."""
        return [str((output.get("text") if isinstance(output, dict) else output) or "") for output in self.outputs]

    @property
    def tokens(self) -> tuple[int, int, int]:
        """Tokens of the prompt, those of them that came from a prefix cache, and tokens of the replies."""
        cached = (self.usage.get("prompt_tokens_details") or {}).get("cached_tokens")
        return self.usage.get("prompt_tokens") or 0, cached or 0, self.usage.get("completion_tokens") or 0

    def dollars(self, model: Model) -> float | None:
        """What it cost; None where that is unknown."""
        return cost(model.price, *self.tokens) if model.price and self.usage else None


def options_of(model: Model, program: Program, sample: int, seed: int | None) -> dict[str, Any]:
    """Parameters of a call beside the model's own.

    Args:
        model: what is asked.
        program: what for.
        sample: how many replies to the same request were of no use.
        seed: of the run.
    """
    options: dict[str, Any] = {}
    if model.bounded:
        options["max_tokens"] = min(program.token_limit, model.lm.kwargs.get("max_tokens") or program.token_limit)
    if model.greedy and program.greedy and not sample:
        options["temperature"] = 0.0
    if seed is not None:
        options["seed"] = seed + _of_place(current_place()) + sample
    if sample and model.lm.cache:
        options["cache"] = False  # else DSPy would serve the reply that was of no use
    return options


def _of_place(place: str) -> int:
    """What is added to a seed, so that parts of a run that ask the very same thing are not answered with one voice."""
    return int(fingerprint(place)[:6], 16) if place else 0
