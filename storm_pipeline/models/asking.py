"""Asking the models of a run: fresh samples, retries, one bound on calls, a record of each, and what it took."""

import threading
import time
from collections.abc import Callable
from typing import Any

import dspy
import tenacity
from dspy.utils.exceptions import AdapterParseError, LMAuthError, LMError, LMNotConfiguredError

from storm_pipeline.concurrency import process_slot
from storm_pipeline.control import RunControl, Spent
from storm_pipeline.errors import ModelAuthError, ModelError, ReplyError
from storm_pipeline.events import CallFinished, Events, Retried, Reused
from storm_pipeline.journal import Journal, current_place, fingerprint
from storm_pipeline.models.failures import first_line, may_pass, pause_after, reason_of, remedy_for
from storm_pipeline.models.model import Model
from storm_pipeline.prices import cost
from storm_pipeline.programs import Program
from storm_pipeline.settings import Role, Settings

_SAMPLING = ("temperature", "top_p", "max_tokens", "max_completion_tokens", "seed")
"""What of a request, beside its messages, decides about the reply."""
_CHARACTERS_A_TOKEN = 4


class LanguageModels:
    """The models of a run by role, behind one bound on calls in flight.

    Args:
        table: a model for each role.
        events: told of every call and retry.
        control: asked before every call.
        journal: holds the replies of earlier sessions of the run, and is told every new one.
        settings: bounds on calls in flight, tries and samples; seed and prices.
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
        """Models without a run: recorded where a journal is given, and ended by the caps of the settings alone."""
        control = RunControl(settings, Spent(), threading.Event())
        kept = journal or Journal(None)
        return cls(table, events=events or Events(), control=control, journal=kept, settings=settings)

    def ask(self, role: Role, program: Program, **inputs: Any) -> dspy.Prediction:
        """Run a program with the role's model.

        A reply that does not parse is asked for again with a fresh sample, as often as ``samples`` allows.

        Raises:
            ModelAuthError: the endpoint refuses the key.
            ModelError: the endpoint cannot be reached, refuses the request, or keeps failing.
            BudgetSpentError: a cap leaves no room for the call.
            ReplyError: no sample had the form that was asked for.
            StoppedError, TooManyFailuresError: the run is to end.
        """
        model = self._table[role]
        reason = reply = ""
        for sample in range(self._settings.samples):
            if sample:
                self._events.emit(Retried(self._events.stage, model.name, reason, 0.0))
            lm = self._sampler(model, program, sample)
            try:
                return self._bought(role, model, lm, program, inputs)
            except AdapterParseError as error:
                reason = f"the reply of {program.name} does not parse: {first_line(error)}"
                reply = str(error.lm_response or "")
        raise ReplyError(f"{model.name} gave {self._settings.samples} replies in the wrong form: {reason}", reply)

    def _sampler(self, model: Model, program: Program, sample: int) -> dspy.LM:
        """The model as it is asked for one sample: own history, shared connections."""
        lm = model.lm.copy()
        if model.bounded:
            lm.kwargs["max_tokens"] = min(program.ample, lm.kwargs.get("max_tokens") or program.ample)
        if model.steady and program.steady and not sample:
            lm.kwargs["temperature"] = 0.0
        if self._settings.seed is not None:
            lm.kwargs["seed"] = self._settings.seed + _of_place(current_place()) + sample
        return lm

    def _bought(
        self, role: Role, model: Model, lm: dspy.LM, program: Program, inputs: dict[str, Any]
    ) -> dspy.Prediction:
        """The prediction, from a reply that an earlier session bought, or from a new one, which is written down."""
        signature, demos = program.predict.signature, program.predict.demos
        messages = model.adapter.format(signature, demos, inputs)
        sampling = {name: lm.kwargs.get(name) for name in _SAMPLING}
        key = fingerprint(current_place(), model.name, model.adapter.structured, sampling, messages)
        known = self._journal.take("reply", key)
        try:
            if known is not None:
                self._events.emit(Reused(self._events.stage, "reply"))
                return dspy.Prediction(**model.adapter.parse(signature, known["text"]))
            size = sum(len(str(message["content"])) for message in messages) // _CHARACTERS_A_TOKEN
            with self._control.spending(role, model.price, size, program.ample):
                return self._with_retries(role, model, lm, key, lambda: program(**inputs))
        except AdapterParseError:
            self._journal.reject("reply", key)
            raise

    def _with_retries(
        self, role: Role, model: Model, lm: dspy.LM, key: str, call: Callable[[], dspy.Prediction]
    ) -> dspy.Prediction:
        retrying = tenacity.Retrying(
            stop=tenacity.stop_after_attempt(self._settings.attempts),
            wait=pause_after,
            retry=tenacity.retry_if_exception(may_pass),
            before_sleep=lambda state: self._tell_retry(model, state),
            sleep=self._control.wait,
            reraise=True,
        )
        try:
            return retrying(self._call, role, model, lm, key, call)
        except (LMAuthError, LMNotConfiguredError) as error:
            raise ModelAuthError(
                f"{model.where} refuses the key for {model.name}: set the provider's key variable "
                "(such as OPENAI_API_KEY) or name yours with --api-key-env"
            ) from error
        except LMError as error:
            told = f"{reason_of(model, error)}{remedy_for(error)}"
            raise ModelError(f"{model.name} at {model.where} failed: {told}") from error

    def _call(
        self, role: Role, model: Model, lm: dspy.LM, key: str, call: Callable[[], dspy.Prediction]
    ) -> dspy.Prediction:
        with self._slots, process_slot(model.where, self._settings.process_workers):
            self._control.check()
            start = time.monotonic()
            asked = len(lm.history)
            try:
                with dspy.context(lm=lm, adapter=model.adapter):
                    return call()
            finally:
                if len(lm.history) > asked:
                    self._tell_call(role, model, key, lm.history[-1], time.monotonic() - start)

    def _tell_call(self, role: Role, model: Model, key: str, entry: dict[str, Any], seconds: float) -> None:
        """Write the reply down, whatever it is worth, and tell what it took."""
        usage = entry.get("usage") or {}
        tokens_in, tokens_out = usage.get("prompt_tokens") or 0, usage.get("completion_tokens") or 0
        cached = (usage.get("prompt_tokens_details") or {}).get("cached_tokens") or 0
        self._events.emit(
            CallFinished(
                self._events.stage,
                role,
                model.name,
                tokens_in=tokens_in,
                tokens_cached=cached,
                tokens_out=tokens_out,
                seconds=round(seconds, 3),
                cost=cost(model.price, tokens_in, cached, tokens_out) if model.price and usage else None,
            )
        )
        self._journal.add("reply", key, {"text": _text(entry), "role": role, "model": model.name})

    def _tell_retry(self, model: Model, state: tenacity.RetryCallState) -> None:
        error = state.outcome.exception() if state.outcome else None
        wait = state.next_action.sleep if state.next_action else 0.0
        self._events.emit(Retried(self._events.stage, model.name, reason_of(model, error), round(wait, 2)))


def _of_place(place: str) -> int:
    """What is added to a seed, so that parts of a run that ask the very same thing are not answered with one voice."""
    return int(fingerprint(place)[:6], 16) if place else 0


def _text(entry: dict[str, Any]) -> str:
    """The reply of a history entry, without what a reasoning model thought."""
    first = (entry.get("outputs") or [""])[0]
    return str(first.get("text") or "" if isinstance(first, dict) else first)
