"""One small HTTP client for every service with an API: bounded, retrying, polite, and discreet about keys."""

import contextlib
import json
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from http.cookiejar import DefaultCookiePolicy
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlsplit

from storm_pipeline.documents.markup import parse_xml
from storm_pipeline.errors import SearchError, SettingsError
from storm_pipeline.net.gates import Rate, gate
from storm_pipeline.net.refusals import Refusal, Refusals
from storm_pipeline.net.retrying import Patience, TransientError

if TYPE_CHECKING:
    import requests

T = TypeVar("T")
Params = Mapping[str, str | int | list[str]]

_HEADER_VALUE = re.compile(r"[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?")


def user_agent() -> str:
    """What this package calls itself to servers."""
    try:
        release = version("storm-pipeline")
    except PackageNotFoundError:  # run from a folder, not installed
        release = "0"
    return f"storm-pipeline/{release} (research assistant; python-requests)"


class ApiClient:
    """Asks one service. Thread-safe; keeps connections open between requests, keeps no cookies.

    Follows no redirect, so that a key can't be carried to another host; never puts a header or a parameter into a
    message.

    Args:
        service: the service's name as errors shall call it, e.g. ``you.com``.
        address: where it is asked; every request goes to this address or below it.
        rate: how much it may be asked; all clients of the process for this service at this host share it.
        headers: sent with each request; may hold a key.
        remedies: HTTP status → what to do about it, in addition to the general ones.
        refusals: refusals that only their text tells from others of the same status.
        patience: time limits.
        max_bytes: size that an answer may have, after decompression.
        sleep: waits between attempts for a number of seconds.

    Raises:
        SettingsError: a header's value cannot be sent (a line end in a key, for instance).
    """

    def __init__(
        self,
        service: str,
        address: str,
        *,
        rate: Rate | None = None,
        headers: Mapping[str, str] | None = None,
        remedies: Mapping[int, str] | None = None,
        refusals: Sequence[Refusal] = (),
        patience: Patience | None = None,
        max_bytes: int = 10_000_000,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._service = service
        self._address = address
        self._named = f"{service} ({urlsplit(address).netloc.rpartition('@')[2]})"
        self._headers = {"User-Agent": user_agent()} | dict(headers or {})
        for name, value in self._headers.items():
            if not _HEADER_VALUE.fullmatch(value):
                raise SettingsError(f"{service}: the value for {name} holds characters that no key has; copy it again")
        self._refusals = Refusals(service, remedies or {}, refusals)
        self._patience = patience or Patience()
        rate = rate or Rate()
        self._gate = gate(service, urlsplit(address).netloc, rate)
        self._max_bytes = max_bytes
        self._sleep = sleep
        self._session = _session(rate.concurrent)

    def get_json(self, params: Params, path: str = "") -> Any:
        """The parsed JSON that a GET request is answered with.

        Args:
            params: the query of the address; a list repeats its name.
            path: appended to the address.

        Raises:
            SearchError: it was not answered so, even after further attempts; names service, status and remedy.
        """
        return self._asked("GET", path, params, None, self._json)

    def post_json(self, body: Mapping[str, Any], path: str = "") -> Any:
        """The parsed JSON that a POST request with a JSON body is answered with; otherwise as :meth:`get_json`."""
        return self._asked("POST", path, {}, body, self._json)

    def post_form_json(self, form: Params, path: str = "") -> Any:
        """The parsed JSON that a POST request with a form is answered with; otherwise as :meth:`get_json`.

        For services that take a key as a parameter: unlike an address, a form stands in no log.
        """
        return self._asked("POST", path, form, None, self._json)

    def get_xml(self, params: Params, path: str = "") -> Any:
        """The root of the XML that a GET request is answered with; otherwise as :meth:`get_json`.

        Entities of the document's own are not expanded and nothing is loaded for it.
        """
        return self._asked("GET", path, params, None, self._xml)

    def post_form_xml(self, form: Params, path: str = "") -> Any:
        """The root of the XML that a POST request with a form is answered with; otherwise as :meth:`get_xml`."""
        return self._asked("POST", path, form, None, self._xml)

    def _asked(
        self, method: str, path: str, params: Params, body: Mapping[str, Any] | None, read: Callable[[bytes], T]
    ) -> T:
        def attempt() -> T:
            with self._plain_failures():
                # Waiting for one's turn does not count: a busy service is not a slow one.
                deadline = time.monotonic() + self._patience.total
                return read(self._body(method, path, params, body, deadline))

        return self._gate.passing(attempt, self._patience, sleep=self._sleep)

    def _body(self, method: str, path: str, params: Params, body: Mapping[str, Any] | None, deadline: float) -> bytes:
        with self._session.request(
            method,
            self._address + path,
            params=params if method == "GET" else None,
            data=params if method == "POST" else None,
            json=body,
            headers=self._headers,
            timeout=(self._patience.connect, self._patience.read),
            stream=True,
            allow_redirects=False,
        ) as response:
            if response.status_code != 200:
                raise self._refusal(response, deadline)
            received = bytearray()
            # read1 returns what has arrived, so a server that trickles cannot outlast the deadline.
            while piece := response.raw.read1(1 << 16, decode_content=True):
                received += piece
                if len(received) > self._max_bytes:
                    raise SearchError(
                        f"{self._service} answered with more than {self._max_bytes:,} bytes; "
                        "ask for fewer results or check the engine's address"
                    )
                if time.monotonic() > deadline:
                    raise SearchError(
                        f"{self._service} did not finish its answer within {self._patience.total:g} s; try again later"
                    )
            return bytes(received)

    def _refusal(self, response: "requests.Response", deadline: float) -> SearchError:
        error = self._refusals.error(response, deadline)
        if isinstance(error, TransientError) and error.retry_after:
            self._gate.limiter.hold(min(error.retry_after, self._patience.longest_pause))
        return error

    def _json(self, body: bytes) -> Any:
        if body.lstrip()[:1] == b"<":
            raise SearchError(
                f"{self._service} answered with a web page instead of JSON; check the engine's address, "
                "and whether something in between asks for a login"
            )
        try:
            return json.loads(body)
        except (ValueError, RecursionError) as error:
            if _is_cut_short(body, error):
                raise TransientError(f"{self._named} answered with JSON that is cut short; try again later") from error
            raise SearchError(
                f"{self._service} answered with something that is not JSON; check the engine's address"
            ) from error

    def _xml(self, body: bytes) -> Any:
        from lxml import etree

        try:
            return parse_xml(body)
        except etree.XMLSyntaxError as error:
            raise SearchError(
                f"{self._service} answered with something that is not XML; check the engine's address"
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
                f"{self._named} did not answer in time; check the network or try again later"
            ) from error
        except (
            requests.exceptions.InvalidURL,
            requests.exceptions.InvalidSchema,
            requests.exceptions.MissingSchema,
        ) as error:
            raise SearchError(f"{self._service}: its address is not a web address; correct it") from error
        except (requests.RequestException, urllib3.exceptions.HTTPError, OSError) as error:
            raise TransientError(
                f"{self._named} could not be reached or broke off ({type(error).__name__}); "
                "check the network and the address"
            ) from error


def _is_cut_short(body: bytes, error: Exception) -> bool:
    """Whether JSON began, or nothing did, and it does not end: somebody on the way gave up."""
    text = body.strip()
    if not text:
        return True
    at_the_end = isinstance(error, json.JSONDecodeError) and error.pos >= len(error.doc.rstrip())
    return isinstance(error, ValueError) and text[:1] in b"{[" and (at_the_end or text[-1:] not in b"}]")


def _session(connections: int) -> "requests.Session":
    import requests
    from requests.adapters import HTTPAdapter

    session = requests.Session()
    session.cookies.set_policy(DefaultCookiePolicy(allowed_domains=[]))
    for scheme in ("http://", "https://"):
        session.mount(scheme, HTTPAdapter(pool_maxsize=connections))
    return session
