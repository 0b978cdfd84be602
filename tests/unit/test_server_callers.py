"""Named tokens, what their callers may spend, and which hosts, sites and clients a server answers."""

import asyncio
import json
import stat
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, nullcontext
from contextvars import copy_context
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from storm_pipeline.errors import BudgetSpentError, SettingsError
from storm_pipeline.interfaces.server import budget, gate, remote_settings
from storm_pipeline.interfaces.server.budget import Budgets
from storm_pipeline.interfaces.server.callers import CALLER, OWNER, Caller, Tokens, require_valid_token
from storm_pipeline.interfaces.server.errors import BusyError, SlowBodyError, TooLargeError
from storm_pipeline.interfaces.server.gate import Gate, Turns, leave_turn
from storm_pipeline.interfaces.server.places import make_places
from storm_pipeline.interfaces.server.reach import Reach
from storm_pipeline.interfaces.server.records import RunRecord, RunRecords, records_folder
from storm_pipeline.interfaces.server.remote_settings import article_as
from storm_pipeline.interfaces.server.source_search import SourceSearch
from storm_pipeline.run.events import CallFinished
from storm_pipeline.settings import Settings
from storm_pipeline.sources.search.edge import with_checks
from storm_pipeline.sources.search.fake import FakeSearch
from storm_pipeline.types import Article

TOKEN = "correct-horse-battery"


def test_a_token_is_found_until_it_is_revoked(tmp_path: Path) -> None:
    tokens, elsewhere = Tokens(tmp_path / "runs"), Tokens(tmp_path / "runs")
    assert elsewhere.find("storm_none") is None
    assert not elsewhere.required
    anna, bert = tokens.add("anna", 5.0), tokens.add("bert")
    assert (elsewhere.find(anna), elsewhere.find(bert)) == (Caller("anna", 5.0), Caller("bert"))
    file = records_folder(tmp_path / "runs") / "tokens.json"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert anna not in file.read_text()
    tokens.revoke("anna")
    assert (elsewhere.find(anna), elsewhere.by_name("anna"), elsewhere.find(bert)) == (None, None, Caller("bert"))
    again = tokens.add("anna", 7.0)
    assert (elsewhere.find(again), elsewhere.find(anna)) == (Caller("anna", 7.0), None)
    assert elsewhere.required


def test_what_tokens_cannot_be(tmp_path: Path) -> None:
    tokens = Tokens(tmp_path)
    for name in ("", "Anna", "a/b", "..", "-a", "a" * 41, "ännä", "a\n"):
        with pytest.raises(SettingsError, match="is named by"):
            tokens.add(name)
    for wrong in (0, -1, float("inf"), float("nan")):
        with pytest.raises(SettingsError, match="above 0"):
            tokens.add("anna", wrong)
    with pytest.raises(SettingsError, match="no token of the name"):
        tokens.revoke("anna")
    tokens.add("anna")
    with pytest.raises(SettingsError, match="revoke it first"):
        tokens.add("anna")
    with pytest.raises(SettingsError, match="you need one of your own"):
        require_valid_token("127.0.0.1", "", tokens)


def spend(budgets: Budgets, own: budget.Budget, dollars: float) -> None:
    reservation = budgets.reserve(own, dollars)
    assert reservation
    reservation.count(CallFinished("s", "writer", "m", 1, 0, 1, 0.1, dollars))
    reservation.release()


def test_a_callers_budget_begins_anew_with_each_month(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    anna, budgets = Caller("anna", 2.0), Budgets(tmp_path, None)
    own = budgets.of(anna)
    assert own
    monkeypatch.setattr(budget, "_this_month", lambda: "2026-11")
    spend(budgets, own, 2.0)
    with pytest.raises(BudgetSpentError, match=r"the 2 dollars that the runs of anna may cost in a month are spent"):
        budgets.check(own)
    assert budgets.of(Caller("bert")) is None
    after = Budgets(tmp_path, None).of(anna)
    assert after
    assert (after.spent, json.loads((records_folder(tmp_path) / "budget-anna.json").read_text())) == (
        2.0,
        {"spent": 2.0, "month": "2026-11"},
    )
    monkeypatch.setattr(budget, "_this_month", lambda: "2026-12")
    budgets.check(own)
    spend(budgets, own, 0.5)
    assert (own.spent, budgets.of(Caller("anna", 9.0)), own.most) == (0.5, own, 9.0)


def test_servers_of_one_folder_share_its_budget(tmp_path: Path) -> None:
    servers = [budgets.server for budgets in (Budgets(tmp_path, 2.0), Budgets(tmp_path, 2.0)) if budgets.server]
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda server: [server.count(0.05) for _ in range(20)], servers))
    assert [server.spent for server in servers] == [2.0, 2.0]
    for server in servers:
        with pytest.raises(BudgetSpentError):
            server.check()


async def answer(scope: Any, receive: Any, send: Any) -> None:
    """Who calls, and how many bytes of a body came."""
    size, more = 0, True
    while more:
        message = await receive()
        size, more = size + len(message.get("body", b"")), message.get("more_body", False)
    caller = CALLER.get(Caller("nobody"))
    body = json.dumps([caller.name, size]).encode()
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": body})


def asked(
    path: str = "/runs",
    *,
    token: str = "",
    tokens: Tokens | None = None,
    reach: Reach | None = None,
    app: Any = answer,
    method: str = "GET",
    content: Any = None,
    **headers: str,
) -> httpx.Response:
    admitted = Gate(app, token, tokens or Tokens(Path("/nonexistent")), reach, open_path="/health")

    async def ask() -> httpx.Response:
        async with httpx.AsyncClient(
            transport=httpx.ASGITransport(app=admitted), base_url="http://127.0.0.1"
        ) as client:
            named = {name.replace("_", "-"): value for name, value in headers.items()}
            return await client.request(method, path, headers=named, content=content)

    return asyncio.run(ask())


@pytest.mark.parametrize(
    ("path", "content", "status"),
    [
        ("/check", b'{"markdown": "' + b"x, [1] {" * 100_000 + b'"}', 200),
        ("/check", b'{"markdown": [' + b"[]," * 100_000 + b"[]]}", 413),
        ("/mcp", b'{"a":1' + b"".join(b',"%d":1' % n for n in range(100_001)) + b"}", 413),
        ("/mcp", b'["' + b'\\",[' * 60_000 + b'"]', 200),
    ],
)
def test_json_of_very_many_values_is_refused_before_it_is_read(path: str, content: bytes, status: int) -> None:
    assert asked(path, method="POST", content=content).status_code == status


def test_who_is_let_in(tmp_path: Path) -> None:
    tokens = Tokens(tmp_path)
    assert asked(tokens=tokens).json() == ["", 0]  # nobody else can reach a server without tokens
    anna = tokens.add("anna")
    assert asked(tokens=tokens).status_code == 401
    assert asked(tokens=tokens, authorization=f"Bearer {anna}").json() == ["anna", 0]
    assert asked(token=TOKEN, tokens=tokens, authorization=f"bearer {TOKEN}").json() == [OWNER.name, 0]
    assert asked("/health", token=TOKEN, tokens=tokens).json() == ["nobody", 0]
    tokens.revoke("anna")
    assert asked(tokens=tokens, authorization=f"Bearer {anna}").status_code == 401
    assert asked(tokens=tokens).status_code == 401
    anna = tokens.add("anna")
    for content in ("", "{", "[1]", '[{"name": "anna"}]', '[{"name": "../x", "sha256": "", "created": ""}]'):
        (records_folder(tmp_path) / "tokens.json").write_text(content)  # damaged, it lets nobody in
        assert asked(tokens=tokens, authorization=f"Bearer {anna}").status_code == 401
        with pytest.raises(SettingsError, match="restore or delete it"):
            tokens.all()


PUBLIC = Reach.build("0.0.0.0", ("storm.example.org",))


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"host": "localhost:8765"}, 200),
        ({"host": "[::1]:8765"}, 200),
        ({"host": "storm.example.org"}, 200),
        ({"host": "STORM.example.org.:443"}, 200),
        ({"host": "storm.example.org.evil.example"}, 403),
        ({"host": "evil.example"}, 403),
        ({"host": "evil@storm.example.org.evil.example"}, 403),
        ({"host": "storm.example.org", "origin": "https://storm.example.org"}, 200),
        ({"host": "storm.example.org", "origin": "https://evil.example"}, 403),
        ({"host": "storm.example.org", "origin": "null"}, 403),
        ({"host": "storm.example.org", "sec_fetch_site": "cross-site"}, 403),
    ],
)
def test_hosts_and_origins_are_checked_with_a_token_too(headers: dict[str, str], status: int) -> None:
    assert asked(token=TOKEN, reach=PUBLIC, authorization=f"Bearer {TOKEN}", **headers).status_code == status


@given(st.text(max_size=30), st.text(max_size=30))
def test_no_other_host_or_site_passes(host: str, origin: str) -> None:
    own = {"localhost", "127.0.0.1", "::1", "storm.example.org", "0.0.0.0"}
    if not PUBLIC.refusal({"host": host}, None):
        assert any(name in host.lower() for name in own)
    assert PUBLIC.refusal({"host": f"x{host}.example.com"}, None)
    if not PUBLIC.refusal({"host": "localhost", "origin": origin}, None):
        assert any(name in origin.lower() for name in own)


def test_names_of_hosts_and_proxies_that_are_refused() -> None:
    for name in ("", "storm.example.org:443", "https://storm.example.org", "a b/c", "user@host"):
        with pytest.raises(SettingsError, match="--allow-host takes"):
            Reach.build("0.0.0.0", (name,))
    for network in ("", "proxy", "10.0.0.1/8", "0.0.0.0/0", "::/0", "*"):
        with pytest.raises(SettingsError, match="--trust-proxy"):
            Reach.build("0.0.0.0", (), (network,))
    (allowed,) = Reach.build("0.0.0.0", (), ("10.0.0.0/8",)).proxies
    assert ip_address("10.1.2.3") in allowed
    assert ip_address("11.1.2.3") not in allowed


Sent = tuple[str, str, str, dict[str, str]]
"""A request: address of its client, method, path, headers."""


def crowded(first: Sequence[Sent], beyond: Sent, rest: Sequence[Sent]) -> tuple[int, set[int]]:
    """The status of a request while the first ones are answered, and those of these and of the rest."""

    async def ask() -> tuple[int, set[int]]:
        held, begun = asyncio.Event(), asyncio.Semaphore(0)

        async def slow(scope: Any, receive: Any, send: Any) -> None:
            begun.release()
            await held.wait()
            await answer(scope, receive, send)

        limited = Gate(slow, "", Tokens(Path("/nonexistent")))

        async def request(sent: Sent) -> int:
            address, method, path, headers = sent
            transport = httpx.ASGITransport(app=limited, client=(address, 1))
            async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
                return (await client.request(method, path, headers=headers)).status_code

        asked = [asyncio.ensure_future(request(one)) for one in first]
        for _ in first:
            await begun.acquire()
        refused = await request(beyond)
        asked += [asyncio.ensure_future(request(one)) for one in rest]
        for _ in rest:
            await begun.acquire()
        held.set()
        return refused, set(await asyncio.gather(*asked))

    return asyncio.run(ask())


@pytest.mark.parametrize(
    ("method", "path", "sent", "most", "others"),
    [
        ("GET", "/runs/x/events", {}, 32, 31),  # streams leave place for whatever else the client asks
        ("PUT", "/documents/x/a.txt", {"content-length": "0"}, 32, 31),
        ("POST", "/check", {"content-length": "70000"}, 4, 59),  # held in memory
        ("POST", "/mcp", {"transfer-encoding": "chunked"}, 4, 59),
        ("POST", "/write", {"content-type": "multipart/form-data; boundary=B", "content-length": "2"}, 4, 59),
        ("POST", "/check", {"content-length": "2"}, 64, 0),
        ("GET", "/runs/x/article", {}, 64, 0),
    ],
)
def test_long_and_large_requests_of_a_client_leave_place_for_others(
    method: str, path: str, sent: dict[str, str], most: int, others: int
) -> None:
    one, other = ("1.2.3.4", method, path, sent), ("1.2.3.4", "GET", "/runs", {})
    assert crowded([one] * most, one, [other] * others) == (429, {200})


def test_streams_of_many_clients_leave_half_of_the_places() -> None:
    streams = [(f"1.2.3.{n // 25}", "GET", "/runs/x/events", {}) for n in range(200)]
    stream = ("1.2.3.99", "GET", "/runs/x/events", {})
    assert crowded(streams, stream, [("1.2.3.99", "GET", "/runs", {})]) == (503, {200})


def test_a_caller_has_a_quarter_of_the_servers_threads(tmp_path: Path) -> None:
    async def ask() -> None:
        held, begun = asyncio.Event(), list[str]()

        async def slow(scope: Any, receive: Any, send: Any) -> None:
            begun.append(CALLER.get().name)
            if scope["path"] == "/waiting":
                leave_turn.get()()
            await held.wait()
            await answer(scope, receive, send)

        tokens = Tokens(tmp_path / "runs")
        sent = {name: {"Authorization": f"Bearer {tokens.add(name)}"} for name in ("anna", "bert")}
        transport = httpx.ASGITransport(app=Gate(Turns(slow), TOKEN, tokens))
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:

            def ask(name: str, path: str = "/runs") -> "asyncio.Future[httpx.Response]":
                return asyncio.ensure_future(client.get(path, headers=sent[name]))

            asked = [ask("anna", "/waiting") for _ in range(12)] + [ask("anna") for _ in range(12)]
            asked += [ask("anna", "/runs/x/events"), ask("bert")]
            for _ in range(100):
                await asyncio.sleep(0)
            assert sorted(begun) == ["anna"] * 23 + ["bert"]
            held.set()
            assert {one.status_code for one in await asyncio.gather(*asked)} == {200}

    asyncio.run(ask())


def test_strangers_that_do_not_read_take_no_turn_of_others(tmp_path: Path) -> None:
    gate = Gate(Turns(answer), TOKEN, Tokens(tmp_path), open_pages=("/login",))

    async def ask() -> int:
        sending, never = asyncio.Semaphore(0), asyncio.Event()

        async def stuck(_: Any) -> None:
            sending.release()
            await never.wait()

        scope = {"type": "http", "method": "GET", "path": "/login", "headers": [(b"host", b"localhost")]}
        held = [asyncio.create_task(gate(scope, asyncio.Future, stuck)) for _ in range(16)]
        for _ in held:
            await asyncio.wait_for(sending.acquire(), 5)
        transport = httpx.ASGITransport(app=gate)
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
            return (await client.get("/login")).status_code

    assert asyncio.run(ask()) == 200


@given(
    st.lists(st.tuples(st.sampled_from(["", "anna", "bert", "carl"]), st.booleans()), max_size=40), st.integers(1, 9)
)
def test_one_caller_leaves_places_to_others(steps: list[tuple[str, bool]], most: int) -> None:
    places, held = make_places("checks", most), {name: ExitStack() for name in ("", "anna", "bert", "carl")}
    count = dict.fromkeys(held, 0)
    for name, is_over in steps:
        if is_over:
            held[name].close()
            count[name] = 0
            continue
        is_full, has_his = sum(count.values()) >= most, name != "" and count[name] >= max(1, most // 4)
        with pytest.raises(BusyError) if is_full or has_his else nullcontext():
            held[name].enter_context(places.hold(name))
            count[name] += 1


def test_a_caller_holds_a_quarter_of_the_searches_and_conversions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, done = threading.Semaphore(0), threading.Event()

    def wait(*_: Any, **__: Any) -> bytes:
        begun.release()
        done.wait(60)
        return b""

    monkeypatch.setattr(remote_settings, "export", wait)
    engine = with_checks(FakeSearch(lambda _: wait() and []))
    searches = SourceSearch(Settings(out=tmp_path / "runs", cache=tmp_path / "cache"), engine)
    works = {2: lambda: searches.find("silk", 1), 1: lambda: article_as(Article("Silk", ()), "docx")}
    for most, work in works.items():
        threads = []
        for name in ("anna", "bert"):
            CALLER.set(Caller(name))
            for _ in range(most):
                threads.append(threading.Thread(target=copy_context().run, args=(work,)))
                threads[-1].start()
                begun.acquire()
            with pytest.raises(BusyError, match="of yours"):
                work()
        done.set()
        for thread in threads:
            thread.join()
        done.clear()


def test_all_requests_under_way_are_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("storm_pipeline.interfaces.server.gate._MOST_REQUESTS", 0)
    refused = asked()
    assert (refused.status_code, refused.headers["retry-after"]) == (503, "5")


def test_bodies_of_uploads_are_passed_on_and_others_held(monkeypatch: pytest.MonkeyPatch) -> None:
    assert asked("/documents/x/a.txt", method="PUT", content=b"x" * 100_000).json() == ["", 100_000]
    assert asked("/runs", method="POST", content=b"x" * 100_000).status_code == 413
    monkeypatch.setattr("storm_pipeline.interfaces.server.gate.FILE_BYTES", 10)

    async def careful(scope: Any, receive: Any, send: Any) -> None:
        with pytest.raises(TooLargeError):
            await answer(scope, receive, send)
        await answer(scope, lambda: asyncio.sleep(0, {"type": "http.request"}), send)

    assert asked("/documents/x/a.txt", method="PUT", content=b"x" * 11, app=careful).status_code == 200


@pytest.mark.parametrize("is_upload", [True, False])
def test_a_body_that_does_not_arrive_is_waited_for_in_vain(monkeypatch: pytest.MonkeyPatch, is_upload: bool) -> None:
    monkeypatch.setattr(gate, "_BODY_SECONDS", 0.01)

    async def silent() -> Any:
        await asyncio.Event().wait()

    async def ask() -> None:
        with pytest.raises(SlowBodyError):
            await (gate.limit_body({}, silent, 9)() if is_upload else gate.read_body({}, silent, 9))

    asyncio.run(ask())


def test_a_run_whose_name_is_too_long_for_a_record_has_none(tmp_path: Path) -> None:
    records = RunRecords(tmp_path)
    records.put("short", RunRecord(caller="anna"))
    assert (records.has("short"), records.has("x" * 255)) == (True, False)
    records.delete("x" * 255)
