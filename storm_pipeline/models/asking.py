"""Calling the models of a run: resampling, retries, concurrency limits, and a journal of every call."""

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from typing import Any

import dspy
import tenacity
from dspy.utils.exceptions import AdapterParseError, LMAuthError, LMError, LMNotConfiguredError

from storm_pipeline.concurrency import process_slot
from storm_pipeline.errors import ModelAuthError, ModelError, ReplyError
from storm_pipeline.models.failures import first_line, is_transient, reason_of, remedy_for, seconds_to_wait
from storm_pipeline.models.hooks import Completions, Predictor, PredictorHook, RequestHook
from storm_pipeline.models.model import Model
from storm_pipeline.models.programs import Program
from storm_pipeline.models.request import Reply, Request, options_of
from storm_pipeline.models.windows import window_of
from storm_pipeline.run.events import CallFinished, Events, Retried, Reused
from storm_pipeline.run.journal import Journal, current_place
from storm_pipeline.run.limits import RunControl, Spent
from storm_pipeline.settings import Role, Settings
from storm_pipeline.text.fitting import fitted

_REPLY, _REVIEW = 1 / 8, 1 / 4
"""Share of a window kept free for a reply, and for a draft with the remarks on it and the reply to them, at most."""
_REPLIES_OF_A_REVIEW = 3

_Received = tuple[str, Mapping[str, Any]]
"""Journal key and record of a reply."""
Usable = Callable[[dspy.Prediction | str], bool]
"""Whether what a model replied serves: the values of its reply; or, where no sample parses, the text of the last."""


class LanguageModels:
    """The models of a run by role, with one limit on concurrent calls.

    Programs run unchanged, with DSPy's callbacks, traces and usage. Each of their calls is served from the journal if
    an earlier session made it; otherwise it is sent and journalled.

    Args:
        table: a model for each role.
        events: receives every call and retry.
        control: consulted before every call.
        journal: holds the replies of earlier sessions of the run; new replies are added.
        settings: limits on concurrent calls, attempts and samples; seed and prices.
    """

    def __init__(
        self,
        table: dict[Role, Model],
        *,
        events: Events,
        control: RunControl,
        journal: Journal,
        settings: Settings,
    ) -> None:
        self._table = table
        self._events = events
        self._control = control
        self._journal = journal
        self._settings = settings
        self._slots = threading.BoundedSemaphore(settings.calls_in_flight)

    @classmethod
    def outside_a_run(
        cls,
        table: dict[Role, Model],
        settings: Settings,
        events: Events | None = None,
        *,
        journal: Journal | None = None,
    ) -> "LanguageModels":
        """Models without a run: journalled if a journal is given, and limited by the caps of the settings only."""
        control = RunControl(settings, Spent(), threading.Event())
        journal = journal or Journal(None)
        return cls(table, events=events or Events(), control=control, journal=journal, settings=settings)

    def ask(self, role: Role, program: Program, usable: Usable | None = None, /, **inputs: Any) -> dspy.Prediction:
        """Run a program with the role's model, which serves all predictors of the program.

        Inputs that the model's context window has no room for are shortened, where the window is known, and that is
        recorded (:func:`storm_pipeline.text.fitting.fitted`). A reply that does not parse is sampled again, up to
        ``samples`` samples in all.

        The replies of a program that fails are rejected in the journal, so that a resumed run asks for others.

        Args:
            role: whose model is asked.
            program: what is asked.
            usable: positional; whether the values can be used; with False, the program has failed. It is also called
                with the last reply, as text, where no sample parses; with True, the replies are kept, and the caller
                reads them from the error.
            **inputs: input fields of the program.

        Raises:
            ModelAuthError: the endpoint refuses the key.
            ModelError: the endpoint cannot be reached, refuses the request, or keeps failing.
            BudgetSpentError: a cap leaves no room for a call.
            ReplyError: no sample had the requested form, or the values cannot be used.
            StoppedError, TooManyFailuresError: the run must end.
        """
        received: list[_Received] = []
        hook = PredictorHook(partial(self._predict, role, program, received))
        try:
            with dspy.context(lm=self._table[role].lm, adapter=hook):
                prediction = program(**self._fitted(role, program, inputs))
        except ReplyError as error:
            if not (usable and error.reply and usable(error.reply)):
                self._reject(received)
            raise
        if usable and not usable(prediction):
            self._reject(received)
            raise ReplyError(f"the reply of {self._table[role].name} to {program.name} cannot be used")
        return prediction

    def lm(self, role: Role, token_limit: int) -> dspy.BaseLM:
        """The role's model as DSPy's optimisers ask it, journalled and capped like every call.

        Args:
            role: whose model.
            token_limit: maximum tokens of a reply from a small model.
        """
        model = self._table[role]
        bounds = {"max_tokens": token_limit} if model.bounded else {}

        def send(messages: list[dict[str, Any]], options: dict[str, Any]) -> list[Any]:
            return self._outputs(
                Request(role, model, messages, {**options, **bounds}, token_limit, current_place()), []
            )

        return RequestHook(model.lm, send)

    def _reject(self, received: Sequence[_Received]) -> None:
        for key, record in received:
            self._journal.reject("reply", key, record)

    def window(self, role: Role) -> int | None:
        """Tokens of prompt and reply that the role's model holds; None where nobody knows."""
        return window_of(self._settings, role)

    def _fitted(self, role: Role, program: Program, inputs: dict[str, Any]) -> dict[str, Any]:
        """The inputs as far as the role's model can read them, with room for its reply, and for remarks on that."""
        window = self.window(role)
        if window is None:
            return inputs
        comes_back = "remarks" in inputs and not inputs["remarks"]
        replies = _REPLIES_OF_A_REVIEW if comes_back else 1
        reserve = min(replies * program.token_limit, int((_REVIEW if comes_back else _REPLY) * window))
        shorter = fitted(inputs, window - program.overhead - reserve)
        if shorter != inputs:
            self._events.degraded(
                f"{program.name} was shown less than there is: {self._table[role].name} reads {window:,} tokens at once"
            )
        return shorter

    def _predict(self, role: Role, program: Program, received: list[_Received], call: Predictor) -> Completions:
        """The values of a predictor's output fields, from the first sample that parses."""
        model = self._table[role]
        reason = reply = ""
        for sample in range(self._settings.samples):
            before = len(received)
            if sample:
                self._events.emit(Retried(self._events.stage, model.name, reason, 0.0))
            try:
                return self._sample(role, program, received, call, sample)
            except AdapterParseError as error:
                for key, _ in received[before:]:
                    self._journal.unparsed("reply", key)
                reason = f"the reply of {program.name} does not parse: {first_line(model, error)}"
                reply = str(error.lm_response or "")
        raise ReplyError(f"{model.name} gave {self._settings.samples} replies in the wrong form: {reason}", reply)

    def _sample(
        self, role: Role, program: Program, received: list[_Received], call: Predictor, sample: int
    ) -> Completions:
        model = self._table[role]
        options = options_of(model, program, sample, self._settings.seed)

        def send(messages: list[dict[str, Any]], call_options: dict[str, Any]) -> list[Any]:
            request = Request(role, model, messages, {**options, **call_options}, program.token_limit, current_place())
            return self._outputs(request, received)

        return call.through(model.adapter, RequestHook(model.lm, send))

    def _outputs(self, request: Request, received: list[_Received]) -> list[Any]:
        """The replies from the journal, or new ones, which are added to it."""
        recorded = self._journal.take("reply", request.key)
        if recorded is not None:
            received.append((request.key, recorded))
            self._events.emit(Reused(self._events.stage, "reply"))
            return list(recorded["texts"])
        with self._control.spending(request.role, request.model.price, request.tokens_in, request.token_limit):
            reply, record = self._with_retries(request)
        received.append((request.key, record))
        return reply.outputs

    def _with_retries(self, request: Request) -> tuple[Reply, Mapping[str, Any]]:
        """A reply and its record."""
        model = request.model
        retrying = tenacity.Retrying(
            stop=tenacity.stop_after_attempt(self._settings.attempts),
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

    def _call(self, request: Request) -> tuple[Reply, Mapping[str, Any]]:
        with self._slots, process_slot(request.model.where, self._settings.process_workers):
            self._control.check()
            seconds_left = self._control.seconds_left()
            start = time.monotonic()
            reply = request.send(seconds_left)
            seconds = time.monotonic() - start
        return reply, self._record(request, reply, seconds)

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
        record = {"texts": reply.texts, "role": request.role, "model": model.name, "call": asdict(call)}
        self._journal.add("reply", request.key, record)  # first: a call that was reported is on record
        self._events.emit(call)
        return record

    def _emit_retry(self, model: Model, state: tenacity.RetryCallState) -> None:
        error = state.outcome.exception() if state.outcome else None
        wait = state.next_action.sleep if state.next_action else 0.0
        self._events.emit(Retried(self._events.stage, model.name, reason_of(model, error), round(wait, 2)))
