"""Asking language models: a role → model table, retries, fresh samples, one bound on calls, and what each call used."""

import os
import re
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import dspy
import tenacity
from dspy.utils.exceptions import (
    AdapterParseError,
    LMAuthError,
    LMError,
    LMNotConfiguredError,
    is_retryable_lm_error,
)

from storm_pipeline.adapter import PromptAdapter
from storm_pipeline.assets import EMBEDDED_MODELS, Progress, fetch
from storm_pipeline.errors import ModelAuthError, ModelError, ReplyError, SettingsError
from storm_pipeline.events import CallFinished, Events, Retried
from storm_pipeline.programs import Program
from storm_pipeline.settings import ROLES, Role, Settings, is_embedded

_PAPER_SAMPLING = (1.0, 0.9)
_EMBEDDED_SAMPLING = (0.7, 0.8)
"""Temperature and top_p: the paper's (section 4.4), and what the embedded model's makers recommend for it."""
_EMBEDDED_TIMEOUT = 3600.0
"""Seconds without a byte: calls wait for a free slot, and on a slow machine for long; no server can be lost."""
_LONGEST_WAIT = 60.0
_REASONING = re.compile(r"(?:^|/)(?:o[1-9]\b|gpt-5)", re.I)  # take neither top_p nor another temperature


@dataclass(frozen=True)
class Model:
    """A language model, the adapter that speaks to it, and its name and place for people.

    ``bounded`` replies end where a program's ``ample`` says; others where the model or the settings do. A ``steady``
    model gives its likeliest reply to a program that asks for it, unless that did not parse.
    """

    lm: dspy.LM
    adapter: PromptAdapter
    name: str
    where: str
    bounded: bool = False
    steady: bool = False


class LanguageModels:
    """The models of a run by role, behind one bound on calls in flight.

    Args:
        table: a model for each role.
        events: told of every call and retry.
        workers: calls in flight at once, over all roles.
        attempts: tries of a call that fails for a passing reason (429, 5xx, time-out, lost connection).
        samples: fresh samples asked for when a reply does not parse.
        sleep: waits between tries; replaced in tests.
    """

    def __init__(
        self,
        table: dict[Role, Model],
        *,
        events: Events,
        workers: int = 8,
        attempts: int = 5,
        samples: int = 3,
        seed: int | None = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._table = table
        self._events = events
        self._slots = threading.BoundedSemaphore(workers)
        self._attempts = attempts
        self._samples = samples
        self._seed = seed
        self._sleep = sleep

    def ask(self, role: Role, program: Program, **inputs: Any) -> dspy.Prediction:
        """Run a program with the role's model.

        A reply that does not parse is asked for again with a fresh sample, as often as ``samples`` allows.

        Raises:
            ModelAuthError: the endpoint refuses the key.
            ModelError: the endpoint cannot be reached, refuses the request, or keeps failing.
            ReplyError: no sample had the form that was asked for.
        """
        model = self._table[role]
        reason = reply = ""
        for sample in range(self._samples):
            try:
                return self._with_retries(role, model, program, inputs, sample)
            except AdapterParseError as error:
                reason = f"the reply of {program.name} does not parse: {error.message}"
                reply = str(error.lm_response or "")
                self._events.emit(Retried(self._events.stage, model.name, reason, 0.0))
        raise ReplyError(f"{model.name} gave {self._samples} replies in the wrong form: {reason}", reply)

    def _with_retries(
        self, role: Role, model: Model, program: Program, inputs: dict[str, Any], sample: int
    ) -> dspy.Prediction:
        retrying = tenacity.Retrying(
            stop=tenacity.stop_after_attempt(self._attempts),
            wait=_wait,
            retry=tenacity.retry_if_exception(is_retryable_lm_error),
            before_sleep=lambda state: self._tell_retry(model, state),
            sleep=self._sleep,
            reraise=True,
        )
        try:
            return retrying(self._call, role, model, program, inputs, sample)
        except (LMAuthError, LMNotConfiguredError) as error:
            raise ModelAuthError(
                f"{model.where} refuses the key for {model.name}: set the provider's key variable "
                "(such as OPENAI_API_KEY) or name yours with --api-key-env"
            ) from error
        except LMError as error:
            raise ModelError(f"{model.name} at {model.where} failed: {_first_line(error)}{_remedy(error)}") from error

    def _call(self, role: Role, model: Model, program: Program, inputs: dict[str, Any], sample: int) -> dspy.Prediction:
        lm = model.lm.copy()  # own history, shared connections
        if model.bounded:
            lm.kwargs["max_tokens"] = min(program.ample, lm.kwargs.get("max_tokens") or program.ample)
        if model.steady and program.steady and not sample:
            lm.kwargs["temperature"] = 0.0
        if self._seed is not None:
            lm.kwargs["seed"] = self._seed + sample
        with self._slots:
            start = time.monotonic()
            try:
                with dspy.context(lm=lm, adapter=model.adapter):
                    return program(**inputs)
            finally:
                if lm.history:
                    self._tell_call(role, model, lm.history[-1], time.monotonic() - start)

    def _tell_call(self, role: Role, model: Model, entry: dict[str, Any], seconds: float) -> None:
        usage = entry.get("usage") or {}
        cached = (usage.get("prompt_tokens_details") or {}).get("cached_tokens") or 0
        self._events.emit(
            CallFinished(
                self._events.stage,
                role,
                model.name,
                tokens_in=usage.get("prompt_tokens") or 0,
                tokens_cached=cached,
                tokens_out=usage.get("completion_tokens") or 0,
                seconds=round(seconds, 3),
                cost=entry.get("cost"),
            )
        )

    def _tell_retry(self, model: Model, state: tenacity.RetryCallState) -> None:
        error = state.outcome.exception() if state.outcome else None
        wait = state.next_action.sleep if state.next_action else 0.0
        self._events.emit(Retried(self._events.stage, model.name, _first_line(error), round(wait, 2)))


def _wait(state: tenacity.RetryCallState) -> float:
    """What the server asked for, else exponential with jitter; never longer than a minute."""
    error = state.outcome.exception() if state.outcome else None
    asked = getattr(error, "retry_after", None)
    return min(float(asked), _LONGEST_WAIT) if asked else tenacity.wait_random_exponential(0.5, max=30)(state)


def _first_line(error: BaseException | None) -> str:
    text = getattr(error, "message", None) or str(error)
    return str(text).strip().splitlines()[0][:300] if str(text).strip() else type(error).__name__


def _remedy(error: LMError) -> str:
    status = error.status
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
    opened = {name: _open(name, settings, progress) for name in dict.fromkeys(settings.lm_of(role) for role in ROLES)}
    return {role: opened[settings.lm_of(role)] for role in ROLES}


def _open(name: str, settings: Settings, progress: Progress | None) -> Model:
    if is_embedded(name):
        return _open_embedded(name, settings, progress)
    model, _, base = name.partition("@")
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
    options.setdefault("max_tokens", settings.max_tokens)
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")  # prices come with the package, not from the network
    # DSPy's own cache and retries stay off: replies that do not parse would be cached, refusals retried
    return dspy.LM(model, cache=False, num_retries=0, **drawn, **options)


def _structured(lm: dspy.LM, settings: Settings) -> bool:
    if settings.structured != "auto":
        return settings.structured == "always"
    return bool(lm.supports_response_schema)
