"""Checks of every request before it reaches an application: its host, origin and token, and the size of its body."""

import hmac
import json
from collections import Counter
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from storm_pipeline.errors import SettingsError
from storm_pipeline.server.bodies import Message, Receive, SlowBodyError, TooLargeError, bounded, whole
from storm_pipeline.server.callers import CALLER, OWNER, Caller, Tokens
from storm_pipeline.server.documents import FILE_BYTES
from storm_pipeline.server.reach import Reach, is_loopback

TOKEN_VARIABLE = "STORM_API_TOKEN"  # noqa: S105 - the name of a variable
_SHORTEST_TOKEN = 16
_MOST_REQUESTS, _MOST_OF_ONE = 400, 64
"""Requests that are under way at once, of all clients and of one."""
_MOST_BYTES = 64 * 1024  # of a request's body
_MOST_BYTES_OF = {
    "/check": 16 * 1024 * 1024,
    "/mcp": 16 * 1024 * 1024,
}  # an article comes with the texts of its sources
_UPLOADS = "/documents/"  # bodies of PUT below it are passed on as they come
Send = Callable[[Message], Awaitable[None]]
Scope = MutableMapping[str, Any]
App = Callable[[Scope, Receive, Send], Awaitable[None]]
Observer = Callable[[Scope, int], None]


def checked_token(host: str, token: str, tokens: Tokens | None = None) -> str:
    """Return the token of the owner of a server on this address; empty: none is needed.

    Raises SettingsError: others can reach the address or there are named tokens, and there is no token of the owner; or
    it is short.
    """
    if token and len(token) < _SHORTEST_TOKEN:
        raise SettingsError(
            f"{TOKEN_VARIABLE} has {len(token)} characters, which can be guessed: set at least {_SHORTEST_TOKEN}"
        )
    set_it = f"set {TOKEN_VARIABLE} to at least {_SHORTEST_TOKEN} random characters"
    if not token and not is_loopback(host):
        raise SettingsError(f"others can reach {host}, so callers need a token: {set_it}, or listen on 127.0.0.1")
    if tokens and tokens.all() and not token:
        raise SettingsError(f"there are named tokens, so you need one of your own: {set_it}")
    return token


class Gate:
    """ASGI middleware that refuses strangers, pages of other sites, large or slow bodies, and too many requests.

    Args:
        token: the owner's; empty if none is needed, as long as there are no named tokens.
        tokens: the named tokens of other callers.
        reach: names of the server, and its proxies.
        open_path: path that needs no token, such as ``/health``.
        observe: called after each request with its scope and its status.
    """

    def __init__(
        self,
        app: App,
        token: str,
        tokens: Tokens,
        reach: Reach | None = None,
        *,
        open_path: str = "",
        observe: Observer | None = None,
    ) -> None:
        self._app = app
        self._token = token.encode()
        self._tokens = tokens
        self._reach = reach or Reach()
        self._open_path = open_path
        self._observe = observe or (lambda *_: None)
        self._under_way: Counter[str] = Counter()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        status = 500

        async def noting(message: Message) -> None:
            nonlocal status
            status = message.get("status", status)
            await send(message)

        try:
            await self._admit(scope, receive, noting)
        finally:
            self._observe(scope, status)

    async def _admit(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
        if reason := self._reach.refusal(headers, scope.get("server")):
            await _refuse(send, 403, reason)
            return
        caller = self._caller(headers.get("authorization", ""))
        if caller is None and scope["path"] != self._open_path:
            await _refuse(send, 401, "the token is missing or wrong")
            return
        client = str((scope.get("client") or ("",))[0])
        if self._under_way[client] >= _MOST_OF_ONE:
            await _refuse(send, 429, f"{_MOST_OF_ONE} requests of yours are under way: end some, or try again later")
        elif self._under_way.total() >= _MOST_REQUESTS:
            await _refuse(send, 503, f"{_MOST_REQUESTS} requests are under way: try again later")
        else:
            self._under_way[client] += 1
            try:
                await self._pass(scope, headers, receive, send, caller)
            finally:
                self._under_way[client] -= 1
                self._under_way += Counter()  # forgets clients without a request

    async def _pass(
        self, scope: Scope, headers: dict[str, str], receive: Receive, send: Send, caller: Caller | None
    ) -> None:
        path = scope["path"]
        try:
            if scope["method"] == "PUT" and path.startswith(_UPLOADS):
                body = bounded(headers, receive, FILE_BYTES)
            else:
                body = await whole(headers, receive, _MOST_BYTES_OF.get(path, _MOST_BYTES))
        except (TooLargeError, SlowBodyError) as error:
            await _refuse(send, 413 if isinstance(error, TooLargeError) else 408, str(error))
            return
        if caller is None:
            await self._app(scope, body, send)
            return
        before = CALLER.set(caller)
        try:
            await self._app(scope, body, send)
        finally:
            CALLER.reset(before)

    def _caller(self, authorization: str) -> Caller | None:
        """Whoever sent a header; None if it is not the header of anybody."""
        scheme, _, given = authorization.partition(" ")
        sent = given.strip().encode("utf-8", "replace") if scheme.lower() == "bearer" else b""
        if self._token and hmac.compare_digest(sent, self._token):
            return OWNER
        found = self._tokens.find(sent.decode())
        return OWNER if found is None and not self._token and not self._tokens.required else found


async def _refuse(send: Send, status: int, message: str) -> None:
    body = json.dumps({"error": message, "kind": "Refused"}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    headers += [(b"www-authenticate", b"Bearer")] if status == 401 else [(b"connection", b"close")]
    headers += [(b"retry-after", b"5")] if status in (429, 503) else []
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
