"""What a failed call means: whether to ask again, how long to wait, and what to tell people."""

import re
from http import HTTPStatus

import tenacity
from dspy.utils.exceptions import LMError, LMProviderError, LMTimeoutError, LMTransportError, is_retryable_lm_error

from storm_pipeline.models.model import Model

_LONGEST_WAIT = 60.0
_READ_TIMEOUT = re.compile(r"\bread timeout\b|\bread timed out\b", re.I)


def may_pass(error: BaseException) -> bool:
    """Whether asking again may help: also where a reply broke off on its way, so that its JSON has no end."""
    broken = isinstance(error, LMProviderError) and error.status == HTTPStatus.OK
    return isinstance(error, Exception) and (broken or is_retryable_lm_error(error))


def pause_after(state: tenacity.RetryCallState) -> float:
    """What the server asked for, else exponential with jitter; never longer than a minute."""
    error = state.outcome.exception() if state.outcome else None
    asked = getattr(error, "retry_after", None)
    return min(float(asked), _LONGEST_WAIT) if asked else tenacity.wait_random_exponential(0.5, max=30)(state)


def first_line(error: BaseException | None) -> str:
    """What an error says, or its kind where it says nothing."""
    text = getattr(error, "message", None) or str(error)
    return str(text).strip().splitlines()[0][:300] if str(text).strip() else type(error).__name__


def reason_of(model: Model, error: BaseException | None) -> str:
    """What went wrong, in one line; of a time-out of ours DSPy would name its own option."""
    if _is_silence(error):
        seconds = model.lm.kwargs.get("timeout")
        return f"it timed out, nothing came for {seconds:g} s" if seconds else "it timed out"
    return first_line(error)


def _is_silence(error: BaseException | None) -> bool:
    """Whether we gave up waiting, by whichever client; a server that says it ran out of time has a status."""
    if isinstance(error, LMTransportError):
        return bool(_READ_TIMEOUT.search(error.message))
    return isinstance(error, LMTimeoutError) and error.status is None


def remedy_for(error: LMError) -> str:
    """What the user can do about it, as the end of a sentence; empty where nothing is known."""
    status = error.status
    if _is_silence(error):
        return "; check that the endpoint runs, or let it take longer with --lm-timeout"
    if status is None:
        return "; check that the endpoint runs and that --api-base is its address"
    if status == 404:
        return "; check the model's name and that --api-base ends as the server wants it (often in /v1)"
    return "" if status != 429 else "; lower --workers or wait"
