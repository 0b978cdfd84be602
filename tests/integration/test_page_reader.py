"""An engine whose hits are read: passages where the page is had, the engine's snippet and a reason where not."""

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest
from servers import Reply, Request, ScriptedServer

from storm_pipeline.errors import PageError
from storm_pipeline.evidence.page_reading import MOST_PASSAGES, PageReader, WebPages
from storm_pipeline.sources.pages.address_checks import Access
from storm_pipeline.sources.pages.connection import Limits
from storm_pipeline.sources.pages.extract import Page
from storm_pipeline.sources.search.base import SearchEngine
from storm_pipeline.sources.search.edge import with_checks
from storm_pipeline.sources.search.fake import FakeSearch
from storm_pipeline.sources.search.result import SearchResult, Unread
from storm_pipeline.types import Snippet

HITS = [
    Snippet("https://a.org/1", "One", "what the engine shows of one", "2020-01-01", engine="fake"),
    Snippet("https://b.org/2", "Two", "what the engine shows of two", engine="fake"),
    Snippet("https://b.org/2", "Two", "more of two", engine="fake"),
]
TOPICS = ["silk", "horses", "spices", "paper", "glass", "jade"]
LONG = "\n\n".join(
    " ".join(f"On day {n} of the journey the merchants sold {topic} in the town." for n in range(12))
    for topic in TOPICS
)
Pages = Mapping[str, Page | Exception]


def page(url: str, text: str = LONG, **more: str) -> Page:
    return Page(url, "", ((None, text),), **more)


def fetching(pages: Pages, asked: list[str] | None = None) -> Callable[[str], Page]:
    def fetch(url: str) -> Page:
        if asked is not None:
            asked.append(url)
        found = pages.get(url, PageError(f"{url} answered 404"))
        if isinstance(found, Exception):
            raise found
        return found

    return fetch


class Reading:
    """An engine whose hits are read."""

    def __init__(self, engine: SearchEngine, *args: Any, **options: Any) -> None:
        self._engine = with_checks(engine)
        self._reader = PageReader(*args, **options)

    def search(self, query: str, k: int) -> SearchResult:
        return self._reader.read(self._engine.search(query, k), query)

    def close(self) -> None:
        self._reader.close()


@pytest.fixture
def reader() -> Iterator[Callable[..., Reading]]:
    made: list[Reading] = []

    def make(*args: object, hits: list[Snippet] = HITS, **options: object) -> Reading:
        made.append(Reading(FakeSearch(lambda _: hits), *args, **options))
        return made[-1]

    yield make
    for one in made:
        one.close()


Make = Callable[..., Reading]


def test_passages_that_match_stand_for_the_snippet(reader: Make) -> None:
    about = page("https://a.org/1", author="Jane", site="A", language="en", published="2021-02-03")
    engine = reader(fetching({"https://a.org/1": about}))
    result = engine.search("who sold paper", 5)
    found = result.snippets
    assert [s.origin for s in found] == ["page"] * (len(found) - 2) + ["snippet"] * 2
    first = found[0]
    assert 1 <= len(found) - 2 <= 3
    assert "paper" in first.text
    assert first.text in " ".join(LONG.split())
    assert (first.url, first.title, first.engine) == ("https://a.org/1", "One", "fake")
    assert (first.author, first.site, first.language, first.published) == ("Jane", "A", "en", "2021-02-03")
    assert list(found[-2:]) == HITS[1:]
    assert result.unread == (Unread("https://b.org/2", "https://b.org/2 answered 404"),)
    assert result.read == ("https://a.org/1",)


def test_page_numbers_and_the_final_address_are_kept(reader: Make) -> None:
    pdf = Page("https://final.org/x.pdf", "On Paper", ((3, "Silk was sold."), (7, "Paper was invented in Luoyang.")))
    (found, *_) = reader(fetching({"https://a.org/1": pdf})).search("invention of paper", 5).snippets
    assert (found.url, found.title, found.page) == ("https://final.org/x.pdf", "On Paper", 7)
    assert found.published == "2020-01-01"


def test_a_page_that_says_nothing_of_the_query_is_no_better_than_the_snippet(reader: Make) -> None:
    engine = reader(fetching({"https://a.org/1": page("https://a.org/1")}), hits=HITS[:1])
    result = engine.search("quantum chromodynamics", 5)
    assert result.snippets == (HITS[0],)
    assert [one.url for one in result.unread] == ["https://a.org/1"]
    assert "no passage that matches" in result.unread[0].reason


def test_a_library_that_fails_costs_only_the_page(reader: Make) -> None:
    engine = reader(fetching({"https://a.org/1": RecursionError(), "https://b.org/2": page("https://b.org/2")}))
    result = engine.search("silk", 5)
    assert result.snippets[0] == HITS[0]
    assert result.snippets[1].origin == "page"
    assert [one.url for one in result.unread] == ["https://a.org/1"]
    assert "damaged" in result.unread[0].reason


def test_a_page_that_is_late_does_not_hold_up_a_search_and_serves_the_next(reader: Make) -> None:
    come = threading.Event()

    def fetch(url: str) -> Page:
        if url == "https://a.org/1":
            come.wait(60)
        return page(url)

    engine = reader(fetch, seconds=0.3)
    result = engine.search("silk", 5)
    assert result.snippets[0] == HITS[0]
    assert result.snippets[1].origin == "page"
    assert result.unread == (Unread("https://a.org/1", "was not read within 0.3 s"),)
    come.set()
    for _ in range(500):
        if (result := engine.search("silk", 5)).snippets[0].origin == "page":
            break
        time.sleep(0.01)
    assert (result.read, result.unread) == (("https://a.org/1", "https://b.org/2"), ())


def test_from_the_engine_over_the_wire_to_the_passage() -> None:
    def script(request: Request) -> Reply:
        if request.path == "/robots.txt":
            return Reply(body="User-agent: *\nDisallow: /secret", headers={"Content-Type": "text/plain"})
        if request.path == "/moved":
            return Reply(301, headers={"Location": "/page"})
        paragraphs = "".join(f"<p>{part}</p>" for part in LONG.split("\n\n"))
        return Reply(body=f"<html lang=en><title>Trade</title><body><article>{paragraphs}</article></body></html>")

    access, limits = Access(allow=lambda address: address.is_loopback), Limits(connect=2, read=2, total=5)
    with ScriptedServer(script) as server:
        hits = [Snippet(f"{server.url}/{name}", "", f"engine's {name}") for name in ("moved", "secret", "page")]
        engine = Reading(FakeSearch(lambda _: hits), WebPages(limits, access))
        result = engine.search("sold jade", 3)
        engine.close()
    found = result.snippets
    assert "jade" in found[0].text
    assert (found[0].url, found[0].title, found[0].language) == (f"{server.url}/page", "Trade", "en")
    assert [s.text for s in found if s.origin == "snippet"] == ["engine's secret"]
    assert [one.url for one in result.unread] == [f"{server.url}/secret"]
    assert "robots.txt" in result.unread[0].reason
    assert [request.path for request in server.requests].count("/robots.txt") == 1


def test_by_default_no_page_of_this_machine_is_read() -> None:
    with ScriptedServer(Reply(body="<p>inside")) as server:
        hits = [Snippet(f"{server.url}/x", "", "engine's")]
        engine = Reading(FakeSearch(lambda _: hits), WebPages())
        result = engine.search("inside", 3)
        engine.close()
    assert result.snippets == tuple(hits)
    assert [one.url for one in result.unread] == [f"{server.url}/x"]
    assert "not a public address" in result.unread[0].reason
    assert server.requests == []


def test_a_result_has_all_passages_of_the_pages_that_were_read(reader: Make) -> None:
    text = f"# The road\n\nIt was long.\n\n## Trade\n\n{LONG}"
    fetch = fetching({"https://a.org/1": Page("https://a.org/1", "The Road – A", ((None, text),), author="Jane")})
    result = reader(fetch, hits=HITS[:1]).search("who sold paper", 5)
    (whole,) = result.pages
    assert " ".join(one.text for one in whole.snippets) == f"It was long. {' '.join(LONG.split())}"
    assert [one.heading for one in whole.snippets] == ["", *["Trade"] * (len(whole.snippets) - 1)]
    assert [one.place for one in whole.snippets] == [*range(len(whole.snippets))]
    assert set(result.snippets) <= set(whole.snippets)
    assert {one.author for one in whole.snippets} == {"Jane"}
    unmatched = reader(fetch, hits=HITS[:1]).search("quantum chromodynamics", 5)
    assert unmatched.pages == result.pages


def test_of_an_endless_page_the_first_passages_are_kept_and_that_is_told(reader: Make) -> None:
    text = "\n\n".join(f"On day {n} they sold silk." for n in range(MOST_PASSAGES + 50))
    engine = reader(fetching({"https://a.org/1": page("https://a.org/1", text)}), hits=HITS[:1], cut=str.splitlines)
    result = engine.search("silk", 5)
    assert [len(one.passages) for one in result.pages] == [MOST_PASSAGES]
    assert "1,050 passages, of which the first 1000 are used" in result.lost[0]
