"""Entrance for browsers: sessions by cookie, from a one-time address or a token, and the routes of the login."""

import hmac
import secrets
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import parse_qs

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from storm_pipeline.interfaces.server.callers import OWNER, Caller, KnownTokens, digest

OPEN_PAGES = ("/login", "/enter", "/static/")  # beginnings of the paths that need no session
_MOST, _MOST_OF_ONE = 1000, 20  # sessions, of all tokens and of one
_IDLE_SECONDS, _KEY_SECONDS = 12 * 3600.0, 600.0  # of a session without a request; of the one-time address
_USED = "this address was used, or is too old: start `storm web` again, at once if it was not you who used it"
_ONWARD = '<!doctype html><title>storm</title><meta http-equiv="refresh" content="0;url=/">'
Page = Callable[..., Response]
"""Function that renders a template: ``page(request, "login.html", status_code=401, error="…")``."""


class Sessions:
    """The sessions of browsers, in memory: hashes of random cookies, each of a token's caller. Thread-safe.

    A session ends with the process, when its token is revoked, after 12 hours without a request, or when 20 newer ones
    of its token, or 1,000 of all, were opened or used.
    ``token``: the owner's, empty if callers need none; ``key``: the one-time key of the owner's address, or empty.
    """

    def __init__(self, tokens: KnownTokens, token: str = "", key: str = "") -> None:
        self._tokens = tokens
        self._owner = digest(token) if token else ""
        self._key, self._key_ends = (digest(key) if key else ""), time.monotonic() + _KEY_SECONDS
        self._open = OrderedDict[str, tuple[str, float]]()  # hash of a cookie → that of its token, last use
        self._lock = threading.Lock()

    def enter(self, key: str) -> str | None:
        """Return the cookie of a new session of the owner for the one-time key; None: it is wrong, used or too old."""
        with self._lock:
            is_right = bool(self._key) and hmac.compare_digest(digest(key), self._key)
            if not is_right or time.monotonic() > self._key_ends:
                return None
            self._key = ""
        return self._new(self._owner)

    def log_in(self, token: str) -> str | None:
        """Return the cookie of a new session for a token; None if the token is wrong."""
        return self._new(digest(token)) if token and self._caller_of(digest(token)) else None

    def find(self, scope: Mapping[str, Any], cookies: str, *, is_use: bool = True) -> Caller | None:
        """Return the caller of the session in a request's ``Cookie`` header; others as for :meth:`caller`."""
        pairs = dict(part.strip().partition("=")[::2] for part in cookies.split(";"))
        return self.caller(pairs.get(cookie_name(scope), ""), is_use=is_use)

    def caller(self, cookie: str, *, is_use: bool = True) -> Caller | None:
        """Return the caller of a session; None if there is no such session. ``is_use``: whether it lasts for it."""
        if not cookie:
            return None
        name, now = digest(cookie), time.monotonic()
        with self._lock:
            token, used = self._open.get(name, ("", 0.0))
            if name not in self._open or now - used > _IDLE_SECONDS:
                self._open.pop(name, None)
                return None
            if is_use:
                self._open[name] = token, now
                self._open.move_to_end(name)
        return self._caller_of(token)

    def end(self, cookie: str) -> None:
        """End a session; no effect if there is none."""
        with self._lock:
            self._open.pop(digest(cookie), None)

    def _new(self, token: str) -> str:
        cookie = secrets.token_urlsafe(32)
        with self._lock:
            same = [name for name, (other, _) in self._open.items() if other == token]
            if len(same) >= _MOST_OF_ONE or len(self._open) >= _MOST:
                del self._open[same[0] if len(same) >= _MOST_OF_ONE else next(iter(self._open))]
            self._open[digest(cookie)] = token, time.monotonic()
        return cookie

    def _caller_of(self, token: str) -> Caller | None:
        return OWNER if hmac.compare_digest(token, self._owner) else self._tokens.by_digest(token)


def cookie_name(scope: Mapping[str, Any]) -> str:
    """Return the name of the session's cookie: with the server's port, since browsers share cookies between ports."""
    return f"storm-{(scope.get('server') or ('', 0))[1]}"


def entrance(sessions: Sessions, page: Page) -> APIRouter:
    """Return the routes of the login; its form sends ``token`` to its own address, whose ``next`` is where to go."""
    router = APIRouter(include_in_schema=False)

    @router.get("/enter")
    def enter(request: Request, key: str = "") -> Response:
        """Open a session by the one-time key."""
        if cookie := sessions.enter(key):
            return _entered(request, cookie)
        if sessions.caller(request.cookies.get(cookie_name(request.scope), "")):
            return RedirectResponse("/", 303)
        return page(request, "login.html", status_code=401, error=_USED)

    @router.get("/login")
    def show_login(request: Request) -> Response:
        """Show the form."""
        return page(request, "login.html", status_code=200, error="")

    @router.post("/login")
    async def log_in(request: Request) -> Response:
        """Open a session by a token."""
        form = parse_qs((await request.body()).decode("utf-8", "replace"))
        if cookie := sessions.log_in(form.get("token", [""])[0].strip()):
            return _entered(request, cookie, _own_path(request.query_params.get("next", "")))
        return page(request, "login.html", status_code=401, error="the token is missing or wrong")

    @router.post("/logout")
    def log_out(request: Request) -> Response:
        """End the session."""
        name = cookie_name(request.scope)
        sessions.end(request.cookies.get(name, ""))
        answer = RedirectResponse("/login", 303)
        answer.delete_cookie(name)
        return answer

    return router


def _entered(request: Request, cookie: str, path: str = "/") -> Response:
    """Return an answer with the cookie; after a link from elsewhere a page, since a redirect would lead on without."""
    is_foreign = request.headers.get("sec-fetch-site") == "cross-site"
    answer = HTMLResponse(_ONWARD) if is_foreign else RedirectResponse(path, 303)
    is_secure = request.url.scheme == "https"
    answer.set_cookie(cookie_name(request.scope), cookie, httponly=True, samesite="strict", secure=is_secure, path="/")
    return answer


def _own_path(given: str) -> str:
    """Return a path of this server, never an address elsewhere."""
    is_path = given.startswith("/") and not given.startswith(("//", "/\\")) and given.isprintable()
    return given if is_path else "/"
