"""The engines of the web against a local server: what they send, read, retry, refuse and say."""

import dataclasses
import datetime
import email.utils
import itertools
import logging
import math
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import pytest
from servers import Reply, Request, ScriptedServer, closed_port

from storm_pipeline.errors import SearchError, SettingsError
from storm_pipeline.search.base import SearchEngine
from storm_pipeline.search.engines.searxng import SearxngSearch
from storm_pipeline.search.engines.you import YouSearch
from storm_pipeline.search.transport.gates import Rate
from storm_pipeline.search.transport.http import ApiClient
from storm_pipeline.search.transport.limiter import Limiter
from storm_pipeline.search.transport.retrying import Patience, TransientError

KEY = "ydc-sk-7f3c-secret"
BRISK = Patience(connect=10, read=10, total=30, attempts=3, first_pause=0.001, longest_pause=0.02)
HASTY = dataclasses.replace(BRISK, connect=0.5, read=0.5)
SLOW = Reply(body=b"{}", delay=20)  # the server gives up waiting when the test ends


@dataclass(frozen=True)
class Case:
    """An engine of the web and the wire format it is to speak."""

    open: Callable[[str, Patience], SearchEngine]
    path: str
    params: dict[str, str]
    answer: Callable[[list[tuple[str, str]]], Any]
    remedy_401: str
    remedy_403: str


def hits(pages: list[tuple[str, str]]) -> list[dict[str, Any]]:
    return [{"url": url, "title": f"On {text}", "description": "d", "snippets": [text]} for url, text in pages]


CASES = {
    "you": Case(
        lambda url, patience: YouSearch(KEY, base_url=f"{url}/v1/search", patience=patience, rate=math.inf),
        "/v1/search",
        {"query": "silk road", "count": "5"},
        lambda pages: {"results": {"web": hits(pages)}, "metadata": {}},
        "set YDC_API_KEY to a valid key",
        "set YDC_API_KEY to a valid key",
    ),
    "you, earlier form": Case(
        lambda url, patience: YouSearch(KEY, base_url=f"{url}/search", patience=patience, rate=math.inf),
        "/search",
        {"query": "silk road", "num_web_results": "5"},
        lambda pages: {"hits": hits(pages), "latency": 1},
        "set YDC_API_KEY to a valid key",
        "set YDC_API_KEY to a valid key",
    ),
    "searxng": Case(
        lambda url, patience: SearxngSearch(f"{url}/", patience=patience, rate=math.inf),
        "/search",
        {"q": "silk road", "format": "json", "pageno": "1", "language": "all"},
        lambda pages: {"results": [{"url": u, "title": f"On {t}", "content": t} for u, t in pages]},
        "asks for a login",
        "settings.yml",
    ),
}
PAGES = [("https://a.org/1", "one"), ("https://b.org/2", "two")]


@pytest.fixture(params=list(CASES))
def case(request: pytest.FixtureRequest) -> Case:
    return CASES[request.param]


def ask(case: Case, *script: Any, k: int = 5, patience: Patience = BRISK) -> tuple[Any, list[Request]]:
    """The snippets, or the error, and the requests that led to them."""
    with ScriptedServer(*script) as server:
        engine = case.open(server.url, patience)
        try:
            return engine.search("silk  road\n", k), server.requests
        except SearchError as error:
            assert not isinstance(error, TransientError)
            assert KEY not in repr(error) + str(error) + repr(error.__cause__)
            return error, server.requests


def test_results_and_wire_format(case: Case) -> None:
    found, requests = ask(case, Reply(body=case.answer(PAGES)), Reply(body=case.answer([])))
    assert [(s.url, s.title, s.text) for s in found] == [(url, f"On {text}", text) for url, text in PAGES]
    first = requests[0]
    assert (first.method, first.path, dict(first.query)) == ("GET", case.path, case.params)
    assert first.headers["user-agent"].startswith("storm-pipeline/")
    assert first.headers.get("x-api-key") == (KEY if found[0].engine == "you" else None)
    assert "cookie" not in first.headers


def test_nothing_found(case: Case) -> None:
    found, requests = ask(case, Reply(body=case.answer([])))
    assert (list(found), len(requests)) == ([], 1)


def test_k_bounds_the_pages(case: Case) -> None:
    many = [(f"https://a.org/{i}", f"text {i}") for i in range(9)]
    found, _ = ask(case, Reply(body=case.answer(many)), k=2)
    assert [s.url for s in found] == [url for url, _ in many[:2]]


@pytest.mark.parametrize("query", ["", " \n", "\x00"])
def test_an_empty_query_asks_nobody(case: Case, query: str) -> None:
    with ScriptedServer(Reply(500)) as server:
        engine = case.open(server.url, BRISK)
        assert (list(engine.search(query, 5)), list(engine.search("x", 0)), server.requests) == ([], [], [])


@pytest.mark.parametrize("status", [400, 401, 402, 403, 404, 422])
def test_refusals_are_final_and_name_a_remedy(case: Case, status: int) -> None:
    error, requests = ask(case, Reply(status, {"detail": KEY}))
    assert len(requests) == 1
    assert f"answered {status}" in str(error)
    wanted = {401: case.remedy_401, 403: case.remedy_403, 402: "no credit left"}.get(status, "check")
    assert wanted in str(error) or status == 400


@pytest.mark.parametrize(
    "refusal",
    [
        Reply(429),
        Reply(429, headers={"Retry-After": "0"}),
        Reply(429, headers={"Retry-After": "86400"}),
        Reply(429, headers={"Retry-After": "next week"}),
        Reply(503, headers={"Retry-After": "1"}),
        Reply(500, "<html>oops</html>"),
        Reply(reset=True),
        Reply(body=b'{"results": ', cut=True),
        SLOW,
    ],
    ids=["429", "429 at once", "429 tomorrow", "429 odd", "503", "500", "reset", "cut off", "slow"],
)
def test_what_may_pass_is_tried_again(case: Case, refusal: Reply) -> None:
    patience = HASTY if refusal is SLOW else BRISK
    script = [refusal, Reply(body=case.answer(PAGES)), Reply(body=case.answer([]))]
    found, requests = ask(case, *script, patience=patience)
    assert [s.url for s in found] == [url for url, _ in PAGES]
    assert len(requests) >= 2


@pytest.mark.parametrize(
    ("refusal", "said"),
    [
        (Reply(429), "answered 429"),
        (Reply(502), "answered 502"),
        (Reply(reset=True), "could not be reached or broke off"),
        (SLOW, "did not answer in time"),
    ],
)
def test_patience_ends(case: Case, refusal: Reply, said: str) -> None:
    patience = dataclasses.replace(BRISK, connect=10, read=0.1 if refusal is SLOW else 10)
    error, requests = ask(case, refusal, patience=patience)
    assert len(requests) == 3
    assert said in str(error)
    assert "(3 attempts)" in str(error)


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        (Reply(body="<!doctype html><title>Log in</title>"), "a web page instead of JSON"),
        (Reply(body=b'{"results": [}'), "not JSON"),
        (Reply(body=b"\xff\xfe\x00"), "not JSON"),
        (Reply(body=b""), "not JSON"),
        (Reply(body=b"[" * 200_000), "not JSON"),
        (Reply(body=b"1" * 10_000), "not JSON"),
        (Reply(body=[]), "unknown form"),
        (Reply(body={"error": "x"}), "unknown form"),
        (Reply(body=b" " * 10_000_001), "more than 10,000,000 bytes"),
        (Reply(301, headers={"Location": "https://else.org/x?q=1"}), "points to https://else.org/x;"),
        (Reply(308, headers={"Location": "/new"}), "/new;"),
    ],
    ids=["html", "damaged", "binary", "empty", "deep", "long number", "list", "other", "huge", "moved", "moved near"],
)
def test_answers_of_no_use_are_final(case: Case, reply: Reply, said: str) -> None:
    error, requests = ask(case, reply)
    assert said in str(error)
    assert len(requests) == 1


def test_a_trickling_answer_is_given_up(case: Case) -> None:
    start = time.monotonic()
    error, _ = ask(case, Reply(body=b" " * 10_000, pieces=0.05), patience=Patience(10, 10, 0.3))
    assert "did not finish its answer within 0.3 s" in str(error)
    assert time.monotonic() - start < 60


def test_nobody_at_home(case: Case) -> None:
    with closed_port() as url, pytest.raises(SearchError, match="could not be reached"):
        case.open(url, BRISK).search("x", 3)


def test_odd_hits_are_left_out(case: Case) -> None:
    answer = case.answer(
        [("javascript:alert(1)", "bad"), ("", "none"), ("https://a.org/\ud800", "lone \ud800 one\x00")]
    )
    group = answer["hits"] if "hits" in answer else answer["results"]
    group = group["web"] if isinstance(group, dict) else group
    group += [
        None,
        7,
        {"url": 5},
        {"title": "no url"},
        {"url": "https://b.org", "snippets": [None, ""], "content": None},
    ]
    found, _ = ask(case, Reply(body=answer), Reply(body=case.answer([])))
    assert [(s.url, s.text) for s in found] == [("https://a.org/", "lone one")]
    found[0].id.encode()


def test_secrets_stay_out_of_logs(case: Case, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    ask(case, Reply(500), Reply(401))
    assert "trying again in" in caplog.text
    assert KEY not in caplog.text


def test_you_gives_every_passage_and_news_after_pages() -> None:
    web = {
        "url": "https://a.org",
        "title": "A",
        "snippets": ["x", "x", " y "],
        "page_age": "2025-06-25T11:41:00",
    }
    news = {"url": "https://n.org", "title": "N", "description": "told", "page_age": "yesterday"}
    found, _ = ask(CASES["you"], Reply(body={"results": {"web": [web], "news": [news]}}))
    assert [(s.text, s.published) for s in found] == [
        ("x", "2025-06-25"),
        ("y", "2025-06-25"),
        ("told", None),
    ]


def test_searxng_pages_on_and_meets_no_page_twice() -> None:
    def script(request: Request) -> Reply:
        page = int(request.query["pageno"])
        results = [{"url": f"https://a.org/{n}", "title": "t", "content": "c"} for n in (1, page, page * 10)]
        results += [{"url": f"https://e.org/{page}", "title": "empty", "content": ""}]
        return Reply(body={"results": results})

    found, requests = ask(CASES["searxng"], script, k=50)
    assert [s.url[14:] for s in found] == ["1", "10", "2", "20", "3", "30"]
    assert len(requests) == 3


def test_searxng_says_when_all_its_engines_are_silent() -> None:
    error, _ = ask(CASES["searxng"], Reply(body={"results": [], "unresponsive_engines": [["google", "CAPTCHA"]]}))
    assert "google: CAPTCHA" in str(error)


def test_a_retry_date_is_honoured_and_pauses_are_capped() -> None:
    pauses: list[float] = []
    soon = datetime.datetime.now(datetime.UTC) + datetime.timedelta(seconds=20)
    script = [
        Reply(429, headers={"Retry-After": email.utils.format_datetime(soon, usegmt=True)}),
        Reply(429, headers={"Retry-After": "7"}),
        Reply(429, headers={"Retry-After": "3600"}),
        Reply(body={"fine": True}),
    ]
    with ScriptedServer(*script) as server:
        client = ApiClient("x", server.url, patience=Patience(total=1000), sleep=pauses.append)
        assert client.get_json({}) == {"fine": True}
    assert 15 < pauses[0] <= 20
    assert pauses[1:] == [7.0, 30.0]


def test_no_pause_outlasts_the_total() -> None:
    with ScriptedServer(Reply(429, headers={"Retry-After": "10"})) as server:
        client = ApiClient("x", server.url, patience=Patience(total=5), sleep=lambda _: pytest.fail("it slept"))
        with pytest.raises(SearchError, match="answered 429"):
            client.get_json({})


def test_many_threads_share_a_client() -> None:
    with ScriptedServer(lambda request: Reply(body={"n": request.query["n"]})) as server:
        client = ApiClient("x", server.url, patience=Patience(), rate=Rate(math.inf, concurrent=3))
        with ThreadPoolExecutor(12) as pool:
            answers = list(pool.map(lambda n: client.get_json({"n": n})["n"], range(60)))
    assert answers == [str(n) for n in range(60)]


def test_a_limiter_spaces_requests_out() -> None:
    now = itertools.count()  # a clock that a second passes by at each look
    waits: list[float] = []
    limiter = Limiter(0.1, concurrent=1, clock=lambda: float(next(now)), sleep=waits.append)
    for _ in range(3):
        with limiter:
            pass
    assert waits == [9.0, 18.0]


@pytest.mark.parametrize("key", ["two\nlines", "clé", "a\x00b"])
def test_a_key_that_cannot_be_one_is_refused_unseen(key: str) -> None:
    with pytest.raises(SettingsError, match="copy it again") as caught:
        YouSearch(key)
    assert key not in str(caught.value)


def test_missing_settings_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("YDC_API_KEY", raising=False)
    monkeypatch.delenv("SEARXNG_URL", raising=False)
    with pytest.raises(SettingsError, match="YDC_API_KEY"):
        YouSearch()
    with pytest.raises(SettingsError, match="SEARXNG_URL"):
        SearxngSearch()
    with pytest.raises(SettingsError, match="is not one"):
        SearxngSearch("localhost:8080")


def test_a_service_that_keeps_failing_is_left_alone(case: Case) -> None:
    with ScriptedServer(Reply(401)) as server:
        engine = case.open(server.url, BRISK)
        for _ in range(5):
            with pytest.raises(SearchError, match="answered 401"):
                engine.search("silk", 3)
        with pytest.raises(SearchError, match="left alone"):
            case.open(server.url, BRISK).search("silk", 3)
        assert len(server.requests) == 5


def test_a_refused_query_says_nothing_about_the_service(case: Case) -> None:
    with ScriptedServer(Reply(400)) as server:
        engine = case.open(server.url, BRISK)
        for _ in range(8):
            with pytest.raises(SearchError, match="answered 400"):
                engine.search("silk", 3)


def test_what_a_server_asks_one_thread_to_wait_all_wait(case: Case) -> None:
    script = [Reply(429, headers={"Retry-After": "1"}), Reply(body=case.answer(PAGES))]
    patient = dataclasses.replace(BRISK, longest_pause=2.0)
    with ScriptedServer(*script) as server:
        engine = case.open(server.url, patient)
        with ThreadPoolExecutor(2) as pool:
            first = pool.submit(engine.search, "silk", 1)
            while not server.requests:
                time.sleep(0.01)
            time.sleep(0.1)
            second = pool.submit(engine.search, "road", 1)
            assert first.result() and second.result()
        later = [request.at - server.requests[0].at for request in server.requests[1:]]
    assert min(later) >= 0.9
