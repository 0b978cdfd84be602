"""Tables of contents against a local server that speaks the MediaWiki API."""

import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from servers import Reply, Request, ScriptedServer

from storm_pipeline.errors import SearchError
from storm_pipeline.run.retrying import Patience
from storm_pipeline.sources.search.base import TableOfContents
from storm_pipeline.sources.search.tables_of_contents import WikipediaContents

ARTICLE = "\n\n\n".join(
    [
        *("The Silk Road was a network of routes.", "== History ==\nEarly.", "=== Han dynasty ===\nZhang Qian."),
        *("==== Exploration ====", "=== Tang  dynasty ===", "== Routes ==", "== See also ==", "=== Portals ==="),
        *("== Legacy ==", "== Notes and references ==", "=== Citations ===", "== External links ==\n"),
    ]
)
HEADINGS = (
    *((1, "History"), (2, "Han dynasty"), (3, "Exploration"), (2, "Tang dynasty"), (1, "Routes"), (1, "Legacy")),
)
TABLE = TableOfContents("Silk Road", HEADINGS)
BRISK = Patience(attempts=3, first_pause=0.001, longest_pause=0.02, total=60)
SLOW = Reply(delay=20)  # the server gives up waiting when the test ends


def article(text: str = ARTICLE, title: str = "Silk Road") -> Reply:
    page = {"pageid": 29, "ns": 0, "title": title, "extract": text}
    return Reply(body={"batchcomplete": "", "query": {"pages": {"29": page}}})


MISSING = Reply(body={"batchcomplete": "", "query": {"pages": {"-1": {"ns": 0, "title": "Nope", "missing": ""}}}})


def contents(server_url: str, cache: Path, **kwargs: Any) -> WikipediaContents:
    return WikipediaContents(cache, api=f"{server_url}/w/api.php", **{"patience": BRISK} | kwargs)


@contextmanager
def silent_port() -> Iterator[str]:
    """Address of a port where connections are neither accepted nor refused, as behind a firewall that drops packets."""
    with socket.socket() as listening, ExitStack() as stack:
        listening.bind(("127.0.0.1", 0))
        listening.listen(0)
        with suppress(TimeoutError):
            while True:  # fills the queue of connections that nobody accepts
                stack.enter_context(socket.create_connection(listening.getsockname(), 1))
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"


def test_a_network_that_swallows_packets_is_tried_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with silent_port() as url:
        source = WikipediaContents(tmp_path, api=f"{url}/w/api.php", patience=Patience(connect=0.3))
        tried, connect = list[float](), socket.create_connection
        monkeypatch.setattr(socket, "create_connection", lambda to, most: tried.append(most) or connect(to, most))

        def look_up(title: str) -> str:
            with pytest.raises(SearchError) as error:
                source.table_of_contents(title)
            return str(error.value)

        with ThreadPoolExecutor(5) as pool:
            said = list(pool.map(look_up, ["Silk", "Road", "Tea", "Salt", "Jade"] * 3))
        assert len(tried) == 1
    assert set(said) == {"Wikipedia could not be reached: nothing answers; check the network"}


def test_headings_without_back_matter(tmp_path: Path) -> None:
    with ScriptedServer(article()) as server:
        table = contents(server.url, tmp_path).table_of_contents("Silk_Road ")
    assert table == TABLE
    (request,) = server.requests
    assert request.path == "/w/api.php"
    asked = {"action": "query", "prop": "extracts", "titles": "Silk Road", "redirects": "1", "format": "json"}
    assert asked.items() <= request.query.items()
    assert request.headers["user-agent"].startswith("storm-pipeline/")
    assert request.headers["host"] == server.url.removeprefix("http://")


def test_redirects_give_the_title_they_lead_to(tmp_path: Path) -> None:
    with ScriptedServer(article("Short.", "Silk Road")) as server:
        table = contents(server.url, tmp_path).table_of_contents("Silk route")
    assert table == TableOfContents("Silk Road", ())


@pytest.mark.parametrize("title", ["", " _ ", "a|b", "a<b>", "#section", "x" * 256, "[[x]]"])
def test_what_can_be_no_title_asks_nobody(tmp_path: Path, title: str) -> None:
    with ScriptedServer(Reply(500)) as server:
        assert contents(server.url, tmp_path).table_of_contents(title) is None
    assert server.requests == []


def test_found_and_missing_are_remembered_on_disk(tmp_path: Path) -> None:
    def script(request: Request) -> Reply:
        return MISSING if request.query["titles"] == "Nope" else article()

    with ScriptedServer(script) as server:
        for _ in range(2):
            wiki = contents(server.url, tmp_path)
            assert wiki.table_of_contents("Silk Road") == TABLE
            assert wiki.table_of_contents("Nope") is None
        assert len(server.requests) == 2


def test_languages_and_hosts_do_not_mix(tmp_path: Path) -> None:
    with ScriptedServer(article()) as one, ScriptedServer(MISSING) as other:
        assert contents(one.url, tmp_path).table_of_contents("Silk Road")
        assert contents(other.url, tmp_path).table_of_contents("Silk Road") is None


@pytest.mark.parametrize(
    ("failure", "said", "attempts"),
    [
        *((Reply(403), "answered 403", 1), (Reply(500), "answered 500", 3), (Reply(429), "answered 429", 3)),
        (Reply(body="<html>Log in"), "unknown format", 1),
        *((Reply(body={"error": {"code": "x"}}), "unknown format", 1), (Reply(body=[1]), "unknown format", 1)),
        (Reply(body={"query": {"pages": {"9": {"pageid": 9, "title": "x"}}}}), "unknown format", 1),
        (Reply(reset=True), "could not be reached", 3),
    ],
)
def test_failures_are_search_errors_not_remembered(tmp_path: Path, failure: Reply, said: str, attempts: int) -> None:
    with ScriptedServer(failure) as server:
        with pytest.raises(SearchError, match=said):
            contents(server.url, tmp_path).table_of_contents("Silk Road")
        assert len(server.requests) == attempts
    assert not (tmp_path / "pages").exists()


def test_a_wikipedia_that_does_not_answer_is_soon_given_up(tmp_path: Path) -> None:
    titles = [f"Page {n}" for n in range(6)]
    with ScriptedServer(SLOW) as server:
        wiki = contents(server.url, tmp_path, patience=Patience(read=0.3, attempts=1, total=60))
        with ThreadPoolExecutor(6) as pool:
            failures = [future.exception() for future in [pool.submit(wiki.table_of_contents, t) for t in titles]]
        again = contents(server.url, tmp_path / "other")  # of the next run of the same process
        with pytest.raises(SearchError, match="left alone"):
            again.table_of_contents("Page 9")
        assert len(server.requests) in (2, 3)  # the third where two failures are not told in the same moment
    assert all(isinstance(failure, SearchError) for failure in failures)
    assert sum("left alone" in str(failure) for failure in failures) >= 3
