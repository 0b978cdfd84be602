"""Asking language models: a role → model table, retries, fresh samples, one bound on calls, and what each call used."""

import os
import re
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from http import HTTPStatus
from pathlib import Path
from typing import Any

import dspy
import tenacity
from dspy.utils.exceptions import (
    AdapterParseError,
    LMAuthError,
    LMError,
    LMNotConfiguredError,
    LMProviderError,
    LMTimeoutError,
    LMTransportError,
    is_retryable_lm_error,
)

from storm_pipeline.adapter import PromptAdapter
from storm_pipeline.assets import EMBEDDED_MODELS, Progress, fetch
from storm_pipeline.concurrency import process_slot
from storm_pipeline.control import RunControl, Spent
from storm_pipeline.errors import ModelAuthError, ModelError, ReplyError, SettingsError
from storm_pipeline.events import CallFinished, Events, Retried, Reused
from storm_pipeline.journal import Journal, current_place, fingerprint
from storm_pipeline.prices import Price, cost, full_name, own_prices, price_of
from storm_pipeline.programs import Program
from storm_pipeline.settings import ROLES, Role, Settings, is_embedded

_PAPER_SAMPLING = (1.0, 0.9)
_EMBEDDED_SAMPLING = (0.7, 0.8)
"""Temperature and top_p: the paper's (section 4.4), and what the embedded model's makers recommend for it."""
_EMBEDDED_TIMEOUT = 3600.0
"""Seconds without a byte: calls wait for a free slot, and on a slow machine for long; no server can be lost."""
_LONGEST_WAIT = 60.0
_SAMPLING = ("temperature", "top_p", "max_tokens", "max_completion_tokens", "seed")
"""What of a request, beside its messages, decides about the reply."""
_CHARACTERS_A_TOKEN = 4
_READ_TIMEOUT = re.compile(r"\bread timeout\b|\bread timed out\b", re.I)
_REASONING = re.compile(r"(?:^|/)(?:o[1-9]\b|gpt-5)", re.I)  # take neither top_p nor another temperature


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


class _DiscreetLM(dspy.LM):
    """Keeps its calls to itself: DSPy holds on to the last 10,000 prompts and replies of the whole process."""

    def update_history(self, entry: dict[str, Any]) -> None:
        """Remember a call here alone."""
        self.history.append(entry)


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
                reason = f"the reply of {program.name} does not parse: {_first_line(error)}"
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
            lm.kwargs["seed"] = self._settings.seed + sample
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
        if known is not None:
            self._events.emit(Reused(self._events.stage, "reply"))
            return dspy.Prediction(**model.adapter.parse(signature, known["text"]))
        size = sum(len(str(message["content"])) for message in messages) // _CHARACTERS_A_TOKEN
        with self._control.spending(role, model.price, size, program.ample):
            return self._with_retries(role, model, lm, key, lambda: program(**inputs))

    def _with_retries(
        self, role: Role, model: Model, lm: dspy.LM, key: str, call: Callable[[], dspy.Prediction]
    ) -> dspy.Prediction:
        retrying = tenacity.Retrying(
            stop=tenacity.stop_after_attempt(self._settings.attempts),
            wait=_wait,
            retry=tenacity.retry_if_exception(_may_pass),
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
            told = f"{_reason(model, error)}{_remedy(error)}"
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
        self._events.emit(Retried(self._events.stage, model.name, _reason(model, error), round(wait, 2)))


def _text(entry: dict[str, Any]) -> str:
    """The reply of a history entry, without what a reasoning model thought."""
    first = (entry.get("outputs") or [""])[0]
    return str(first.get("text") or "" if isinstance(first, dict) else first)


def _may_pass(error: BaseException) -> bool:
    """Whether asking again may help: also where a reply broke off on its way, so that its JSON has no end."""
    broken = isinstance(error, LMProviderError) and error.status == HTTPStatus.OK
    return isinstance(error, Exception) and (broken or is_retryable_lm_error(error))


def _wait(state: tenacity.RetryCallState) -> float:
    """What the server asked for, else exponential with jitter; never longer than a minute."""
    error = state.outcome.exception() if state.outcome else None
    asked = getattr(error, "retry_after", None)
    return min(float(asked), _LONGEST_WAIT) if asked else tenacity.wait_random_exponential(0.5, max=30)(state)


def _first_line(error: BaseException | None) -> str:
    text = getattr(error, "message", None) or str(error)
    return str(text).strip().splitlines()[0][:300] if str(text).strip() else type(error).__name__


def _reason(model: Model, error: BaseException | None) -> str:
    """What went wrong, in one line; of a time-out of ours DSPy would name its own option."""
    if _is_silence(error):
        return f"it timed out, nothing came for {model.lm.kwargs['timeout']:g} s"
    return _first_line(error)


def _is_silence(error: BaseException | None) -> bool:
    """Whether we gave up waiting, by whichever client; a server that says it ran out of time has a status."""
    if isinstance(error, LMTransportError):
        return bool(_READ_TIMEOUT.search(error.message))
    return isinstance(error, LMTimeoutError) and error.status is None


def _remedy(error: LMError) -> str:
    status = error.status
    if _is_silence(error):
        return "; check that the endpoint runs, or let it take longer with --lm-timeout"
    if status is None:
        return "; check that the endpoint runs and that --api-base is its address"
    if status == 404:
        return "; check the model's name and that --api-base ends as the server wants it (often in /v1)"
    return "" if status != 429 else "; lower --workers or wait"


def open_models(settings: Settings, progress: Progress | None = None) -> dict[Role, Model]:
    """Make the role → model table that the settings describe; starts the embedded model where one is named.

    Args:
        settings: names of models and endpoints, sampling, time-outs.
        progress: told ``(name, bytes done, bytes in all)`` while the embedded model is fetched.

    Raises:
        SettingsError: a name or a key variable is not usable.
        MissingExtraError, AssetError, ModelError: the embedded model cannot be started.
    """
    prices = own_prices(settings.prices)
    names = dict.fromkeys(settings.lm_of(role) for role in ROLES)
    opened = {
        name: replace(_open(name, settings, progress), price=price_of(full_name(name, settings), prices))
        for name in names
    }
    unpriced = [name for name, model in opened.items() if model.price is None]
    if settings.max_cost is not None and unpriced:
        raise SettingsError(
            f"a cap on dollars needs prices, and that of {unpriced[0]} is unknown: give it with "
            f"--price {unpriced[0].partition('@')[0]}=IN/OUT (dollars a million tokens), or cap tokens"
        )
    return {role: opened[settings.lm_of(role)] for role in ROLES}


def _open(name: str, settings: Settings, progress: Progress | None) -> Model:
    if is_embedded(name):
        return _open_embedded(name, settings, progress)
    model, *rest = re.split("@(?=https?://)", name, maxsplit=1)  # some models have an @ in their names
    base = rest[0] if rest else ""
    base = base or (settings.api_base or "" if name == settings.lm else "")
    if "/" not in model:
        raise SettingsError(f"{model!r} names no provider: write provider/model, such as openai/gpt-4o, or 'embedded'")
    options: dict[str, Any] = {"api_base": base} if base else {}
    if settings.api_key_env:
        key = os.environ.get(settings.api_key_env)
        if not key:
            raise SettingsError(
                f"the environment variable {settings.api_key_env} is not set: it should hold the key for {model}"
            )
        options["api_key"] = key
    elif base and not os.environ.get(f"{model.split('/')[0].upper()}_API_KEY"):
        options["api_key"] = "none"  # servers of one's own want no key, client libraries want one
    lm = _lm(model, settings, **options)
    return Model(lm, PromptAdapter(structured=_structured(lm, settings)), model, base or f"the provider of {model}")


def _open_embedded(name: str, settings: Settings, progress: Progress | None) -> Model:
    from storm_pipeline.local import require_runtime, shared_server

    if not name.startswith("gguf:") and name not in EMBEDDED_MODELS:
        raise SettingsError(f"there is no model {name!r}: choose one of {', '.join(EMBEDDED_MODELS)}, or gguf:PATH")
    require_runtime()  # before a download that could not be used
    asset = EMBEDDED_MODELS.get(name)
    path = fetch(asset, settings.cache, progress) if asset else Path(name.removeprefix("gguf:")).expanduser()
    server = shared_server(path)
    lm = _lm(
        f"openai/{server.model}",
        settings,
        api_base=server.url,
        api_key=server.key,
        sampling=_EMBEDDED_SAMPLING,
        timeout=_EMBEDDED_TIMEOUT,
    )
    adapter = PromptAdapter(structured=settings.structured != "never")
    steady = settings.temperature is None
    return Model(lm, adapter, server.model, "the embedded model", bounded=True, steady=steady)


def _lm(model: str, settings: Settings, sampling: tuple[float, float] = _PAPER_SAMPLING, **options: Any) -> dspy.LM:
    temperature, top_p = settings.temperature, settings.top_p
    options.setdefault("timeout", settings.lm_timeout)
    drawn = {
        "temperature": sampling[0] if temperature is None else temperature,
        "top_p": sampling[1] if top_p is None else top_p,
    }
    if _REASONING.search(model):
        drawn = {"temperature": 1.0}
    options.setdefault("max_tokens", settings.reply_tokens)
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")  # prices come with the package, not from the network
    # DSPy's own cache and retries stay off: replies that do not parse would be cached, refusals retried
    return _DiscreetLM(model, cache=False, num_retries=0, **drawn, **options)


def _structured(lm: dspy.LM, settings: Settings) -> bool:
    if settings.structured != "auto":
        return settings.structured == "always"
    return bool(lm.supports_response_schema)
