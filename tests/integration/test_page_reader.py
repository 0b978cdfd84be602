"""An engine whose hits are read: passages where the page is had, the engine's snippet and a reason where not."""

import json
import re
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from llm import Answer, FakeModel, point_answers, points
from servers import Reply, Request, ScriptedServer
from test_points import INNS, JADE, SILK, TEXTS, TOLD, answers, of_section, storm, told

from storm_pipeline.errors import PageError, StoppedError
from storm_pipeline.evidence.page_reading import MOST_PASSAGES, PageReader, WebPages
from storm_pipeline.run.events import CallFinished
from storm_pipeline.sources.pages.connection import Access, Limits
from storm_pipeline.sources.pages.extract import Page
from storm_pipeline.sources.search.base import SearchEngine
from storm_pipeline.sources.search.edge import with_checks
from storm_pipeline.sources.search.fake import FakeSearch
from storm_pipeline.sources.search.result import SearchResult, Unread
from storm_pipeline.types import READING, Snippet, Work

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


@pytest.mark.parametrize(
    ("error", "reason"), [(PageError("404"), "404"), (KeyError(), "could not be read: it is damaged")]
)
def test_passages_that_match_stand_for_the_snippet(reader: Make, error: Exception, reason: str) -> None:
    about = page("https://a.org/1", author="Jane", site="A", language="en", published="2021-02-03")
    engine = reader(fetching({"https://a.org/1": about, "https://b.org/2": error}))
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
    assert result.unread == (Unread("https://b.org/2", reason),)
    assert result.read == ("https://a.org/1",)


@pytest.mark.parametrize(
    ("hit", "final", "is_known"),
    [
        ("https://doi.org/10.1%2FA?to=10.1/b", "https://final.org/x.pdf", True),
        ("https://a.org/1", "http://m.a.org/2", True),
        ("https://a.org/1", "https://who.int/x", False),  # another's page, whatever was said of a.org's
    ],
)
def test_page_numbers_and_the_final_address_are_kept(reader: Make, hit: str, final: str, is_known: bool) -> None:
    pdf = Page(final, "On Paper", ((3, "Silk was sold."), (7, "Paper was invented in Luoyang.")), site="Final")
    doi = None if "/doi.org" in hit else "10.1/a"
    hits = [replace(HITS[0], url=hit, author="Doe", site="A", doi=doi, work=Work(volume="7"))]
    (found, *_) = reader(fetching({hit: pdf}), hits=hits).search("invention of paper", 5).snippets
    assert (found.url, found.title, found.page, found.site) == (final, "On Paper", 7, "Final")
    told = (found.published, found.author, found.doi, found.work)
    assert told == (("2020-01-01", "Doe", "10.1/a", Work(volume="7")) if is_known else (None,) * 4)


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


def test_slow_pages_of_one_host_leave_readers_to_others(reader: Make) -> None:
    come, slow = threading.Event(), list[bool]()

    def fetch(url: str) -> Page:
        if "/b.org" not in url:
            slow.append(threading.current_thread().daemon)
            come.wait(60)
        else:
            assert len(slow) <= 2 and all(slow)  # the program ends without them
            come.set()
        return page(url)

    hits = [Snippet(f"https://a.org/{number}", "", "engine's") for number in range(20)]
    result = reader(fetch, hits=[*hits, HITS[1]]).search("silk", 30)
    assert (len(result.read), result.unread) == (21, ())


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
    assert (result.snippets, server.requests) == (tuple(hits), [])
    assert [one.url for one in result.unread] == [f"{server.url}/x"]
    assert "not a public address" in result.unread[0].reason


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
    assert (unmatched.pages, unmatched.snippets) == (result.pages, (HITS[0],))
    assert unmatched.unread == (Unread("https://a.org/1", "has no passage that matches the query"),)


def test_of_an_endless_page_the_first_passages_are_kept_and_that_is_told(reader: Make) -> None:
    text = "\n\n".join(f"On day {n} they sold silk." for n in range(MOST_PASSAGES + 50))
    engine = reader(fetching({"https://a.org/1": page("https://a.org/1", text)}), hits=HITS[:1], cut=str.splitlines)
    result = engine.search("silk", 5)
    assert [len(one.passages) for one in result.pages] == [MOST_PASSAGES]
    assert "1,050 passages, of which the first 1000 are used" in result.lost[0]


GUIDE = "https://example.org/guide"
CAMELS = "Bactrian camels carried most goods of the Silk Road, up to 200 kg each."
TOLD[CAMELS] = "Most goods of the Silk Road were carried by Bactrian camels, up to 200 kg each"


def web(query: str) -> list[Snippet]:
    """A page of three passages, and two others."""
    guide = [Snippet(GUIDE, "A guide to the Silk Road", text, place=i) for i, text in enumerate((SILK, INNS, CAMELS))]
    return [*guide[:1], *(Snippet(f"https://example.org/{n}", n.capitalize(), t) for n, t in TEXTS.items()), *guide[1:]]


def chosen(user: str, *titles: str) -> str:
    lines = re.findall(r"^(?:Pages: )?(\d+)\. (.+)$", user, re.M)
    return json.dumps({"chosen": [int(n) for title in titles for n, line in lines if line.startswith(title)]})


READS = {"ChoosePages": lambda user: chosen(user, "A guide"), "ReadPage": lambda user: told(user, INNS, CAMELS)}


def test_what_a_page_tells_beside_the_answers_is_a_finding(tmp_path: Path) -> None:
    with FakeModel(answers(points(), **READS)) as server:
        article = storm(server, tmp_path, FakeSearch(web)).write("Silk Road")
    (choice,), (read,), (planned,) = map(server.of, ("ChoosePages", "ReadPage", "FindPoints"))
    assert re.search(r"A guide to the Silk Road \(example.org, 46 words, 100% read\): ", choice.user)
    assert read.user.index(SILK) < read.user.index(INNS) < read.user.index(CAMELS)
    assert f"- {TOLD[SILK]}." in read.user.partition("Passages:")[0]  # known already
    assert TOLD[INNS] in planned.user and TOLD[CAMELS] in planned.user
    (held,) = (own for own in article.conversations if own.perspective.focus == READING)
    assert [sentence.text for turn in held.turns for sentence in turn.answer] == [f"{TOLD[t]}." for t in (INNS, CAMELS)]


def test_what_was_read_is_not_shown_again_for_a_point(tmp_path: Path) -> None:
    said = points(sections=[of_section(1, points=["What carried the goods of the Silk Road?"])])
    reads = {**READS, "AnswerPoints": lambda user: point_answers(told(user, JADE))}
    with FakeModel(answers(said, **reads)) as server:
        storm(server, tmp_path, FakeSearch(web)).write("Silk Road")
    (asked,) = server.of("AnswerPoints")
    assert JADE in asked.user and CAMELS not in asked.user


@pytest.mark.parametrize(
    ("given", "reply"),
    [
        *(({"reading_tokens": tokens}, READS["ChoosePages"]) for tokens in (0, 10)),
        *(({}, reply) for reply in ('{"chosen": [99, 0, -1]}', "no", '{"chosen": []}')),
    ],
)
def test_no_page_is_read_beyond_the_setting_or_by_a_choice_of_nonsense(
    tmp_path: Path, given: dict[str, int], reply: Answer
) -> None:
    with FakeModel(answers(points(), **READS | {"ChoosePages": reply})) as server:
        article = storm(server, tmp_path, FakeSearch(web), **given).write("Silk Road")
    assert not server.of("ReadPage") and article.sections
    failed = any("no page was read from end to end" in problem.detail for problem in article.report.problems)
    assert failed == (reply == "no")


def test_a_page_says_nothing_and_another_one_fails(tmp_path: Path) -> None:
    reads = {
        "ChoosePages": lambda user: chosen(user, "A guide", "Jade"),
        "ReadPage": lambda user: "" if JADE in user else "The sources do not say.",
    }
    with FakeModel(answers(points(), **reads)) as server:
        article = storm(server, tmp_path, FakeSearch(web)).write("Silk Road")
    assert article.sections and not any(own.perspective.focus == READING for own in article.conversations)
    assert any("reading 'Jade'" in problem.detail for problem in article.report.problems)


def test_of_a_long_page_the_passages_on_the_topic_are_read(tmp_path: Path) -> None:
    filler = [f"The weather of year {n} was mild in the hills, and the harvest was good there." for n in range(46)]
    texts = [*filler[:20], INNS, *filler[20:], CAMELS]
    pages = [Snippet(GUIDE, "A guide to the Silk Road", text, place=i) for i, text in enumerate(texts)]
    with FakeModel(answers(points(), **READS)) as server:
        storm(server, tmp_path, FakeSearch(lambda _: pages), evidence=200, top_k=50).write("Silk Road")
    (read,) = server.of("ReadPage")
    assert read.user.index(INNS) < read.user.index(CAMELS)
    assert sum(text in read.user for text in filler) < 20


@pytest.mark.parametrize("asked", [1, 2])
def test_a_run_that_is_killed_while_it_reads_buys_nothing_twice(tmp_path: Path, asked: int) -> None:
    with FakeModel(answers(points(), **READS)) as server:
        whole = storm(server, tmp_path / "whole", FakeSearch(web)).write("Silk Road")
        calls = len(server.asked)

        class Killing:
            left = asked

            def emit(self, event: object) -> None:
                if isinstance(event, CallFinished) and event.stage == "reading":
                    self.left -= 1
                    if not self.left:
                        killed.stop()

        killed = storm(server, tmp_path, FakeSearch(web), sinks=[Killing()])
        with pytest.raises(StoppedError):
            killed.write("Silk Road")
        article = storm(server, tmp_path, FakeSearch(web)).resume(next((tmp_path / "runs").iterdir()))
        assert len(server.asked) == 2 * calls
    assert article.to_markdown() == whole.to_markdown()
