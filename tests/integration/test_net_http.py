"""The HTTP client that the engines share: pauses, threads and the limits of patience."""

import datetime
import email.utils
import math
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import pytest
import tenacity
from servers import Reply, ScriptedServer

from storm_pipeline.errors import SearchError
from storm_pipeline.run.retrying import Patience
from storm_pipeline.sources.transport.gates import Limiter, Rate
from storm_pipeline.sources.transport.http import ApiClient


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
