"""The engine of all calls of a run: each is served from the journal, or made within the caps and recorded."""

import asyncio
import math
import threading
import time
import warnings
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import partial
from http import HTTPStatus
from typing import Any

import dspy
import tenacity
from dspy.utils import exceptions

from storm_pipeline.errors import ModelAuthError, ModelError
from storm_pipeline.models.model_objects import Model, call_log
from storm_pipeline.models.refusals import Refusals, adapt
from storm_pipeline.models.request import WEB_PAGE, Answer, Reply, Request, is_cut, valid_counts, with_text
from storm_pipeline.run.events import CallFinished, Events, Retried, Reused
from storm_pipeline.run.journal import UNREAD, Journal, current_scope
from storm_pipeline.run.ledger import RunControl, Spending
from storm_pipeline.run.limits import MINUTE
from storm_pipeline.run.retrying import run_within
from storm_pipeline.settings import Role, Settings
from storm_pipeline.text import formatting
from storm_pipeline.text.configuration.addresses import redact

# In DSPy 3.4 user models of every kind take messages only, with a warning; 3.5 takes requests.
warnings.filterwarnings("ignore", "Passing OpenAI-style message", DeprecationWarning, r"storm_pipeline\.models\.engine")
_REMEDIES = {
    None: "; check that the endpoint runs and that --api-base is its address",
    200: "; check that --api-base is the address of a model server",
    404: "; check the model's name and the path of --api-base (often /v1)",
    429: "; lower --workers or wait",
}
"""Status of an answer, None without an answer → remedy for the user."""


@dataclass(frozen=True)
class Replies:
    """The replies to a request, in the form of ``dspy.LM``, with their key and record in the journal."""

    outputs: list[Any]
    key: str
    record: Mapping[str, Any]


class Engine:
    """Sends the requests of a run: journalled, capped, throttled, retried and counted. Thread-safe."""

    def __init__(self, *, events: Events, control: RunControl, journal: Journal, settings: Settings) -> None:
        self._events = events
        self._control = control
        self._journal = journal
        self._settings = settings
        self._refusals = Refusals(events, settings)
        self._excess: dict[str, int] = {}  # model → most tokens of a reply so far beyond the expected maximum
        self._noted_large = False
        self._excess_lock, self._first_call = threading.Lock(), threading.Lock()

    def complete(self, request: Request) -> Replies:
        """Return the replies from the journal, or new ones, which are added to it.

        Raises ModelAuthError: the endpoint refuses the key; ModelError: the endpoint cannot be reached, refuses the
        request, or keeps failing; SettingsError: the endpoint refuses a parameter that the user chose;
        BudgetSpentError: a cap leaves no room for a call; StoppedError, TooManyFailuresError: the run must end.
        """
        recorded = self._journal.take("reply", request.key)
        if recorded is not None:
            self._events.emit(Reused(self._events.stage, "reply"))
            self._refusals.keep(request, recorded.get("without", ()))
            return Replies(list(recorded["texts"]), request.key, recorded)
        with self._alone_at_first(request.model):
            return self._with_retries(request)

    @contextmanager
    def _alone_at_first(self, model: Model) -> Iterator[None]:
        """Let a hosted model's first call under a cap go alone, since others reserve what its reply shows."""
        if self._control.is_capped and not model.bounded and model.name not in self._excess:
            with self._first_call:
                if model.name not in self._excess:
                    yield
                    return
        yield

    def _with_retries(self, request: Request) -> Replies:
        model = request.model
        retrying = tenacity.Retrying(
            stop=tenacity.stop_after_attempt(self._settings.call_attempts),
            wait=_seconds_to_wait,
            retry=tenacity.retry_if_exception(_is_transient),
            before_sleep=lambda state: self._emit_retry(model, state),
            sleep=self._control.wait,
            reraise=True,
        )
        try:
            return retrying(self._call, request)
        except (exceptions.LMAuthError, exceptions.LMNotConfiguredError) as error:
            raise ModelAuthError(
                f"{model.where} refuses the key for {model.name}: set the provider's key variable "
                "(such as OPENAI_API_KEY) or name yours with --api-key-env"
            ) from error
        except exceptions.LMError as error:
            self._control.seconds_left()
            why = f"{_reason_of(model, error)}{_remedy_for(error)}"
            raise ModelError(f"{model.name} at {model.where} failed: {why}") from error

    def _call(self, request: Request) -> Replies:
        model = request.model
        excess, expected = self._excess.get(model.name, 0), (request.tokens_in, request.token_limit)
        self._note_large(model, sum(expected) + excess)
        name = "" if model.bounded else f"{model.name} at {model.where}"
        with self._control.reserve(
            request.role, model.where, model.price, *expected, excess=excess, model=name
        ) as used:
            without = self._refusals.known(request)
            while True:
                self._control.check()
                self._journal.check()
                seconds_left = self._control.seconds_left()
                start = time.monotonic()
                answer = Answer()
                try:
                    reply = _send(adapt(request, without), seconds_left, answer)
                    break
                except exceptions.LMError as error:
                    if error.code != WEB_PAGE and (
                        answer.status == HTTPStatus.OK or _is_read_timeout(error)
                    ):  # it is billed
                        unread = Reply([], {"completion_tokens": answer.tokens}, request.tokens_in)
                        self._record(request, unread, time.monotonic() - start, without, used)
                    part = self._refusals.part_to_leave_out(request, without, error, answer.text)
                    if part is None:
                        raise
                    without |= {part}
            self._refusals.keep(request, without)
            record = self._record(request, reply, time.monotonic() - start, without, used)
            return Replies(reply.outputs, request.key, record)

    def _note_large(self, model: Model, tokens: int) -> None:
        """Note once that calls may be larger than what is allowed per minute."""
        per_minute = self._settings.tokens_per_minute
        if per_minute is not None and tokens > per_minute and not self._noted_large:
            self._noted_large = True
            self._events.noted(
                f"a call of {model.name} may take {tokens:,} tokens, more than the {per_minute:,} of "
                "--tokens-per-minute: such calls are made one a minute"
            )

    def _record(
        self, request: Request, reply: Reply, seconds: float, without: Collection[str], used: Spending
    ) -> Mapping[str, Any]:
        """Journal a reply with its usage, and report it; ``without``: parts of the request that the model refuses."""
        model = request.model
        names = self._events.stage, request.role, model.name
        call = CallFinished(*names, *reply.tokens, round(seconds, 3), reply.dollars(model), reply.estimated)
        used.tokens = call.tokens_in + call.tokens_out
        used.dollars += call.cost or 0.0
        record: dict[str, Any] = {"texts": reply.texts, "role": request.role, "model": model.name, "call": asdict(call)}
        record |= {"cut": True} if reply.cut else {}
        record |= {"without": sorted(without)} if without else {}
        self._journal.add(
            "reply" if reply.outputs else UNREAD, request.key, record
        )  # first: a reported call must be on record
        self._events.emit(call)
        if not reply.outputs:  # its size says nothing of other replies
            return record
        with self._excess_lock:
            used.excess = max(0, call.tokens_out - request.token_limit)
            self._excess[model.name] = max(used.excess, self._excess.get(model.name, 0))
        return record

    def _emit_retry(self, model: Model, state: tenacity.RetryCallState) -> None:
        error = state.outcome.exception() if state.outcome else None
        wait = state.next_action.sleep if state.next_action else 0.0
        self._events.emit(Retried(self._events.stage, model.name, _reason_of(model, error), round(wait, 2)))


class RunLM(dspy.BaseLM):
    """A role's model for DSPy: calls of any program, module or optimiser go through the run's engine.

    ``token_limit``: expected maximum tokens of a reply; ``options``: default parameters of calls.
    """

    def __init__(self, engine: Engine, role: Role, served: Model, token_limit: int, options: Mapping[str, Any]) -> None:
        super().__init__(served.lm.model, served.lm.model_type, cache=False, num_retries=0)
        self.kwargs = dict(served.lm.kwargs)
        self.received: list[Replies] = []
        self._engine = engine
        self._role = role
        self.served = served
        self._token_limit = token_limit
        self._options = options

    def __call__(
        self, prompt: str | None = None, *, messages: list[dict[str, Any]] | None = None, **kwargs: Any
    ) -> list[Any]:
        """Return the replies, in the form of ``dspy.LM``; errors as :meth:`Engine.complete`."""
        defaults = self.served.lm.kwargs
        changed = {name: value for name, value in self.kwargs.items() if value != defaults.get(name)}  # of copies
        options = {**self._options, **changed, **kwargs}
        asked = messages or [{"role": "user", "content": prompt}]
        request = Request(self._role, self.served, asked, options, self._token_limit, current_scope())
        received = self._engine.complete(request)
        self.received.append(received)
        return received.outputs

    async def acall(self, *prompt: str, **kwargs: Any) -> list[Any]:
        """Call in a thread."""
        return await asyncio.to_thread(self, *prompt, **kwargs)

    def __deepcopy__(self, _: dict[int, Any]) -> "RunLM":
        copied: RunLM = self.copy()
        return copied


def _send(request: Request, seconds_left: float | None, answer: Answer) -> Reply:
    """Return the reply to a request, complete within the model's timeout and the run's; ``answer`` gets its text."""
    from storm_pipeline.models.transport import bounded_replies  # here, since httpx takes long to load

    lm = request.model.lm
    limits = [limit for limit in (request.model.timeout, seconds_left) if limit is not None]
    with dspy.track_usage() as tracker, bounded_replies(min(limits, default=math.inf), answer), call_log() as calls:
        ask = partial(lm, messages=request.messages, **request.options)
        outputs = run_within(min(limits), lambda: ask() or [""]) if limits else ask() or [""]
    if outputs is None:
        raise exceptions.LMTimeoutError("the reply was not complete in time", model=lm.model)
    usage = valid_counts(tracker.get_total_tokens().get(lm.model))
    return Reply([*map(with_text, outputs)], usage, request.tokens_in, any(is_cut(call["response"]) for call in calls))


def _is_transient(error: BaseException) -> bool:
    """Return whether a retry may succeed; also for a truncated response (HTTP 200, invalid JSON)."""
    cut_off = isinstance(error, exceptions.LMProviderError) and error.status == 200
    return isinstance(error, Exception) and (cut_off or exceptions.is_retryable_lm_error(error))


def _seconds_to_wait(state: tenacity.RetryCallState) -> float:
    """Return the server's Retry-After, else exponential backoff with jitter; at most a minute."""
    error = state.outcome.exception() if state.outcome else None
    if retry_after := getattr(error, "retry_after", None):
        return min(float(retry_after), MINUTE)
    return tenacity.wait_random_exponential(0.5, max=30)(state)


def first_line(model: Model, error: BaseException | None) -> str:
    """Return the first line of an error's message without keys and passwords, or its class without a message."""
    key = str(model.connection("api_key") or "")
    return redact(formatting.first_line(getattr(error, "message", None) or error), key)


def _reason_of(model: Model, error: BaseException | None) -> str:
    """Return the reason of an error on one line; for a read timeout our own, since DSPy's message names its option."""
    if _is_read_timeout(error):
        return f"it timed out, no complete reply within {model.timeout:g} s" if model.timeout else "it timed out"
    return first_line(model, error)


def _is_read_timeout(error: BaseException | None) -> bool:
    """Return whether the client timed out; timeouts reported by the server have a status."""
    if isinstance(error, exceptions.LMTransportError):
        return any(phrase in error.message.lower() for phrase in ("read timeout", "read timed out"))
    return isinstance(error, exceptions.LMTimeoutError) and error.status is None


def _remedy_for(error: exceptions.LMError) -> str:
    """Return the remedy for an error, as the end of a sentence; empty if unknown."""
    if error.code == WEB_PAGE:
        return ": check --api-base, whose path is often /v1"
    if _is_read_timeout(error):
        return "; check that the endpoint runs, or raise --lm-timeout"
    return _REMEDIES.get(error.status, "")
