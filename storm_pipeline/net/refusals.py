"""What a refusal means: from the status and the text of an answer to an error that says what to do."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urljoin, urlsplit

from storm_pipeline.errors import SearchError
from storm_pipeline.net.retrying import RETRIED_STATUSES, TransientError, retry_after_seconds

if TYPE_CHECKING:
    import requests

_QUERY_STATUSES = frozenset({400, 404, 413, 414, 422})
_REMEDIES = {
    400: "the query was not understood; report it if it looks harmless",
    402: "the account has no credit left; top it up or choose another engine (`storm search engines` lists them)",
    404: "check the engine's address",
    429: "too many requests; lower the number of searches at once or wait",
}
_MOST_BYTES = 1 << 16


class QueryRefusedError(SearchError):
    """The service works, but not for this query; says nothing about the next one."""


@dataclass(frozen=True)
class Refusal:
    """A refusal that its text tells from others of the same status.

    Attributes:
        status: HTTP status.
        sign: what the text holds, in lower case.
        remedy: what to do about it.
        passes: whether asking again may help.
    """

    status: int
    sign: str
    remedy: str
    passes: bool = False


def unknown_form(service: str) -> SearchError:
    """The error for an answer that is JSON, but not the service's."""
    return SearchError(
        f"{service} answered with JSON of an unknown form; check that base_url is that of its search service"
    )


class Refusals:
    """The refusals of one service.

    Args:
        service: the service's name for messages.
        remedies: HTTP status → what to do about it, in addition to the general ones.
        told_apart: refusals known by their text; the first that fits counts.
    """

    def __init__(self, service: str, remedies: Mapping[int, str], told_apart: Sequence[Refusal]) -> None:
        self._service = service
        self._remedies = _REMEDIES | dict(remedies)
        self._told_apart = told_apart

    def error(self, response: "requests.Response", deadline: float) -> SearchError:
        """The error for a response whose status is not 200: transient where asking again may help.

        Args:
            response: the response; its text is read where it tells refusals apart, until ``deadline``.
            deadline: in seconds of the monotonic clock.
        """
        status = response.status_code
        if 300 <= status < 400:
            return self._moved(response)
        if known := self._known(response, deadline):
            message = f"{self._service} answered {status}: {known.remedy}"
            return TransientError(message, _wait(response)) if known.passes else SearchError(message)
        transient = status in RETRIED_STATUSES
        remedy = self._remedies.get(status, "try again later" if transient else "check the engine's address and key")
        message = f"{self._service} answered {status}: {remedy}"
        if transient:
            return TransientError(message, _wait(response))
        return (QueryRefusedError if status in _QUERY_STATUSES else SearchError)(message)

    def _known(self, response: "requests.Response", deadline: float) -> Refusal | None:
        possible = [refusal for refusal in self._told_apart if refusal.status == response.status_code]
        text = _text(response, deadline) if possible else ""
        return next((refusal for refusal in possible if refusal.sign in text), None)

    def _moved(self, response: "requests.Response") -> SearchError:
        target = urlsplit(urljoin(response.url, response.headers.get("Location", "")))
        return SearchError(
            f"{self._service} answered {response.status_code} and points to "
            f"{target.scheme}://{target.netloc.rpartition('@')[2]}{target.path}; "
            "set the engine's address to that if you trust it"
        )


def _wait(response: "requests.Response") -> float | None:
    return retry_after_seconds(response.headers.get("Retry-After"))


def _text(response: "requests.Response", deadline: float) -> str:
    """The beginning of a response's text in lower case, as far as it arrives."""
    import urllib3

    received = bytearray()
    try:
        while len(received) < _MOST_BYTES and time.monotonic() < deadline:
            if not (piece := response.raw.read1(_MOST_BYTES, decode_content=True)):
                break
            received += piece
    except (urllib3.exceptions.HTTPError, OSError):
        pass  # the status says enough
    return received.decode(errors="replace").casefold()
