"""Translation of error responses into errors with a remedy."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urljoin, urlsplit

from storm_pipeline.errors import SearchError
from storm_pipeline.run.retrying import RETRIED_STATUSES, TransientError, retry_after_seconds

if TYPE_CHECKING:
    import requests

_QUERY_STATUSES = frozenset({400, 404, 413, 414, 422})
_REMEDIES = {
    400: "the query was rejected; report it if it looks valid",
    402: "the account has no credit left; top it up or choose another engine",
    404: "check the engine's address",
    429: "too many requests; lower the number of searches at once or wait",
}
_MAX_BYTES = 1 << 16


class QueryRefusedError(SearchError):
    """The service rejected a query; other queries may work."""


@dataclass(frozen=True)
class Refusal:
    """An error response identified by its text among others of the same status."""

    status: int  # HTTP status
    marker: str  # substring of the response text, in lower case
    remedy: str  # the remedy


def unknown_format(service: str, kind: str = "JSON") -> SearchError:
    """Return the error for a response without the expected fields."""
    return SearchError(
        f"{service} answered with {kind} in an unknown format; check the engine's address, "
        "and whether a proxy or login page intercepts requests"
    )


def refusal_error(
    service: str, response: "requests.Response", remedies: Mapping[int, str], known: Sequence[Refusal]
) -> SearchError:
    """Return the error for a response with a status other than 200: a TransientError if a retry may help.

    ``response``: its text is only read if needed to identify a refusal. ``remedies``: HTTP status → remedy, in addition
    to the general ones. ``known``: refusals identified by their text; the first match counts.
    """
    status = response.status_code
    if 300 <= status < 400:
        return _redirect_error(service, response)
    possible = [refusal for refusal in known if refusal.status == status]
    text = _text(response) if possible else ""
    refusal = next((refusal for refusal in possible if refusal.marker in text), None)
    transient = not refusal and status in RETRIED_STATUSES
    general = _REMEDIES.get(status, "try again later" if transient else "check the engine's address and key")
    message = f"{service} answered {status}: {refusal.remedy if refusal else remedies.get(status, general)}"
    if transient:
        return TransientError(message, retry_after_seconds(response.headers.get("Retry-After")))
    return (QueryRefusedError if status in _QUERY_STATUSES and not refusal else SearchError)(message)


def _redirect_error(service: str, response: "requests.Response") -> SearchError:
    target = urlsplit(urljoin(response.url, response.headers.get("Location", "")))
    return SearchError(
        f"{service} answered {response.status_code} and redirects to "
        f"{target.scheme}://{target.netloc.rpartition('@')[2]}{target.path}; "
        "set the engine's address to that if you trust it"
    )


def _text(response: "requests.Response") -> str:
    """Return the received beginning of a response's text in lower case."""
    import urllib3

    received = bytearray()
    with suppress(urllib3.exceptions.HTTPError, OSError):  # the status is enough
        while len(received) < _MAX_BYTES and (piece := response.raw.read1(_MAX_BYTES, decode_content=True)):
            received += piece
    return received.decode(errors="replace").casefold()
