"""The one way to a model: every call of a run is served from the journal, or paid for within the caps and recorded."""

import asyncio
import math
import re
import threading
import time
import warnings
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import partial
from http import HTTPStatus
from typing import Any

import dspy
import tenacity
from dspy.utils.exceptions import (
    LMAuthError,
    LMError,
    LMNotConfiguredError,
    LMProviderError,
    LMTimeoutError,
    LMTransportError,
    is_retryable_lm_error,
)

from storm_pipeline.concurrency import process_slot
from storm_pipeline.configuration.addresses import redacted
from storm_pipeline.errors import ModelAuthError, ModelError
from storm_pipeline.models.model_objects import Model, told_calls
from storm_pipeline.models.request import Reply, Request, is_cut, valid_counts, with_text
from storm_pipeline.net.retrying import within
from storm_pipeline.run.events import CallFinished, Events, Retried, Reused
from storm_pipeline.run.journal import Journal, current_place
from storm_pipeline.run.ledger import RunControl
from storm_pipeline.settings import Role, Settings
from storm_pipeline.text import formatting

_MAX_WAIT = 60.0
_READ_TIMEOUT = re.compile(r"\bread timeout\b|\bread timed out\b", re.I)


def is_transient(error: BaseException) -> bool:
    """Whether a retry may succeed; a response body that was cut off (HTTP 200, invalid JSON) counts."""
    cut_off = isinstance(error, LMProviderError) and error.status == HTTPStatus.OK
    return isinstance(error, Exception) and (cut_off or is_retryable_lm_error(error))


def seconds_to_wait(state: tenacity.RetryCallState) -> float:
    """The server's Retry-After, else exponential backoff with jitter; at most a minute."""
    error = state.outcome.exception() if state.outcome else None
    retry_after = getattr(error, "retry_after", None)
    if retry_after:
        return min(float(retry_after), _MAX_WAIT)
    return tenacity.wait_random_exponential(0.5, max=30)(state)


def first_line(model: Model, error: BaseException | None) -> str:
    """The first line of an error's message, or its class if the message is empty; without keys and passwords."""
    key = str(model.connection("api_key") or "")
    return redacted(formatting.first_line(getattr(error, "message", None) or error), key)


def reason_of(model: Model, error: BaseException | None) -> str:
    """What went wrong, in one line; for our read timeout in our own words, since DSPy would name its own option."""
    if _is_read_timeout(error):
        return f"it timed out, no complete reply within {model.timeout:g} s" if model.timeout else "it timed out"
    return first_line(model, error)


def _is_read_timeout(error: BaseException | None) -> bool:
    """Whether the client timed out; a timeout that the server reports has a status."""
    if isinstance(error, LMTransportError):
        return bool(_READ_TIMEOUT.search(error.message))
    return isinstance(error, LMTimeoutError) and error.status is None


def remedy_for(error: LMError) -> str:
    """What the user can do about it, as the end of a sentence; empty if unknown."""
    status = error.status
    if _is_read_timeout(error):
        return "; check that the endpoint runs, or raise --lm-timeout"
    if status is None:
        return "; check that the endpoint runs and that --api-base is its address"
    if status == 404:
        return "; check the model's name and the path of --api-base (often /v1)"
    return "" if status != 429 else "; lower --workers or wait"


# DSPy 3.4 takes a model of the user in every form by messages alone, and warns of it; 3.5 takes requests.
warnings.filterwarnings("ignore", "Passing OpenAI-style message", DeprecationWarning, r"storm_pipeline\.models\.engine")


@dataclass(frozen=True)
class Received:
    """What a request got: the replies, in the form of ``dspy.LM``, and their key and record in the journal."""

    outputs: list[Any]
    key: str
    record: Mapping[str, Any]


class Engine:
    """Sends the requests of a run: journalled, capped, throttled, retried and counted. Thread-safe.

    Args:
        journal: holds the replies of earlier sessions of the run; new replies are added.
        settings: limits on concurrent calls, and attempts.
    """

    def __init__(self, *, events: Events, control: RunControl, journal: Journal, settings: Settings) -> None:
        self._events = events
        self._control = control
        self._journal = journal
        self._settings = settings
        self._slots = threading.BoundedSemaphore(settings.calls_in_flight)

    def complete(self, request: Request) -> Received:
        """The replies from the journal, or new ones, which are added to it.

        Raises:
            ModelAuthError: the endpoint refuses the key.
            ModelError: the endpoint cannot be reached, refuses the request, or keeps failing.
            BudgetSpentError: a cap leaves no room for a call.
            StoppedError, TooManyFailuresError: the run must end.
        """
        recorded = self._journal.take("reply", request.key)
        if recorded is not None:
            self._events.emit(Reused(self._events.stage, "reply"))
            return Received(list(recorded["texts"]), request.key, recorded)
        with self._control.spending(request.role, request.model.price, request.tokens_in, request.token_limit):
            return self._with_retries(request)

    def _with_retries(self, request: Request) -> Received:
        model = request.model
        retrying = tenacity.Retrying(
            stop=tenacity.stop_after_attempt(self._settings.call_attempts),
            wait=seconds_to_wait,
            retry=tenacity.retry_if_exception(is_transient),
            before_sleep=lambda state: self._emit_retry(model, state),
            sleep=self._control.wait,
            reraise=True,
        )
        try:
            return retrying(self._call, request)
        except (LMAuthError, LMNotConfiguredError) as error:
            raise ModelAuthError(
                f"{model.where} refuses the key for {model.name}: set the provider's key variable "
                "(such as OPENAI_API_KEY) or name yours with --api-key-env"
            ) from error
        except LMError as error:
            self._control.seconds_left()
            raise ModelError(
                f"{model.name} at {model.where} failed: {reason_of(model, error)}{remedy_for(error)}"
            ) from error

    def _call(self, request: Request) -> Received:
        with self._slots, process_slot(request.model.where, self._settings.process_workers):
            self._control.check()
            seconds_left = self._control.seconds_left()
            start = time.monotonic()
            reply = _sent(request, seconds_left)
            seconds = time.monotonic() - start
        return Received(reply.outputs, request.key, self._record(request, reply, seconds))

    def _record(self, request: Request, reply: Reply, seconds: float) -> Mapping[str, Any]:
        """Journal a reply with its usage, and report it, whether or not it parses."""
        model = request.model
        tokens_in, cached, tokens_out = reply.tokens
        call = CallFinished(
            self._events.stage,
            request.role,
            model.name,
            tokens_in=tokens_in,
            tokens_cached=cached,
            tokens_out=tokens_out,
            seconds=round(seconds, 3),
            cost=reply.dollars(model),
            estimated=reply.estimated,
        )
        record: dict[str, Any] = {"texts": reply.texts, "role": request.role, "model": model.name, "call": asdict(call)}
        record |= {"cut": True} if reply.cut else {}
        self._journal.add("reply", request.key, record)  # first: a call that was reported is on record
        self._events.emit(call)
        return record

    def _emit_retry(self, model: Model, state: tenacity.RetryCallState) -> None:
        error = state.outcome.exception() if state.outcome else None
        wait = state.next_action.sleep if state.next_action else 0.0
        self._events.emit(Retried(self._events.stage, model.name, reason_of(model, error), round(wait, 2)))


class RunLM(dspy.BaseLM):
    """A role's model as DSPy asks it: any program, module or optimiser run with it goes through the engine of the run.

    Args:
        token_limit: expected maximum tokens of a reply.
        options: parameters of every call; those of a call come first.
    """

    def __init__(
        self, engine: Engine, role: Role, served: Model, token_limit: int, options: Mapping[str, Any] | None = None
    ) -> None:
        super().__init__(served.lm.model, served.lm.model_type, cache=False, num_retries=0)
        self.kwargs = dict(served.lm.kwargs)
        self.received: list[Received] = []
        self._engine = engine
        self._role = role
        self.served = served
        self._token_limit = token_limit
        self._options = dict(options or {})

    def __call__(
        self, prompt: str | None = None, *, messages: list[dict[str, Any]] | None = None, **kwargs: Any
    ) -> list[Any]:
        """The replies, in the form of ``dspy.LM``; errors as :meth:`Engine.complete`."""
        own = self.served.lm.kwargs
        changed = {name: value for name, value in self.kwargs.items() if value != own.get(name)}  # of a copy
        options = {**self._options, **changed, **kwargs}
        asked = messages or [{"role": "user", "content": prompt}]
        request = Request(self._role, self.served, asked, options, self._token_limit, current_place())
        received = self._engine.complete(request)
        self.received.append(received)
        return received.outputs

    async def acall(self, *prompt: str, **kwargs: Any) -> list[Any]:
        """As a call."""
        return await asyncio.to_thread(self, *prompt, **kwargs)

    def __deepcopy__(self, _: dict[int, Any]) -> "RunLM":
        copied: RunLM = self.copy()
        return copied


def _sent(request: Request, seconds_left: float | None) -> Reply:
    """The reply to a request, complete within the model's timeout, and within what the run has left.

    Raises LMError: it failed.
    """
    from storm_pipeline.models.reply_bounds import bounded_replies  # here, since httpx takes long to load
    from storm_pipeline.models.span_tokens import tokens_in_spans

    lm = request.model.lm
    limits = [limit for limit in (request.model.timeout, seconds_left) if limit is not None]
    with (
        dspy.track_usage() as tracker,
        tokens_in_spans(lm.model, tracker),
        bounded_replies(min(limits, default=math.inf)),
        told_calls() as calls,
    ):
        ask = partial(lm, messages=request.messages, **request.options)
        outputs = within(min(limits), lambda: ask() or [""]) if limits else ask() or [""]
    if outputs is None:
        raise LMTimeoutError("the reply was not complete in time", model=lm.model)
    usage = valid_counts(tracker.get_total_tokens().get(lm.model))
    return Reply([*map(with_text, outputs)], usage, request.tokens_in, any(is_cut(call["response"]) for call in calls))
