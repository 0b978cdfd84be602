"""The HTTP client for all service APIs: size and time limits, retries, rate limit; never logs keys."""

import contextlib
import json
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from http.client import HTTPResponse
from http.cookiejar import DefaultCookiePolicy
from typing import Any, TypeVar
from urllib.parse import urlsplit

from storm_pipeline import __version__
from storm_pipeline.errors import SearchError, SettingsError
from storm_pipeline.run.retrying import MOST_VALUES, Patience, TransientError
from storm_pipeline.sources.documents.markup import parse_xml
from storm_pipeline.sources.transport.gates import Rate, gate
from storm_pipeline.sources.transport.refusals import Refusal, refusal_error

T = TypeVar("T")
Params = Mapping[str, Any]
"""Names and values: strings, numbers, or lists of strings, which repeat the name."""

SOON = 2.5
"""Seconds in which a reachable host answers; some firewalls drop packets without a reply."""
_HEADER_VALUE = re.compile(r"[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?")
_ADDRESS = "check the engine's address"
_FEWER = f"ask for fewer results or {_ADDRESS}"


def user_agent() -> str:
    """Return the User-Agent header of this package."""
    return f"storm-pipeline/{__version__} (research assistant; python-requests)"


class ApiClient:
    """Client of one service. Thread-safe; reuses connections, keeps no cookies.

    Follows no redirects, so that a key cannot reach another host; never puts a header or a parameter into an error
    message.

    Args:
        service: name of the service in errors, e.g. ``you.com``.
        rate: rate limits, shared by all clients of the process for this service and host.
        headers: sent with each request; may hold a key.
        remedies: HTTP status → remedy, in addition to the general ones.
        refusals: error responses identified by their text, not the status alone.

    Raises SettingsError: a header value is malformed (a line break in a key, for instance).
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
    ) -> None:
        import requests
        from requests.adapters import HTTPAdapter

        self._service, self._address = service, address
        self._label = f"{service} ({urlsplit(address).netloc.rpartition('@')[2]})"
        self._headers = {"User-Agent": user_agent()} | dict(headers or {})
        for name, value in self._headers.items():
            if not _HEADER_VALUE.fullmatch(value):
                raise SettingsError(
                    f"{service}: the value for {name} contains characters that a key cannot have; copy it again"
                )
        self._remedies, self._refusals = remedies or {}, refusals
        self._patience, self._max_bytes = patience or Patience(), max_bytes
        rate = rate or Rate()
        self._gate = gate(service, urlsplit(address).netloc, rate)
        self._session = requests.Session()
        self._session.cookies.set_policy(DefaultCookiePolicy(allowed_domains=[]))
        adapter = HTTPAdapter(pool_maxsize=rate.concurrent)
        _bound(adapter, self._patience.total + 1)  # the gate's time begins and ends earlier
        for scheme in ("http://", "https://"):
            self._session.mount(scheme, adapter)

    def get_json(self, params: Params, path: str = "") -> Any:
        """Return the parsed JSON response of a GET request with query parameters; ``path``: appended to the base URL.

        Raises SearchError: the request failed after retries; the message names service, status and remedy.
        """
        return self._request(self._json, "GET", path, params=params)

    def get_bytes(self, params: Params, path: str = "") -> bytes:
        """Return the body of the response to a GET request; otherwise as :meth:`get_json`."""
        return self._request(bytes, "GET", path, params=params)

    def get_xml(self, params: Params, path: str = "") -> Any:
        """Return the root of the XML response of a GET request; otherwise as :meth:`get_json`.

        Entities defined in the document are not expanded, and nothing external is loaded.
        """
        return self._request(self._xml, "GET", path, params=params)

    def post_json(self, body: Mapping[str, Any], path: str = "") -> Any:
        """Return the parsed JSON response of a POST request with a JSON body; otherwise as :meth:`get_json`."""
        return self._request(self._json, "POST", path, json=body)

    def post_form_json(self, form: Params, path: str = "") -> Any:
        """Return the parsed JSON response of a POST request with a form; otherwise as :meth:`get_json`.

        For services that take a key as a parameter: unlike a URL, a form is not logged.
        """
        return self._request(self._json, "POST", path, data=form)

    def post_form_xml(self, form: Params, path: str = "") -> Any:
        """Return the root of the XML response of a POST request with a form; otherwise as :meth:`get_xml`."""
        return self._request(self._xml, "POST", path, data=form)

    def _request(self, parse: Callable[[bytes], T], method: str, path: str, **content: Any) -> T:
        def attempt() -> T:
            with self._translated_errors():
                return parse(self._body(method, path, content))

        return self._gate.call(attempt, self._patience)

    def _body(self, method: str, path: str, content: Mapping[str, Any]) -> bytes:
        """Return the body of a response, from a request with ``content`` as parameters, form or JSON."""
        with self._session.request(
            method,
            self._address + path,
            **content,
            headers=self._headers,
            timeout=(self._patience.connect, self._patience.read),
            stream=True,
            allow_redirects=False,
        ) as response:
            if response.status_code != 200:
                error = refusal_error(self._service, response, self._remedies, self._refusals)
                if isinstance(error, TransientError) and error.retry_after:
                    self._gate.limiter.hold(min(error.retry_after, self._patience.longest_pause))
                raise error
            body: bytes = response.raw.read(self._max_bytes + 1, decode_content=True)
            if len(body) > self._max_bytes:
                raise self._unusable(f"more than {self._max_bytes:,} bytes", _FEWER)
            return body

    def _json(self, body: bytes) -> Any:
        if body.lstrip()[:1] == b"<":
            remedy = f"{_ADDRESS}, and whether a proxy or login page intercepts requests"
            raise self._unusable("a web page instead of JSON", remedy)
        if body.count(b"[") + body.count(b"{") > MOST_VALUES:  # each takes up to 30 times its text in memory
            raise self._unusable(f"more than {MOST_VALUES:,} lists and objects", _FEWER)
        try:
            return json.loads(body)
        except (ValueError, RecursionError) as error:
            if _is_cut_short(body, error):
                raise TransientError(f"{self._label} answered with JSON that is cut short; try again later") from error
            raise self._unusable("something that is not JSON") from error

    def _xml(self, body: bytes) -> Any:
        from lxml import etree

        try:
            return parse_xml(body)
        except etree.XMLSyntaxError as error:
            raise self._unusable("something that is not XML") from error

    def _unusable(self, what: str, remedy: str = _ADDRESS) -> SearchError:
        return SearchError(f"{self._service} answered with {what}; {remedy}")

    @contextlib.contextmanager
    def _translated_errors(self) -> Iterator[None]:
        """Translate the HTTP library's exceptions without their text, which may quote the request."""
        import requests
        import urllib3

        errors = requests.exceptions
        malformed = errors.InvalidURL, errors.InvalidSchema, errors.MissingSchema
        try:
            yield
        except (requests.Timeout, urllib3.exceptions.TimeoutError) as error:
            late = f"{self._label} did not answer in time; check the network or try again later"
            raise TransientError(late) from error
        except malformed as error:
            raise SearchError(f"{self._service}: its address is not a valid URL; correct it") from error
        except (requests.RequestException, urllib3.exceptions.HTTPError, OSError) as error:
            away = f"{self._label} could not be reached or closed the connection; check the network and the address"
            raise TransientError(away) from error


def _is_cut_short(body: bytes, error: Exception) -> bool:
    """Return whether a body is empty or truncated JSON, as after a dropped connection."""
    if not (text := body.strip()):
        return True
    at_the_end = isinstance(error, json.JSONDecodeError) and error.pos >= len(error.doc.rstrip())
    return isinstance(error, ValueError) and text[:1] in b"{[" and (at_the_end or text[-1:] not in b"}]")


def _bound(adapter: Any, seconds: float) -> None:
    """Let answers time out ``seconds`` after their requests, amid interim answers, headers and trailers too."""
    pool_of = adapter.get_connection_with_tls_context

    def answer(*args: Any, **options: Any) -> HTTPResponse:
        made, ends = HTTPResponse(*args, **options), time.monotonic() + seconds
        raw: Any = made.fp.raw
        read = raw.readinto

        def read_in_time(buffer: Any) -> Any:
            if time.monotonic() > ends:
                raise TimeoutError
            return read(buffer)

        raw.readinto = read_in_time
        return made

    def bounded_pool(*args: Any, **options: Any) -> Any:
        pool = pool_of(*args, **options)
        if "ConnectionCls" not in vars(pool):
            pool.ConnectionCls = type("Connection", (pool.ConnectionCls,), {"response_class": staticmethod(answer)})
        return pool

    adapter.get_connection_with_tls_context = bounded_pool
