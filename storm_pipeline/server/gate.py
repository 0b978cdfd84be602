"""Checks of every request before it reaches an application: its origin, its token, and the size of its body."""

import asyncio
import hmac
import json
from collections.abc import Awaitable, Callable, MutableMapping
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit

from storm_pipeline.errors import SettingsError

TOKEN_VARIABLE = "STORM_API_TOKEN"  # noqa: S105 - the name of a variable
_SHORTEST_TOKEN = 16
_BODY_SECONDS = 30.0
_MOST_REQUESTS = 100
_MOST_BYTES = 64 * 1024  # of a request's body
_MOST_BYTES_OF = {"/check": 16 * 1024 * 1024}  # an article comes with the texts of its sources
_LOCAL_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[MutableMapping[str, Any], Receive, Send], Awaitable[None]]


def checked_token(host: str, token: str) -> str:
    """The token that callers of a server on this address send, as ``Authorization: Bearer …``; empty: none is needed.

    Raises SettingsError: others can reach the address and there is no token, or the token is short.
    """
    if token and len(token) < _SHORTEST_TOKEN:
        raise SettingsError(
            f"{TOKEN_VARIABLE} has {len(token)} characters, which can be guessed: set at least {_SHORTEST_TOKEN}"
        )
    if not token and not is_loopback(host):
        raise SettingsError(
            f"others can reach {host}, so callers need a token: set {TOKEN_VARIABLE} to at least "
            f"{_SHORTEST_TOKEN} random characters, or listen on 127.0.0.1"
        )
    return token


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach an address; of all names, this holds for ``localhost`` alone."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


class Gate:
    """ASGI middleware that refuses callers without access, pages of other sites, and large or slow bodies.

    Without a token, a request must name this machine as its host and must not come from a page of another site, since a
    browser lets any page send requests to a local server.

    ``open_path``: path that needs no token, such as ``/health``.
    """

    def __init__(self, app: App, token: str, open_path: str = "") -> None:
        self._app = app
        self._token = token
        self._open_path = open_path
        self._under_way = 0

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
        if refused := self._refusal(scope["path"], headers):
            await _refuse(send, *refused)
            return
        most = _MOST_BYTES_OF.get(scope["path"], _MOST_BYTES)
        try:
            async with asyncio.timeout(_BODY_SECONDS):
                body = await _body(headers, receive, most)
        except TimeoutError:
            await _refuse(send, 408, f"the body did not arrive within {_BODY_SECONDS:g} seconds")
            return
        if body is None:
            await _refuse(send, 413, f"the body is larger than {most} bytes")
            return
        if self._under_way >= _MOST_REQUESTS:
            await _refuse(send, 503, f"{_MOST_REQUESTS} requests are under way: try again later")
            return
        self._under_way += 1
        try:
            await self._app(scope, _replayed(body, receive), send)
        finally:
            self._under_way -= 1

    def _refusal(self, path: str, headers: dict[str, str]) -> tuple[int, str] | None:
        if self._token:
            given = headers.get("authorization", "")
            wanted = f"Bearer {self._token}"
            is_right = hmac.compare_digest(given.encode("utf-8", "replace"), wanted.encode("utf-8", "replace"))
            return None if is_right or path == self._open_path else (401, "the token is missing or wrong")
        if _host(f"//{headers.get('host', '')}") not in _LOCAL_NAMES:
            return 403, "this server answers requests to localhost only"
        is_foreign = headers.get("sec-fetch-site") == "cross-site"  # a browser sends no origin with most GETs
        if _host(headers["origin"]) not in _LOCAL_NAMES if "origin" in headers else is_foreign:
            return 403, "pages of other sites may not call this server"
        return None


async def _body(headers: dict[str, str], receive: Receive, most: int) -> bytes | None:
    """The whole body; None if it has more bytes than ``most``."""
    announced = headers.get("content-length", "")
    if announced.isdigit() and int(announced) > most:
        return None
    body = b""
    while True:
        message = await receive()
        body += bytes(message.get("body", b""))
        if len(body) > most:
            return None
        if not message.get("more_body", False):
            return body


def _host(address: str) -> str:
    try:
        return (urlsplit(address).hostname or "").lower()
    except ValueError:
        return ""


def _replayed(body: bytes, receive: Receive) -> Receive:
    """A ``receive`` that returns the body that was read, then the client's further messages."""
    given = False

    async def next_message() -> Message:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return next_message


async def _refuse(send: Send, status: int, message: str) -> None:
    body = json.dumps({"error": message, "kind": "Refused"}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    headers += [(b"www-authenticate", b"Bearer")] if status == 401 else [(b"connection", b"close")]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
