"""Whole runs over engines that fail, refuse and limit, and the same runs again from memory."""

import itertools
import threading
from pathlib import Path
from zlib import crc32

import pytest
from llm import FakeModel
from servers import Reply, Request, ScriptedServer
from test_pipeline import storm

from storm_pipeline.errors import NothingFoundError, SettingsError
from storm_pipeline.sources.transport.gates import Limiter, forget_gates
from storm_pipeline.types import Article

RATE = 10.0
"""Requests a second that each engine is asked at most."""


class Instance:
    """A SearXNG instance over a small world, which answers the same query the same way."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __call__(self, request: Request) -> Reply:
        query = request.query["q"]
        hits = [
            {
                "url": f"https://{self.name}.org/{crc32(query.encode()) % 5}-{n}",
                "title": f"The Silk Road by {self.name}",
                "content": f"Caravans of the Silk Road carried {self.name} goods number {n} to the towns of {query}.",
            }
            for n in range(2)
        ]
        return Reply(body={"results": hits if request.query["pageno"] == "1" else []})


class Faulty(Instance):
    """Breaks off every second request."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self._count = itertools.count()

    def __call__(self, request: Request) -> Reply:
        return Reply(500) if next(self._count) % 2 else super().__call__(request)


class Strict(Instance):
    """Refuses whoever comes again too soon."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self._last = 0.0
        self._lock = threading.Lock()

    def __call__(self, request: Request) -> Reply:
        with self._lock:
            soon, self._last = request.at - self._last < 0.8 / RATE, request.at
        return Reply(429, headers={"Retry-After": "1"}) if soon else super().__call__(request)


def write(model: FakeModel, tmp_path: Path, spec: str, **changes: object) -> Article:
    given = {"search": spec, "search_rate": RATE, "perspectives": 1, "turns": 2, "read_pages": "never"}
    return storm(model, tmp_path, **(given | changes)).write("Silk Road")


def found(article: Article) -> dict[str, set[str]]:
    """The snippets of each source; their order is that in which threads came."""
    return {source.id: {snippet.id for snippet in source.snippets} for source in article.sources}


def test_a_run_survives_engines_keeps_their_rate_and_replays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rates, set_rate = dict[Limiter, float](), Limiter.set_rate
    monkeypatch.setattr(Limiter, "set_rate", lambda own, rate: rates.update({own: rate}) or set_rate(own, rate))
    with FakeModel() as model, ScriptedServer(Faulty("alpha")) as faulty, ScriptedServer(Strict("beta")) as strict:
        spec = f"fused:searxng:{faulty.url}+searxng:{strict.url}"
        article = write(model, tmp_path, spec)
        assert all(len(server.requests) > 6 for server in (faulty, strict))
    assert {*rates.values()} == {RATE}
    assert {source.url.split("/")[2] for source in article.sources} == {"alpha.org", "beta.org"}
    forget_gates()
    with FakeModel() as model:
        again = write(model, tmp_path, spec, search_cache="replay")
        assert found(again) == found(article)
        with pytest.raises(NothingFoundError, match="was not recorded"):
            write(model, tmp_path, spec, search_cache="replay", top_k=7)


def test_an_engine_that_is_lost_is_told_in_the_report(tmp_path: Path) -> None:
    with FakeModel() as model, ScriptedServer(Reply(401)) as closed, ScriptedServer(Instance("beta")) as fine:
        article = write(model, tmp_path, f"fused:searxng:{closed.url}+searxng:{fine.url}", search_rate=1000.0)
    told = [problem.detail for problem in article.report.problems if problem.kind == "degradation"]
    assert any("`searxng` failed" in detail and "401" in detail for detail in told)
    assert article.references


def test_a_replay_names_its_engine(tmp_path: Path) -> None:
    with FakeModel() as model, pytest.raises(SettingsError, match="--search"):
        write(model, tmp_path, "auto", search_cache="replay")
