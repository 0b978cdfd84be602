"""Every engine with an API against a local server: what it sends, finds, retries, refuses and says.

With ``--collect-only`` pytest lists engine by failure mode, with ``-vv`` also what became of each. A new engine is
added to a table of cases.
"""

import dataclasses
import datetime
import email.utils
import logging
import math
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace
from typing import Any

import pytest
import tenacity
from engine_cases import BRISK, GENERAL_REFUSALS, HASTY, KEY, SLOW, Case, Page, Said, ask
from engine_cases_papers import PAPERS
from engine_cases_web import WEB
from servers import ENDLESS, Reply, ScriptedServer, closed_port, raw_server, until_hung_up

from storm_pipeline.errors import SearchError
from storm_pipeline.run.retrying import Patience, report_retries
from storm_pipeline.sources.transport.gates import Limiter, Rate
from storm_pipeline.sources.transport.http import ApiClient

CASES = WEB | PAPERS

WIRES = ("tavily", "searxng", "arxiv", "pubmed", "kiwix")
"""An engine for each way in which requests and answers are written; all share the client that they try."""

of_every_engine = pytest.mark.parametrize("case", CASES.values(), ids=CASES)
of_every_wire = pytest.mark.parametrize("case", [CASES[name] for name in WIRES], ids=WIRES)

_MAY_PASS: Mapping[str, Reply] = {
    "429": Reply(429),
    "429 wait 0 s": Reply(429, headers={"Retry-After": "0"}),
    "429 wait a day": Reply(429, headers={"Retry-After": "86400"}),
    "429 wait till next week": Reply(429, headers={"Retry-After": "next week"}),
    "503 wait 1 s": Reply(503, headers={"Retry-After": "1"}),
    "500": Reply(500, "<html>oops</html>"),
    "reset": Reply(reset=True),
    "cut off": Reply(body=b'{"results": ', cut=True),
    "slow": SLOW,
}
_LASTING: Mapping[str, Said] = {
    "429": (Reply(429), "answered 429"),
    "502": (Reply(502), "answered 502"),
    "reset": (Reply(reset=True), "could not be reached or closed the connection"),
    "slow": (SLOW, "did not answer in time"),
}
_OF_NO_USE: Mapping[str, Said] = {
    "huge": (Reply(body=b" " * 10_000_001), "more than 10,000,000 bytes"),
    "moved": (Reply(301, headers={"Location": "https://else.org/x?q=1"}), "redirects to https://else.org/x;"),
    "moved near": (Reply(308, headers={"Location": "/new"}), "/new;"),
}


def each(modes: Callable[[Case], Mapping[str, Any]], common: Mapping[str, Any]) -> pytest.MarkDecorator:
    """Every engine with each of its own failure modes, and one of every wire with those of all; as ``engine-mode``."""
    pairs = [
        pytest.param(case, mode, id=f"{engine}-{name}")
        for engine, case in CASES.items()
        for name, mode in {**(common if engine in WIRES else {}), **modes(case)}.items()
    ]
    return pytest.mark.parametrize(("case", "mode"), pairs)


@of_every_engine
def test_results_and_wire_format(case: Case) -> None:
    pages = [case.page(1), case.page(2)]
    found, requests = ask(case, case.finds(*pages))
    assert [Page(s.url, s.title, s.text) for s in found] == pages
    first = requests[0]
    assert (first.method, first.path) == ("GET" if case.body is case.form is None else "POST", case.path)
    assert dict(first.query) == case.query
    assert case.body is None or first.json == case.body
    assert case.form is None or first.form == case.form
    assert {name: first.headers.get(name) for name in case.headers} == case.headers
    assert {name for name, value in first.headers.items() if KEY in value} <= set(case.headers)
    assert first.headers["user-agent"].startswith(case.agent)
    assert "cookie" not in first.headers


@of_every_engine
def test_nothing_found(case: Case) -> None:
    found, requests = ask(case, case.finds())
    assert (list(found), len(requests)) == ([], case.searches)


@of_every_engine
def test_k_bounds_the_pages(case: Case) -> None:
    many = [case.page(number) for number in range(1, 10)]
    found, _ = ask(case, case.finds(*many), k=2)
    assert [s.url for s in found] == [page.url for page in many[:2]]


@pytest.mark.parametrize("query", ["", " \n", "\x00"], ids=["empty", "blank", "unprintable"])
@of_every_engine
def test_an_empty_query_asks_nobody(case: Case, query: str) -> None:
    with ScriptedServer(Reply(500)) as server:
        engine = case.open(server.url, BRISK)
        assert (list(engine.search(query, 5)), list(engine.search("x", 0)), server.requests) == ([], [], [])


@each(lambda case: case.refusals, GENERAL_REFUSALS)
def test_refusals_are_final_and_name_a_remedy(case: Case, mode: Said) -> None:
    reply, said = mode
    error, requests = ask(case, reply)
    assert len(requests) == 1
    assert f"answered {reply.status}" in str(error)
    assert said in str(error)


@each(lambda case: case.passing, _MAY_PASS)
def test_what_may_pass_is_tried_again(case: Case, mode: Reply) -> None:
    page = case.page(1)
    found, requests = ask(case, mode, case.finds(page), patience=HASTY if mode is SLOW else BRISK)
    assert [s.url for s in found] == [page.url]
    assert len(requests) >= 2


@each(lambda _: {}, _LASTING)
def test_patience_ends(case: Case, mode: Said) -> None:
    reply, said = mode
    patience = dataclasses.replace(BRISK, connect=10, read=0.1 if reply is SLOW else 10)
    error, requests = ask(case, reply, patience=patience)
    assert len(requests) == 3
    assert said in str(error)
    assert "(3 attempts)" in str(error)


@each(lambda case: case.malformed, _OF_NO_USE)
def test_answers_of_no_use_are_final(case: Case, mode: Said) -> None:
    reply, said = mode
    error, requests = ask(case, reply)
    assert said in str(error)
    assert len(requests) == 1


@pytest.mark.parametrize(
    "body", [b"", b" \n", b'{"results": [{"ti', b'{"results": [{"a": 1}', b'{"results": [tr', '{"a": "é'.encode()[:-1]]
)
def test_json_that_is_cut_short_is_asked_for_again(body: bytes) -> None:
    case, told = CASES["tavily"], []
    page = case.page(1)
    with report_retries(lambda reason, wait: told.append((reason, wait))):
        found, requests = ask(case, Reply(body=body), case.finds(page))
    assert [s.url for s in found] == [page.url]
    assert len(requests) == 2
    ((reason, wait),) = told
    assert "cut short" in reason
    assert wait > 0


def test_what_is_tried_again_is_told_with_the_place() -> None:
    case, told = CASES["searxng"], []
    with report_retries(lambda reason, _: told.append(reason)):
        ask(case, Reply(429), Reply(reset=True), case.finds(case.page(1)))
    found, _ = ask(case, Reply(429), case.finds(case.page(1)))  # nobody listens any more
    assert found
    assert [("answered 429" in reason, "127.0.0.1:" in reason) for reason in told] == [(True, False), (False, True)]


@of_every_wire
def test_a_trickling_answer_is_given_up(case: Case) -> None:
    patience = dataclasses.replace(BRISK, total=0.3)
    error, _ = ask(case, Reply(body=b" " * 10_000, pieces=0.05), patience=patience)
    assert "did not finish its answer within 0.3 s" in str(error)


@pytest.mark.parametrize(("head", "piece"), ENDLESS)
def test_an_answer_without_end_is_given_up(head: bytes, piece: bytes) -> None:
    talk, hung_up = until_hung_up(head, piece)
    with raw_server(talk) as port:
        with pytest.raises(SearchError, match=r"not finish its answer within 0\.3 s"):
            CASES["searxng"].open(f"http://127.0.0.1:{port}", dataclasses.replace(BRISK, total=0.3)).search("x", 3)
        assert hung_up.wait(10)


@of_every_wire
def test_nobody_at_home(case: Case) -> None:
    with closed_port() as url, pytest.raises(SearchError, match="could not be reached"):
        case.open(url, BRISK).search("x", 3)


@of_every_engine
def test_odd_hits_are_left_out(case: Case) -> None:
    assert case.odd
    page = case.page(1)
    found, _ = ask(case, case.has(*case.odd, case.hit(page)), k=50)
    assert [s.url for s in found] == [page.url]


@of_every_engine
def test_garbled_text_is_cleaned(case: Case) -> None:
    page = case.page(1)
    found, _ = ask(case, case.finds(page._replace(text=case.garbled)))
    assert [(s.url, s.text) for s in found] == [(page.url, "lone one")]
    found[0].id.encode()


@of_every_engine
def test_secrets_stay_out_of_logs(case: Case, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    ask(case, Reply(500), Reply(401, {"detail": KEY}))
    assert "trying again in" in caplog.text
    assert KEY not in caplog.text


@of_every_wire
@pytest.mark.parametrize(("status", "asked", "then"), [(401, 5, "left alone"), (400, 8, "answered 400")])
def test_a_service_that_keeps_failing_is_left_alone(case: Case, status: int, asked: int, then: str) -> None:
    with ScriptedServer(Reply(status)) as server:  # a refused query says nothing about the service
        engine = case.open(server.url, BRISK)
        for _ in range(asked):
            with pytest.raises(SearchError, match=f"answered {status}"):
                engine.search("silk", 3)
        with pytest.raises(SearchError, match=then):
            case.open(server.url, BRISK).search("silk", 3)
        assert len(server.requests) == asked + (then != "left alone")


def test_a_retry_date_is_honoured_and_pauses_are_capped(monkeypatch: pytest.MonkeyPatch) -> None:
    held: list[float] = []
    monkeypatch.setattr(Limiter, "hold", lambda _, seconds: held.append(seconds))  # has other threads wait too
    pauses: list[float] = []
    monkeypatch.setattr(tenacity.nap, "time", SimpleNamespace(sleep=pauses.append))
    soon = datetime.datetime.now(datetime.UTC) + datetime.timedelta(seconds=20)
    script = [
        Reply(429, headers={"Retry-After": email.utils.format_datetime(soon, usegmt=True)}),
        Reply(429, headers={"Retry-After": "7"}),
        Reply(429, headers={"Retry-After": "3600"}),
        Reply(body={"fine": True}),
    ]
    with ScriptedServer(*script) as server:
        client = ApiClient("x", server.url, patience=Patience(total=1000))
        assert client.get_json({}) == {"fine": True}
    assert 15 < pauses[0] <= 20
    assert pauses[1:] == [7.0, 30.0]
    assert held == pauses


def test_no_pause_outlasts_the_total(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tenacity.nap, "time", SimpleNamespace(sleep=lambda _: pytest.fail("it slept")))
    with ScriptedServer(Reply(429, headers={"Retry-After": "10"})) as server:
        client = ApiClient("x", server.url, patience=Patience(total=5))
        with pytest.raises(SearchError, match="answered 429"):
            client.get_json({})


def test_an_answer_of_very_many_values_is_refused_unread() -> None:
    body = b'{"results": [' + b"{}," * 200_000 + b"{}]}"  # 25 times its size in memory
    with ScriptedServer(Reply(body=body)) as server:
        client = ApiClient("x", server.url, patience=Patience(attempts=1))
        with pytest.raises(SearchError, match="more than 200,000 lists and objects"):
            client.get_json({})


def test_many_threads_share_a_client() -> None:
    with ScriptedServer(lambda request: Reply(body={"n": request.query["n"]})) as server:
        client = ApiClient("x", server.url, patience=Patience(), rate=Rate(math.inf, concurrent=3))
        with ThreadPoolExecutor(12) as pool:
            answers = list(pool.map(lambda n: client.get_json({"n": n})["n"], range(60)))
    assert answers == [str(n) for n in range(60)]
