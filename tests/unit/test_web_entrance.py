"""How browsers enter: one-time address, login, sessions by cookie, and what a page of another site may not do."""

import asyncio
import json
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from storm_pipeline.interfaces.server import gate
from storm_pipeline.interfaces.server.callers import CALLER, OWNER, Caller, Tokens
from storm_pipeline.interfaces.server.gate import Gate

pytest.importorskip("fastapi")

from fastapi import FastAPI, Request, Response

from storm_pipeline.interfaces.web.entrance import Sessions, entrance

TOKEN, KEY = "correct-horse-battery", "one-time-key"
SITE = "http://127.0.0.1:8765"
BROWSER = {"Accept": "text/html"}


def page(_: Any, template: str, status_code: int = 200, **values: str) -> Any:
    return Response(json.dumps({"template": template, **values}), status_code)


class Browser:
    """Asks an application as a browser would, with its cookies."""

    def __init__(self, sessions: Sessions, tokens: Tokens, token: str = TOKEN) -> None:
        app = FastAPI()
        app.router.routes += entrance(sessions, page).routes

        @app.api_route("/runs", methods=["GET", "POST"])
        def runs() -> str:
            return CALLER.get().name or "owner"

        @app.post("/write")
        async def write(request: Request) -> int:
            return len(await request.body())

        opened = ("/login", "/enter", "/shared/")
        self.gate = Gate(app, token, tokens, of_session=sessions.find, open_pages=opened)
        self.cookies = httpx.Cookies()

    def ask(self, method: str, path: str, headers: dict[str, str] | None = None, **request: Any) -> httpx.Response:
        async def send() -> httpx.Response:
            transport = httpx.ASGITransport(self.gate)
            async with httpx.AsyncClient(transport=transport, base_url=SITE, cookies=self.cookies) as client:
                answer = await client.request(method, path, headers=headers, **request)
                self.cookies = client.cookies
                return answer

        return asyncio.run(send())

    def get(self, path: str, **headers: str) -> httpx.Response:
        return self.ask("GET", path, BROWSER | headers)

    def post(self, path: str, data: dict[str, str] | None = None, origin: str = SITE) -> httpx.Response:
        return self.ask("POST", path, BROWSER | {"Origin": origin}, data=data or {})


@pytest.fixture
def tokens(tmp_path: Path) -> Tokens:
    return Tokens(tmp_path)


@pytest.fixture
def browser(tokens: Tokens) -> Browser:
    return Browser(Sessions(tokens, TOKEN, KEY), tokens)


def test_the_one_time_address_opens_a_session_once(browser: Browser, tokens: Tokens) -> None:
    entered = browser.get(f"/enter?key={KEY}")
    assert (entered.status_code, entered.headers["location"]) == (303, "/")
    cookie = entered.headers["set-cookie"]
    assert {"HttpOnly", "Path=/", "SameSite=strict"} <= {part.strip() for part in cookie.split(";")}
    assert cookie.startswith("storm-8765=")
    assert browser.get("/runs").json() == "owner"
    assert browser.get(f"/enter?key={KEY}").status_code == 303  # again in the same browser
    browser.cookies.clear()
    assert browser.get(f"/enter?key={KEY}").status_code == 401
    assert browser.get("/enter").status_code == 401


def test_a_file_leads_to_the_one_time_address(browser: Browser) -> None:
    foreign = {"Sec-Fetch-Site": "cross-site"}
    entered = browser.get(f"/enter?key={KEY}", **foreign)  # after a redirect a browser would not send the cookie
    assert (entered.status_code, "0;url=/" in entered.text) == (200, True)
    assert browser.get("/runs").json() == "owner"
    assert browser.get("/runs", **foreign).status_code == 403
    assert browser.get("/enter?key=x", Origin="https://evil.example").status_code == 403


def test_a_session_ends_when_it_is_not_used(tokens: Tokens, monkeypatch: pytest.MonkeyPatch) -> None:
    now = [1000.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    sessions = Sessions(tokens, TOKEN, KEY)
    cookie = sessions.log_in(TOKEN)
    assert cookie
    for _ in range(3):
        now[0] += 11 * 3600
        assert (sessions.caller(cookie), sessions.enter(KEY)) == (OWNER, None)  # the address was for ten minutes
    now[0] += 11 * 3600
    assert sessions.caller(cookie, is_use=False) == OWNER
    now[0] += 3601
    assert sessions.caller(cookie) is None


def test_sessions_of_a_token_end_no_others(tokens: Tokens) -> None:
    sessions, anna = Sessions(tokens, TOKEN), tokens.add("anna")
    owners, first = sessions.log_in(TOKEN), sessions.log_in(anna)
    assert owners
    assert first
    later = [sessions.log_in(anna) for _ in range(20)]
    assert sessions.caller(first) is None  # the oldest of too many
    assert all(sessions.caller(cookie or "") for cookie in (*later, owners))
    for token in [tokens.add(f"caller-{n}") for n in range(49)]:
        for _ in range(20):
            sessions.log_in(token)
    assert sessions.caller(owners)
    assert [cookie for cookie in later if not sessions.caller(cookie or "")] == later[:1]  # the oldest of 1,001


def test_without_a_session_a_browser_is_sent_to_the_login(browser: Browser) -> None:
    sent = browser.get("/runs?most=3")
    assert (sent.status_code, sent.headers["location"]) == (303, "/login?next=/runs%3Fmost%3D3")
    assert browser.ask("GET", "/runs").status_code == 401  # a program
    assert browser.get("/login").json() == {"template": "login.html", "error": ""}
    assert browser.post("/runs").headers["location"] == "/login"


def test_a_token_opens_a_session_until_it_is_revoked(browser: Browser, tokens: Tokens) -> None:
    anna = tokens.add("anna")
    wrong = browser.post("/login", {"token": "wrong"})
    assert (wrong.status_code, wrong.json()["error"]) == (401, "the token is missing or wrong")
    entered = browser.post("/login?next=/runs%3Fmost%3D3", {"token": f" {anna} "})
    assert (entered.status_code, entered.headers["location"]) == (303, "/runs?most=3")
    assert browser.get("/runs").json() == "anna"
    tokens.revoke("anna")
    tokens.add("anna")
    assert browser.get("/runs").status_code == 303


@pytest.mark.parametrize("path", ["//evil.example", "/\\evil.example", "https://evil.example", "/a%0d%0aX: y", ""])
def test_the_login_leads_nowhere_else(browser: Browser, path: str) -> None:
    entered = browser.ask("POST", f"/login?next={path}", {"Origin": SITE}, data={"token": TOKEN})
    assert entered.headers["location"] == "/"
    assert "x" not in entered.headers


def test_logging_out_ends_the_session(browser: Browser) -> None:
    browser.get(f"/enter?key={KEY}")
    cookies = dict(browser.cookies)
    assert browser.post("/logout").headers["location"] == "/login"
    browser.cookies = httpx.Cookies(cookies)
    assert browser.get("/runs").status_code == 303


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Origin": SITE}, 200),
        ({"Sec-Fetch-Site": "same-origin"}, 200),
        ({"Origin": SITE, "Sec-Fetch-Site": "same-origin"}, 200),
        ({}, 403),
        ({"Origin": "http://127.0.0.1:3000"}, 403),  # another program's page on this machine
        ({"Origin": "http://localhost:8765"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": "https://evil.example"}, 403),
        ({"Sec-Fetch-Site": "same-site"}, 403),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
        ({"Sec-Fetch-Site": "none"}, 403),
        ({"Origin": SITE, "Sec-Fetch-Site": "same-site"}, 403),
    ],
)
def test_in_a_session_only_pages_of_this_server_change_something(
    browser: Browser, headers: dict[str, str], status: int
) -> None:
    browser.get(f"/enter?key={KEY}")
    assert browser.ask("POST", "/runs", headers).status_code == status
    assert browser.ask("POST", "/runs", headers | {"Authorization": f"Bearer {TOKEN}"}).status_code == (
        403 if "evil" in str(headers) or "null" in str(headers) or "cross" in str(headers) else 200
    )


def test_without_any_token_a_page_of_another_port_changes_nothing(tokens: Tokens) -> None:
    open_to_all = Browser(Sessions(tokens), tokens, token="")
    assert open_to_all.ask("POST", "/runs").json() == "owner"  # a program of this machine
    assert open_to_all.post("/runs").status_code == 200
    assert open_to_all.post("/runs", origin="http://127.0.0.1:3000").status_code == 403
    other = {"Origin": "http://127.0.0.1:3000", "Authorization": "Basic eDp4"}  # which is no token
    assert open_to_all.ask("POST", "/runs", other).status_code == 403


def test_a_form_may_bring_files(browser: Browser) -> None:
    browser.get(f"/enter?key={KEY}")
    files = {"documents": ("a.txt", b"x" * 1_000_000)}
    answer = browser.ask("POST", "/write", {"Origin": SITE}, files=files)
    assert answer.status_code == 200
    assert answer.json() > 1_000_000
    assert browser.ask("POST", "/runs", {"Origin": SITE}, files=files).status_code == 413
    assert browser.ask("POST", "/write", {"Origin": SITE}, data={"topic": "x" * 100_000}).status_code == 413


async def sent_by(
    gate: Gate,
    receive: Callable[[], Awaitable[Any]],
    address: str,
    method: str = "POST",
    path: str = "/login",
    **headers: str,
) -> int:
    """Return the status of a request whose body comes from ``receive``."""
    named = [(name.encode(), value.encode()) for name, value in {"host": "127.0.0.1:8765", **headers}.items()]
    about = {"server": ("127.0.0.1", 8765), "client": (address, 1), "query_string": b"", "scheme": "http"}
    scope = {"type": "http", "method": method, "path": path, "headers": named, **about}
    statuses = []

    async def send(message: Any) -> None:
        statuses.extend([message["status"]] if "status" in message else [])

    await gate(scope, receive, send)
    return int(statuses[0])


def test_strangers_take_no_place_of_a_caller(browser: Browser, tokens: Tokens) -> None:
    anna = tokens.add("anna")

    async def ask() -> tuple[list[int], list[int]]:
        arrived, waiting = asyncio.Event(), asyncio.Semaphore(0)

        async def slow() -> Any:
            waiting.release()
            await arrived.wait()
            return {"type": "http.request", "body": b"token=wrong"}

        async def at_once() -> Any:
            return {"type": "http.request", "body": b""}

        held = [asyncio.create_task(sent_by(browser.gate, slow, f"1.2.3.{n // 16}")) for n in range(64)]
        for _ in held:
            await waiting.acquire()
        answers = [
            await sent_by(browser.gate, at_once, address, "GET", path, **headers)
            for address, path, headers in (
                ("1.2.3.0", "/login", {}),
                ("1.2.3.9", "/shared/x", {}),
                ("1.2.3.0", "/runs", {"authorization": f"Bearer {TOKEN}"}),
                ("1.2.3.0", "/runs", {"authorization": f"Bearer {anna}"}),
            )
        ]
        arrived.set()
        return answers, await asyncio.gather(*held)

    assert asyncio.run(ask()) == ([429, 503, 200, 200], [401] * 64)


def test_the_owner_and_a_caller_at_one_address_have_places_of_their_own(
    tokens: Tokens, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gate, "_MOST_OF_ONE", 4)
    anna, held = tokens.add("anna"), asyncio.Event()

    async def wait(scope: Any, receive: Any, send: Any) -> None:
        await held.wait()
        await Response("")(scope, receive, send)

    async def ask() -> list[int]:
        limited = Gate(wait, TOKEN, tokens)
        asked = [
            asyncio.create_task(sent_by(limited, nothing, "1.2.3.4", "GET", "/runs", authorization=f"Bearer {token}"))
            for token in (*[TOKEN] * 4, *[anna] * 4, TOKEN, anna)
        ]
        await asyncio.wait(asked, return_when=asyncio.FIRST_COMPLETED)
        held.set()
        return await asyncio.gather(*asked)

    assert asyncio.run(ask()) == [200] * 8 + [429] * 2


async def nothing() -> Any:
    return {"type": "http.request", "body": b""}


def test_of_strangers_only_a_small_login_is_read_that_comes_soon(
    browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def never() -> Any:
        await asyncio.Event().wait()

    monkeypatch.setattr(gate, "_LOGIN_SECONDS", 0.01)
    assert asyncio.run(sent_by(browser.gate, never, "1.2.3.4")) == 408
    assert asyncio.run(sent_by(browser.gate, never, "1.2.3.4", "POST", "/enter")) == 405  # without waiting
    assert asyncio.run(sent_by(browser.gate, never, "1.2.3.4", "GET", "/login")) == 200
    assert browser.post("/login", {"token": "x" * 5000}).status_code == 413


def test_a_session_is_of_its_caller(tokens: Tokens) -> None:
    anna = tokens.add("anna", 5.0)
    sessions = Sessions(tokens, TOKEN)
    cookie = sessions.log_in(anna)
    assert cookie
    assert sessions.caller(cookie) == Caller("anna", 5.0)
    assert sessions.enter("") is None
    assert sessions.log_in("") is None
    assert sessions.caller("") is None
    assert sessions.find({"server": ("127.0.0.1", 8765)}, f"other=1; storm-8765={cookie}") == Caller("anna", 5.0)
    assert sessions.find({"server": ("127.0.0.1", 8766)}, f"storm-8765={cookie}") is None
