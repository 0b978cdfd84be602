"""Checks of host, origin, token or session, and body of every request."""

import asyncio
import hmac
import json
import threading
from collections import defaultdict
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from contextvars import ContextVar
from functools import partial
from typing import Any
from urllib.parse import quote

from anyio.to_thread import current_default_thread_limiter as threads
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from storm_pipeline.errors import StormError
from storm_pipeline.interfaces.server.callers import CALLER, IS_KNOWN, OWNER, STRANGER, Caller, KnownTokens
from storm_pipeline.interfaces.server.documents import FILE_BYTES, SET_BYTES
from storm_pipeline.interfaces.server.errors import (
    BusyError,
    EncodingError,
    OverloadedError,
    SlowBodyError,
    TooLargeError,
)
from storm_pipeline.interfaces.server.places import Places, make_places
from storm_pipeline.interfaces.server.reach import Reach, is_own_page
from storm_pipeline.run.concurrency import is_unwanted, within_block
from storm_pipeline.sources.documents.isolated import read_for

_MOST_REQUESTS, _MOST_OF_ONE = 400, 64
"""Maximum concurrent requests, of all callers and of one."""
_MOST_LONG, _MOST_LONG_OF_ONE = 200, 32
"""Maximum event streams and uploads among them, which may take long."""
_MOST_BYTES = 64 * 1024  # of a request's body
LARGE_BYTES = 16 * 1024 * 1024  # an article with the texts of its sources
_MOST_BYTES_OF = {"/check": LARGE_BYTES, "/mcp": LARGE_BYTES}
_MOST_VALUES = 100_000  # of a JSON body: parsing a large one would block all others for half a minute
_STATUSES: dict[type[StormError], int] = {EncodingError: 400, SlowBodyError: 408, TooLargeError: 413}
_UPLOADS, _FORM = "/documents/", "/write"  # bodies of PUT below the first, and forms with files, are streamed
_SAFE = ("GET", "HEAD", "OPTIONS")
_ENTRY, _LOGIN = "/enter", "/login"  # the second takes the only body of strangers that is read
_LOGIN_BYTES, _LOGIN_SECONDS = 4096, 5.0
_BODY_SECONDS = 30.0  # for a whole body, or for each piece of a streamed one
_STREAM_SECONDS = 900.0  # for a whole streamed body


class Gate:
    """ASGI middleware that refuses unknown callers, pages of other sites, large or slow bodies, and too many requests.

    Args:
        token: the owner's; may be empty without named tokens.
        tokens: the named tokens of other callers.
        reach: names of the server, and its proxies.
        open_path: path that needs no token, such as ``/health``.
        of_session: as :meth:`Sessions.find`; browsers without a session are sent to ``/login``.
        open_pages: beginnings of the paths of pages that need no session.
        problem: renders the page of a refusal, from the request, its status and the reason.
    """

    def __init__(
        self,
        app: ASGIApp,
        token: str,
        tokens: KnownTokens,
        reach: Reach | None = None,
        *,
        open_path: str = "",
        of_session: Callable[..., Caller | None] | None = None,
        open_pages: tuple[str, ...] = (),
        problem: Callable[[Any, int, str], Any] | None = None,
    ) -> None:
        self._app = app
        self._token, self._tokens = token.encode(), tokens
        self._reach = reach or Reach()
        self._open_path, self._open_pages = open_path, open_pages
        self._of_session, self._problem = of_session, problem
        self._all = Places("requests", _MOST_REQUESTS, _MOST_OF_ONE)
        self._strangers = make_places("requests without a token", _MOST_OF_ONE)  # by address
        self._long = Places("streams and uploads", _MOST_LONG, _MOST_LONG_OF_ONE)
        self._large = make_places("large requests", 16)  # their bodies are held in memory

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Forward or refuse a request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        is_entry = (scope["method"], scope["path"]) == ("GET", _ENTRY)  # a file of `storm web` leads there
        origin = {**headers, "sec-fetch-site": "none"} if is_entry else headers
        if reason := self._reach.refusal(origin, scope.get("server")):
            await self._refuse(scope, send, 403, reason)
            return
        authorization, cookies, in_session = headers.get("authorization", ""), headers.get("cookie", ""), None
        caller = self._caller(authorization)
        if "authorization" not in headers or (caller == OWNER and not self._token):  # it is not a token
            in_session = self._of_session and self._of_session(scope, cookies)
            is_own = is_own_page(headers)
            if scope["method"] not in _SAFE and (is_own is False or (in_session and not is_own)):
                await self._refuse(scope, send, 403, "only pages of this server may change something in a session")
                return
            caller = in_session or caller
        of_session = self._of_session if in_session else None
        look = partial(of_session, scope, cookies, is_use=False) if of_session else partial(self._caller, authorization)
        if caller is None and scope["path"] != self._open_path and not scope["path"].startswith(self._open_pages):
            if self._of_session and "text/html" in headers.get("accept", ""):
                await _redirect_to_login(scope, send)
            else:
                await self._refuse(scope, send, 401, "the token is missing or wrong")
            return
        if scope["path"] == self._open_path:  # answered at once without reading its body
            await self._pass(scope, {}, _nothing, send, caller)
            return
        address = str((scope.get("client") or ("",))[0]) or "unknown"
        is_owner = caller == OWNER and bool(self._token)  # else any user of this machine
        client = "/owner" if is_owner else (caller.name if caller else "") or address  # no token has such a name
        with ExitStack() as held:
            held.callback(IS_KNOWN.reset, IS_KNOWN.set(lambda: look() == caller))
            try:
                for places in self._places(scope, headers) if caller else (self._strangers,):
                    held.enter_context(places.hold(client))
            except BusyError as error:
                await self._refuse(scope, send, 503 if isinstance(error, OverloadedError) else 429, str(error))
            else:
                has_body = caller or (scope["method"], scope["path"]) == ("POST", _LOGIN)
                await self._pass(scope, headers, receive if has_body else _nothing, send, caller or STRANGER)

    def _places(self, scope: Scope, headers: Mapping[str, str]) -> tuple[Places, ...]:
        """Return the kinds of places that a request needs."""
        path, method, is_upload = scope["path"], scope["method"], _is_upload(scope, headers)
        is_form = is_upload and path == _FORM
        size = announced_size(headers)
        is_large = is_form or (method == "POST" and path in _MOST_BYTES_OF and (size is None or size > _MOST_BYTES))
        long = [self._long] if is_upload or _is_stream(scope) else []
        return (self._all, *long, *([self._large] if is_large else []))

    async def _pass(
        self, scope: Scope, headers: Mapping[str, str], receive: Receive, send: Send, caller: Caller | None
    ) -> None:
        path = scope["path"]
        try:
            if _is_upload(scope, headers):
                body = limit_body(headers, receive, SET_BYTES + _MOST_BYTES if path == _FORM else FILE_BYTES)
            elif path == _LOGIN:
                body = await read_body(headers, receive, _LOGIN_BYTES, seconds=_LOGIN_SECONDS)
            else:
                most = _MOST_BYTES_OF.get(path, _MOST_BYTES)
                body = await read_body(headers, receive, most, _of_few_values if most > _MOST_BYTES else None)
        except (EncodingError, SlowBodyError, TooLargeError) as error:
            await self._refuse(scope, send, _STATUSES[type(error)], str(error))
            return
        gone = threading.Event()
        with ExitStack() as held:
            if caller:
                held.enter_context(within_block(CALLER, caller))
            held.enter_context(within_block(read_for, caller.name if caller else ""))
            held.enter_context(within_block(is_unwanted, gone.is_set))
            if path in _MOST_BYTES_OF:
                held.callback(asyncio.ensure_future(_set_when_gone(gone, receive)).cancel)
            held.callback(gone.set)
            await self._app(scope, body, send)

    def _caller(self, authorization: str) -> Caller | None:
        """Return the caller of an authorization header; None if invalid."""
        scheme, _, given = authorization.partition(" ")
        sent = given.strip().encode("utf-8", "replace") if scheme.lower() == "bearer" else b""
        if self._token and hmac.compare_digest(sent, self._token):
            return OWNER
        token = self._tokens.find(sent.decode())
        return OWNER if token is None and not self._token and not self._tokens.required else token

    async def _refuse(self, scope: Scope, send: Send, status: int, message: str) -> None:
        answer: Response = JSONResponse({"error": message, "kind": "Refused"}, status)
        if self._problem and "text/html" in (request := Request(scope)).headers.get("accept", ""):
            answer = self._problem(request, status, message)
        answer.headers.update({"WWW-Authenticate": "Bearer"} if status == 401 else {"Connection": "close"})
        answer.headers.update({"Retry-After": "5"} if status in (429, 503) else {})
        await answer(scope, _nothing, send)


leave_turn: ContextVar[Callable[[], None]] = ContextVar("storm_leave_turn", default=lambda: None)
"""Gives the turn of the current request, which only waits from now on, to another one of its caller."""


class Turns:
    """ASGI middleware that lets a caller use a quarter of the server's threads; further requests wait for their turn.

    Strangers count as one caller, and have a turn until their answer is sent, which they may be slow to read. Streams
    and uploads hold no thread for long, and need no turn.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._turns = defaultdict[str, asyncio.Semaphore](lambda: asyncio.Semaphore(int(threads().total_tokens) // 4))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Forward a request in its turn."""
        caller = CALLER.get(None)
        if caller is None or scope["type"] != "http" or _is_stream(scope) or _is_upload(scope, Headers(scope=scope)):
            await self._app(scope, receive, send)
            return
        turn = self._turns[caller.name]
        await turn.acquire()
        with ExitStack() as held:
            held.callback(turn.release)
            leave_turn.set(held.close)

            async def answer(message: Message) -> None:
                if caller == STRANGER:
                    held.close()
                await send(message)

            await self._app(scope, receive, answer)


def _is_stream(scope: Scope) -> bool:
    path = str(scope["path"])
    return scope["method"] == "GET" and path.startswith("/runs/") and path.endswith("/events")


def _is_upload(scope: Scope, headers: Mapping[str, str]) -> bool:
    method, path = scope["method"], str(scope["path"])
    has_files = headers.get("content-type", "").lower().startswith("multipart/")
    return (method == "PUT" and path.startswith(_UPLOADS)) or (method == "POST" and path == _FORM and has_files)


async def _redirect_to_login(scope: Scope, send: Send) -> None:
    query = scope.get("query_string", b"").decode("latin-1")
    path = f"{scope['path']}?{query}" if query else scope["path"]
    following = f"?next={quote(path, safe='/')}" if scope["method"] == "GET" and path != "/" else ""
    await RedirectResponse(f"/login{following}", 303)(scope, _nothing, send)


async def _set_when_gone(gone: threading.Event, receive: Receive) -> None:
    """Set an event when the client goes away; its body has been read."""
    while (await receive())["type"] != "http.disconnect":
        pass
    gone.set()


async def _nothing() -> Message:
    return {"type": "http.disconnect"}


def announced_size(headers: Mapping[str, str]) -> int | None:
    """Return the announced size of a body in bytes; None if not announced."""
    size = headers.get("content-length", "")
    return int(size) if size.isascii() and size.isdigit() and len(size) < 20 else None


def _of_few_values(body: bytes) -> None:
    """Check the number of values in JSON. Raises TooLargeError, EncodingError: it is in UTF-16 or UTF-32."""
    if not json.detect_encoding(body).startswith("utf-8"):
        raise EncodingError("the body is not in UTF-8, as JSON has to be: encode it so")
    most = 4 * _MOST_VALUES + 1  # names and texts, with what is between them
    pieces = body.replace(rb"\\", b"").replace(rb"\"", b"").split(b'"', most)
    texts = (text for text in pieces[1::2] if text.lstrip()[:1] in (b"[", b"{", b"\\"))  # MCP parses such arguments
    count, *counts = (sum(map(part.count, (b",", b"[", b"{", b"\\"))) for part in (b"".join(pieces[::2]), *texts))
    if len(pieces) > most or max(10 * count, *counts, 0) > _MOST_VALUES:  # all are checked in the event loop
        raise TooLargeError(f"the body has more than {_MOST_VALUES // 10:,} values, or a text {_MOST_VALUES:,} values")


async def read_body(
    headers: Mapping[str, str],
    receive: Receive,
    most: int,
    check: Callable[[bytes], None] | None = None,
    seconds: float | None = None,
) -> Receive:
    """Read a body of at most ``most`` bytes; return a ``receive`` with it and the client's next messages.

    ``check``: runs on the body in a thread; ``seconds``: within which it has to arrive. Raises TooLargeError,
    SlowBodyError, and errors of ``check``.
    """
    limited, body, more = limit_body(headers, receive, most), bytearray(), True
    seconds = seconds or _BODY_SECONDS
    try:
        async with asyncio.timeout(seconds):
            while more:
                message = await limited()
                body += message.get("body", b"")  # in place, since there may be very many pieces
                more = message.get("more_body", False)
    except TimeoutError as error:
        raise SlowBodyError(f"the body did not arrive within {seconds:g} seconds") from error
    read: list[Message] = [{"type": "http.request", "body": bytes(body), "more_body": False}]
    if check:
        await asyncio.to_thread(check, read[0]["body"])

    async def next_message() -> Message:
        return read.pop() if read else await receive()

    return next_message


def limit_body(headers: Mapping[str, str], receive: Receive, max_bytes: int) -> Receive:
    """Return a ``receive`` that streams a body.

    It raises TooLargeError: more than ``max_bytes`` bytes; SlowBodyError: a piece or the whole takes too long.
    """
    clock = asyncio.get_running_loop().time
    announced, arrived, is_over, ends = announced_size(headers) or 0, 0, False, clock() + _STREAM_SECONDS
    too_large = f"the body is larger than {max_bytes:,} bytes"

    async def next_message() -> Message:
        nonlocal arrived, is_over
        if is_over:  # the client's messages after its body, without a time limit
            return await receive()
        if announced > max_bytes:
            raise TooLargeError(too_large)
        left = min(_BODY_SECONDS, ends - clock())
        try:
            async with asyncio.timeout(left):
                message = await receive()
        except TimeoutError as error:
            raise SlowBodyError(f"nothing of the body arrived within {left:g} seconds") from error
        arrived += len(message.get("body", b""))
        is_over = not message.get("more_body", False)
        if arrived > max_bytes:
            raise TooLargeError(too_large)
        return message

    return next_message
