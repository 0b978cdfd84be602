"""Tables of contents against a local server that speaks the MediaWiki API."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from servers import Reply, Request, ScriptedServer

from storm_pipeline.errors import SearchError, SettingsError
from storm_pipeline.run.retrying import Patience
from storm_pipeline.sources.search.tables_of_contents import TableOfContents, WikipediaContents

SECTIONS = (
    *((1, "History"), (2, "<i>Han</i> dynasty"), (3, "Exploration"), (2, "Tang  dynasty"), (1, "Routes")),
    *((1, "See also"), (2, "Portals"), (1, "Legacy"), (1, "Notes and references"), (2, "Citations")),
    (1, "External links"),
)
HEADINGS = (
    *((1, "History"), (2, "Han dynasty"), (3, "Exploration"), (2, "Tang dynasty"), (1, "Routes"), (1, "Legacy")),
)
TABLE = TableOfContents("Silk Road", HEADINGS)
BRISK = Patience(attempts=3, first_pause=0.001, longest_pause=0.02, total=60)
SLOW = Reply(delay=20)  # the server gives up waiting when the test ends


def article(sections: Sequence[tuple[int, str]] = SECTIONS, title: str = "Silk Road") -> Reply:
    found = [{"toclevel": level, "level": str(level + 1), "line": line} for level, line in sections]
    return Reply(body={"parse": {"title": title, "pageid": 29, "sections": found}})


MISSING = Reply(body={"error": {"code": "missingtitle", "info": "The page you specified doesn't exist."}})


def contents(server_url: str, cache: Path, **kwargs: Any) -> WikipediaContents:
    return WikipediaContents(cache, api=f"{server_url}/w/api.php", **({"patience": BRISK} | kwargs))


def test_headings_without_back_matter(tmp_path: Path) -> None:
    with ScriptedServer(article()) as server:
        table = contents(server.url, tmp_path).table_of_contents("Silk_Road ")
    assert table == TABLE
    (request,) = server.requests
    assert request.path == "/w/api.php"
    asked = {"action": "parse", "prop": "sections", "page": "Silk Road", "redirects": "1", "format": "json"}
    assert asked.items() <= request.query.items()
    assert request.headers["host"] == server.url.removeprefix("http://")


def test_redirects_give_the_title_they_lead_to(tmp_path: Path) -> None:
    with ScriptedServer(article((), "Silk Road")) as server:
        table = contents(server.url, tmp_path).table_of_contents("Silk route")
    assert table == TableOfContents("Silk Road", ())


@pytest.mark.parametrize("title", ["", " _ ", "a|b", "a<b>", "#section", "x" * 256, "[[x]]"])
def test_what_can_be_no_title_asks_nobody(tmp_path: Path, title: str) -> None:
    with ScriptedServer(Reply(500)) as server:
        assert contents(server.url, tmp_path).table_of_contents(title) is None
    assert server.requests == []


def test_found_and_missing_are_remembered_on_disk(tmp_path: Path) -> None:
    def script(request: Request) -> Reply:
        return MISSING if request.query["page"] == "Nope" else article()

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
    "failure", [Reply(429), Reply(429, headers={"Retry-After": "9999"}), Reply(503), Reply(reset=True), SLOW]
)
def test_what_may_pass_is_tried_again(tmp_path: Path, failure: Reply) -> None:
    with ScriptedServer(failure, article()) as server:
        patience = replace(BRISK, read=0.5 if failure is SLOW else 10)
        assert contents(server.url, tmp_path, patience=patience).table_of_contents("Silk Road") == TABLE
        assert len(server.requests) == 2


@pytest.mark.parametrize(
    ("failure", "said", "attempts"),
    [
        *((Reply(403), "answered 403", 1), (Reply(500), "answered 500", 3), (Reply(429), "answered 429", 3)),
        (Reply(body="<html>Log in"), "web page instead of JSON", 1),
        *((Reply(body={"error": {"code": "x"}}), "unknown format", 1), (Reply(body=[1]), "unknown format", 1)),
        (Reply(body={"parse": {"title": "x", "sections": [{"line": "y"}]}}), "unknown format", 1),
        (Reply(reset=True), "could not be reached", 3),
    ],
)
def test_failures_are_search_errors_not_remembered(tmp_path: Path, failure: Reply, said: str, attempts: int) -> None:
    with ScriptedServer(failure) as server:
        with pytest.raises(SearchError, match=said):
            contents(server.url, tmp_path).table_of_contents("Silk Road")
        assert len(server.requests) == attempts
    assert not (tmp_path / "pages").exists()


@pytest.mark.parametrize("language", ["", "e", "../x", "en.evil.example/", "e n"])
def test_an_odd_language_is_refused(tmp_path: Path, language: str) -> None:
    with pytest.raises(SettingsError, match="not a language code"):
        WikipediaContents(tmp_path, language)


def test_a_wikipedia_that_does_not_answer_is_soon_given_up(tmp_path: Path) -> None:
    titles = [f"Page {n}" for n in range(6)]
    with ScriptedServer(SLOW) as server:
        wiki = contents(server.url, tmp_path, patience=Patience(attempts=1, read=0.3, total=60))
        with ThreadPoolExecutor(6) as pool:
            failures = [future.exception() for future in [pool.submit(wiki.table_of_contents, t) for t in titles]]
        again = contents(server.url, tmp_path / "other")  # of the next run of the same process
        with pytest.raises(SearchError, match="left alone"):
            again.table_of_contents("Page 9")
        assert len(server.requests) in (2, 3)  # the third where two failures are not told in the same moment
    assert all(isinstance(failure, SearchError) for failure in failures)
    assert sum("left alone" in str(failure) for failure in failures) >= 3
