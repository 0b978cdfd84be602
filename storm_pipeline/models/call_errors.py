"""What a failed call of a model says: whether and when to try again, why it failed, and what the user can do."""

from http import HTTPStatus

import tenacity
from dspy.utils.exceptions import LMError, LMProviderError, LMTimeoutError, LMTransportError, is_retryable_lm_error

from storm_pipeline.configuration.addresses import redacted
from storm_pipeline.models.model_objects import Model
from storm_pipeline.models.request import WEB_PAGE
from storm_pipeline.text import formatting

_MAX_WAIT = 60.0
_REMEDIES = {
    None: "; check that the endpoint runs and that --api-base is its address",
    200: "; check that --api-base is the address of a model server",
    404: "; check the model's name and the path of --api-base (often /v1)",
    429: "; lower --workers or wait",
}
"""Status of an answer, None without one → what the user can do."""


def is_transient(error: BaseException) -> bool:
    """Return whether a retry may succeed; a response body that was cut off (HTTP 200, invalid JSON) counts."""
    cut_off = isinstance(error, LMProviderError) and error.status == HTTPStatus.OK
    return isinstance(error, Exception) and (cut_off or is_retryable_lm_error(error))


def seconds_to_wait(state: tenacity.RetryCallState) -> float:
    """Return the server's Retry-After, else exponential backoff with jitter; at most a minute."""
    error = state.outcome.exception() if state.outcome else None
    if retry_after := getattr(error, "retry_after", None):
        return min(float(retry_after), _MAX_WAIT)
    return tenacity.wait_random_exponential(0.5, max=30)(state)


def first_line(model: Model, error: BaseException | None) -> str:
    """Return the first line of an error's message without keys and passwords, or its class without a message."""
    key = str(model.connection("api_key") or "")
    return redacted(formatting.first_line(getattr(error, "message", None) or error), key)


def reason_of(model: Model, error: BaseException | None) -> str:
    """Return what went wrong, in one line; a read timeout in our own words, since DSPy would name its own option."""
    if _is_read_timeout(error):
        return f"it timed out, no complete reply within {model.timeout:g} s" if model.timeout else "it timed out"
    return first_line(model, error)


def _is_read_timeout(error: BaseException | None) -> bool:
    """Return whether the client timed out; a timeout that the server reports has a status."""
    if isinstance(error, LMTransportError):
        return any(told in error.message.lower() for told in ("read timeout", "read timed out"))
    return isinstance(error, LMTimeoutError) and error.status is None


def remedy_for(error: LMError) -> str:
    """Return what the user can do about an error, as the end of a sentence; empty if unknown."""
    if error.code == WEB_PAGE:
        return ": check --api-base, whose path is often /v1"
    if _is_read_timeout(error):
        return "; check that the endpoint runs, or raise --lm-timeout"
    return _REMEDIES.get(error.status, "")
