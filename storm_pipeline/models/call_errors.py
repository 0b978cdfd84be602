"""What a failed call of a model says: whether to try again, when, why it failed, and what the user can do."""

from http import HTTPStatus

import tenacity
from dspy.utils.exceptions import (
    LMError,
    LMProviderError,
    LMTimeoutError,
    LMTransportError,
    is_retryable_lm_error,
)

from storm_pipeline.configuration.addresses import redacted
from storm_pipeline.models.model_objects import Model
from storm_pipeline.models.request import WEB_PAGE
from storm_pipeline.text import formatting

_MAX_WAIT = 60.0


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
        return any(told in error.message.lower() for told in ("read timeout", "read timed out"))
    return isinstance(error, LMTimeoutError) and error.status is None


def remedy_for(error: LMError) -> str:
    """What the user can do about it, as the end of a sentence; empty if unknown."""
    status = error.status
    if error.code == WEB_PAGE:
        return ": check --api-base, whose path is often /v1"
    if _is_read_timeout(error):
        return "; check that the endpoint runs, or raise --lm-timeout"
    if status is None:
        return "; check that the endpoint runs and that --api-base is its address"
    if status == 404:
        return "; check the model's name and the path of --api-base (often /v1)"
    if status == HTTPStatus.OK:
        return "; check that --api-base is the address of a model server"
    return "" if status != 429 else "; lower --workers or wait"
