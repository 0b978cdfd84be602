"""Retries with exponential backoff, and a time limit for functions without one."""

import logging
from collections.abc import Callable
from concurrent.futures import TimeoutError as OutOfTime
from contextlib import AbstractContextManager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TypeVar

from storm_pipeline.errors import SearchError
from storm_pipeline.run.concurrency import in_own_thread, within_block

T = TypeVar("T")
_log = logging.getLogger(__name__)
MOST_VALUES = 200_000  # maximum lists and objects of a JSON answer; a hundred papers with references have 30,000
OnRetry = Callable[[str, float], None]
"""Called with the reason of a failed attempt, in a sentence, and the seconds until the next one."""
_listener: ContextVar[OnRetry | None] = ContextVar("storm_on_retry", default=None)
RETRIED_STATUSES = frozenset({408, 425, 429, 500, 502, 503, 504})
"""Statuses worth a retry; 400, 401, 402, 403, 404 and 422 are not."""


@dataclass(frozen=True)
class Patience:
    """Timeouts and retries of a search."""

    connect: float = 5.0  # seconds to wait for a connection
    read: float = 20.0  # seconds to wait for the next bytes of an answer
    # seconds for one search, including attempts and pauses; afterwards no attempt starts and reading stops
    total: float = 60.0
    attempts: int = 4  # maximum number of attempts, >= 1
    first_pause: float = 1.0  # seconds before the second attempt; doubles with each further one, with jitter
    longest_pause: float = 30.0  # maximum seconds of a pause, whatever ``Retry-After`` asks for


class TransientError(SearchError):
    """Error of an attempt that failed for a transient reason; a plain SearchError once retries are exhausted."""

    def __init__(self, message: str, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after  # seconds to wait, from ``Retry-After``; None if the server gave none


def report_retries(listener: OnRetry) -> AbstractContextManager[None]:
    """Report retries within the block to ``listener``, in this thread and in threads with a copy of its context."""
    return within_block(_listener, listener)


def with_retries(attempt: Callable[[], T], patience: Patience) -> T:
    """Call ``attempt`` until it succeeds, fails permanently, or attempts or time run out.

    Raises SearchError: the last failure, with the number of attempts if there were several.
    """
    import tenacity

    backoff = tenacity.wait_exponential_jitter(
        initial=patience.first_pause, max=patience.longest_pause, jitter=patience.first_pause
    )

    def failure(state: tenacity.RetryCallState) -> BaseException | None:
        return state.outcome.exception() if state.outcome else None

    def pause(state: tenacity.RetryCallState) -> float:
        return min(max(backoff(state), getattr(failure(state), "retry_after", None) or 0.0), patience.longest_pause)

    def report(state: tenacity.RetryCallState) -> None:
        error = failure(state)
        _log.info("%s; trying again in %.1f s", error, state.upcoming_sleep)
        if listener := _listener.get():
            listener(str(error), state.upcoming_sleep)

    retrying = tenacity.Retrying(
        retry=tenacity.retry_if_exception_type(TransientError),
        stop=tenacity.stop_after_attempt(patience.attempts) | tenacity.stop_before_delay(patience.total),
        wait=pause,
        before_sleep=report,
        reraise=True,
    )
    try:
        return retrying(attempt)
    except TransientError as error:
        attempts = retrying.statistics.get("attempt_number", 1)
        raise SearchError(f"{error} ({attempts} attempts)" if attempts > 1 else str(error)) from error


def retry_after_seconds(value: str | None) -> float | None:
    """Return the seconds to wait by a ``Retry-After`` header, >= 0; None if it is absent or malformed."""
    from urllib3 import Retry
    from urllib3.exceptions import InvalidHeader

    with suppress(InvalidHeader, ValueError, OverflowError):
        return float(Retry().parse_retry_after(value)) if value else None
    return None


def run_within(seconds: float, work: Callable[[], T]) -> T | None:
    """Return the result of ``work``; None if it takes longer: it continues in a daemon thread.

    Raises whatever ``work`` raises in time.
    """
    future = in_own_thread(work, "within")
    try:
        return future.result(seconds)
    except OutOfTime:
        if future.done():  # the error of ``work``
            raise
        return None
