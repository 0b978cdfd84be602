"""One small JSON-over-HTTP client for every engine: bounded, retrying, polite, and discreet about keys."""

import contextlib
import json
import re
import time
from collections.abc import Callable, Iterator, Mapping
from http.cookiejar import DefaultCookiePolicy
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin, urlsplit

from storm_pipeline.errors import SearchError, SettingsError
from storm_pipeline.search.transport.limiter import Limiter
from storm_pipeline.search.transport.retrying import (
    RETRIED_STATUSES,
    Patience,
    TransientError,
    retry_after_seconds,
    with_retries,
)

if TYPE_CHECKING:
    import requests

_HEADER_VALUE = re.compile(r"[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?")
_REMEDIES = {
    400: "the query was not understood; report it if it looks harmless",
    402: "the account has no credit left; top it up or choose another engine (`storm search` lists them)",
    404: "check the engine's address",
    429: "too many requests; lower the number of searches at once or wait",
}


def user_agent() -> str:
    """What this package calls itself to servers."""
    try:
        release = version("storm-pipeline")
    except PackageNotFoundError:  # run from a folder, not installed
        release = "0"
    return f"storm-pipeline/{release} (research assistant; python-requests)"


class JsonClient:
    """Asks one engine for JSON. Thread-safe; keeps connections open between requests, keeps no cookies.

    Follows no redirect, so that a key can't be carried to another host; never puts a header into a message.

    Args:
        engine: the engine's name as errors shall call it, e.g. ``you.com``.
        headers: sent with each request; may hold a key.
        remedies: HTTP status → what to do about it, in addition to the general ones.
        patience: time limits.
        limiter: shared by all requests of this client.
        max_bytes: size that an answer may have, after decompression.
        sleep: waits between attempts for a number of seconds.

    Raises:
        SettingsError: a header's value cannot be sent (a line end in a key, for instance).
    """

    def __init__(
        self,
        engine: str,
        *,
        headers: Mapping[str, str] | None = None,
        remedies: Mapping[int, str] | None = None,
        patience: Patience | None = None,
        limiter: Limiter | None = None,
        max_bytes: int = 10_000_000,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._engine = engine
        self._headers = {"User-Agent": user_agent(), "Accept": "application/json"} | dict(headers or {})
        for name, value in self._headers.items():
            if not _HEADER_VALUE.fullmatch(value):
                raise SettingsError(f"{engine}: the value for {name} holds characters that no key has; copy it again")
        self._remedies = _REMEDIES | dict(remedies or {})
        self._patience = patience or Patience()
        self._limiter = limiter or Limiter()
        self._max_bytes = max_bytes
        self._sleep = sleep
        self._session = _session()

    def get(self, url: str, params: Mapping[str, str | int]) -> Any:
        """The parsed JSON that ``url`` answers with.

        Raises:
            SearchError: it did not, even after further attempts; names the engine, the status and a remedy.
        """
        deadline = time.monotonic() + self._patience.total

        def attempt() -> Any:
            with self._limiter, self._plain_failures():
                return self._parsed(self._body(url, params, deadline))

        return with_retries(attempt, self._patience, sleep=self._sleep)

    def _body(self, url: str, params: Mapping[str, str | int], deadline: float) -> bytes:
        with self._session.get(
            url,
            params=dict(params),
            headers=self._headers,
            timeout=(self._patience.connect, self._patience.read),
            stream=True,
            allow_redirects=False,
        ) as response:
            if response.status_code != 200:
                raise self._refusal(response)
            body = bytearray()
            # read1 returns what has arrived, so a server that trickles cannot outlast the deadline.
            while piece := response.raw.read1(1 << 16, decode_content=True):
                body += piece
                if len(body) > self._max_bytes:
                    raise SearchError(
                        f"{self._engine} answered with more than {self._max_bytes:,} bytes; "
                        "ask for fewer results or check the engine's address"
                    )
                if time.monotonic() > deadline:
                    raise SearchError(
                        f"{self._engine} did not finish its answer within {self._patience.total:g} s; try again later"
                    )
            return bytes(body)

    def _refusal(self, response: "requests.Response") -> SearchError:
        status = response.status_code
        if 300 <= status < 400:
            target = urlsplit(urljoin(response.url, response.headers.get("Location", "")))
            return SearchError(
                f"{self._engine} answered {status} and points to "
                f"{target.scheme}://{target.netloc.rpartition('@')[2]}{target.path}; "
                "set the engine's address to that if you trust it"
            )
        transient = status in RETRIED_STATUSES
        remedy = self._remedies.get(status, "try again later" if transient else "check the engine's address and key")
        message = f"{self._engine} answered {status}: {remedy}"
        if transient:
            return TransientError(message, retry_after_seconds(response.headers.get("Retry-After")))
        return SearchError(message)

    def _parsed(self, body: bytes) -> Any:
        if body.lstrip()[:1] == b"<":
            raise SearchError(
                f"{self._engine} answered with a web page instead of JSON; check the engine's address, "
                "and whether something in between asks for a login"
            )
        try:
            return json.loads(body)
        except (ValueError, RecursionError) as error:
            raise SearchError(
                f"{self._engine} answered with something that is not JSON; check the engine's address"
            ) from error

    @contextlib.contextmanager
    def _plain_failures(self) -> Iterator[None]:
        """Turn what the HTTP library raises into our errors, without its text (it may quote the request)."""
        import requests
        import urllib3

        timeouts = (requests.Timeout, urllib3.exceptions.TimeoutError)
        try:
            yield
        except timeouts as error:
            raise TransientError(
                f"{self._engine} did not answer in time; check the network or try again later"
            ) from error
        except (
            requests.exceptions.InvalidURL,
            requests.exceptions.InvalidSchema,
            requests.exceptions.MissingSchema,
        ) as error:
            raise SearchError(f"{self._engine}: its address is not a web address; correct it") from error
        except (requests.RequestException, urllib3.exceptions.HTTPError, OSError) as error:
            raise TransientError(
                f"{self._engine} could not be reached or broke off ({type(error).__name__}); "
                "check the network and the address"
            ) from error


def _session() -> "requests.Session":
    import requests
    from requests.adapters import HTTPAdapter

    session = requests.Session()
    session.cookies.set_policy(DefaultCookiePolicy(allowed_domains=[]))
    for scheme in ("http://", "https://"):
        session.mount(scheme, HTTPAdapter(pool_maxsize=16))
    return session
