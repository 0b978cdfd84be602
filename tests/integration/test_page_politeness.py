"""robots.txt asked once and heeded, few requests to one site at once."""

import contextlib
import gc
import socket
import threading
import time
import tracemalloc
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from protego import Protego
from servers import Reply, Request, ScriptedServer, closed_port

from storm_pipeline.errors import PageError
from storm_pipeline.sources.pages.connection import Access, Limits
from storm_pipeline.sources.pages.fetch import Politeness, fetch_page
from storm_pipeline.sources.transport import gates

HERE = Access(allow=lambda address: address.is_loopback)
BRISK = Limits(connect=2, read=2, total=30)
PAGE = Reply(body="<p>page")


class Site:
    """A site with a robots.txt."""

    def __init__(self, robots: Reply, page: Reply = PAGE) -> None:
        self.robots = robots
        self.page = page

    def __call__(self, request: Request) -> Reply:
        return self.robots if request.path == "/robots.txt" else self.page


def text(body: str) -> Reply:
    return Reply(body=body, headers={"Content-Type": "text/plain"})


def read(url: str, polite: Politeness) -> bytes:
    return fetch_page(url, BRISK, HERE, polite.visit).body


def polite(**options: float) -> Politeness:
    return Politeness(BRISK, HERE, **options)  # type: ignore[arg-type]


RULES = """
User-agent: *
Disallow: /

User-agent: storm-pipeline
Disallow: /private
Disallow: /*.cgi$
Allow: /private/open
"""


@pytest.mark.parametrize(
    ("path", "allowed"),
    [("/", True), ("/private", False), ("/private/open/a", True), ("/x.cgi", False), ("/x.cgi?a", True)],
)
def test_rules_are_heeded(path: str, allowed: bool) -> None:
    with ScriptedServer(Site(text(RULES))) as server:
        if allowed:
            assert read(server.url + path, polite()) == b"<p>page"
        else:
            with pytest.raises(PageError, match=r"robots\.txt of 127.* forbids /"):
                read(server.url + path, polite())
    assert [request.path for request in server.requests] == ["/robots.txt", path.partition("?")[0]][: 1 + allowed]


def test_a_site_whose_host_is_unknown_is_gone() -> None:
    def unknown(_: str) -> list[str]:
        raise socket.gaierror(socket.EAI_NONAME, "no such host")

    with pytest.raises(PageError, match="is closed for now") as raised:
        fetch_page("http://gone.example/a", BRISK, HERE, Politeness(BRISK, Access(resolve=unknown)).visit)
    assert raised.value.is_gone


@pytest.mark.parametrize("status", [400, 401, 403, 404, 410, 429])
def test_without_robots_everything_is_allowed(status: int) -> None:
    with ScriptedServer(Site(Reply(status))) as server:
        assert read(server.url, polite()) == b"<p>page"


@pytest.mark.parametrize("robots", [Reply(500), Reply(503), Reply(reset=True), Reply(302, headers={"Location": "/a"})])
def test_where_robots_cannot_be_had_nothing_is_allowed(robots: Reply) -> None:
    script = Site(robots, page=Reply(302, headers={"Location": "/a"}))
    with ScriptedServer(script) as server, pytest.raises(PageError, match=r"closed for now: its robots\.txt"):
        read(server.url, polite())
    assert "/" not in {request.path for request in server.requests}
    with closed_port() as url, pytest.raises(PageError, match="could not be reached"):
        read(url, polite())


def test_robots_cannot_lead_inside() -> None:
    one_host = Access(allow=lambda address: str(address) == "127.0.0.1")
    robots = Reply(302, headers={"Location": "http://169.254.169.254/"})
    with ScriptedServer(Site(robots)) as server, pytest.raises(PageError, match="not a public address"):
        fetch_page(server.url, BRISK, one_host, Politeness(BRISK, one_host).visit)


def test_redirects_are_asked_about_too() -> None:
    with ScriptedServer(Site(text(RULES), Reply(302, headers={"Location": "/private"}))) as server:
        with pytest.raises(PageError, match="forbids /private"):
            read(server.url, polite())
        assert [request.path for request in server.requests] == ["/robots.txt", "/"]


def test_robots_are_asked_once_and_two_pages_at_once() -> None:
    inside, most, lock = 0, 0, threading.Lock()

    def script(request: Request) -> Reply:
        nonlocal inside, most
        if request.path == "/robots.txt":
            return Reply(404, delay=0.05)
        with lock:
            inside += 1
            most = max(most, inside)
        time.sleep(0.05)
        with lock:
            inside -= 1
        return PAGE

    manners = polite()
    with ScriptedServer(script) as server, ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda n: read(f"{server.url}/{n}", manners), range(8)))
    assert [request.path for request in server.requests].count("/robots.txt") == 1
    assert len(server.requests) == 9
    assert most == 2


def test_a_crawl_delay_is_heeded_up_to_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    slept = list[float]()
    monkeypatch.setattr(gates, "time", SimpleNamespace(monotonic=lambda: sum(slept), sleep=slept.append))
    with ScriptedServer(Site(text("User-agent: *\nCrawl-delay: 3600"))) as server:
        manners = polite(longest_delay=0.2)
        for _ in range(3):
            read(server.url, manners)
    assert slept == pytest.approx([0.2, 0.2])


def test_a_turn_that_comes_too_late_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    slept = list[float]()
    monkeypatch.setattr(gates, "time", SimpleNamespace(monotonic=lambda: sum(slept), sleep=slept.append))
    with ScriptedServer(Site(text("User-agent: *\nCrawl-delay: 3600"))) as server:
        manners = polite(longest_delay=31)
        read(server.url, manners)
        with pytest.raises(PageError, match="too few requests"):
            read(server.url, manners)
    assert (slept, len(server.requests)) == ([], 2)


def test_the_robots_files_of_redirects_count_against_the_time_of_the_page() -> None:
    delayed = Reply(404, delay=0.3)
    with contextlib.ExitStack() as stack:
        url = stack.enter_context(ScriptedServer(Site(delayed))).url
        for _ in range(4):
            redirect = Reply(302, headers={"Location": url})
            url = stack.enter_context(ScriptedServer(Site(delayed, redirect))).url
        with pytest.raises(PageError, match=r"robots\.txt of 127.* was not fetched in the time"):
            fetch_page(url, Limits(total=0.8), HERE, Politeness(BRISK, HERE).visit)


def test_a_slow_robots_file_is_there_for_the_next_page() -> None:
    manners = polite()
    with ScriptedServer(Site(Reply(404, delay=0.5))) as server:
        with pytest.raises(PageError, match="was not fetched in the time"):
            fetch_page(server.url, Limits(total=0.1), HERE, manners.visit)
        assert read(server.url, manners) == b"<p>page"
    assert [request.path for request in server.requests] == ["/robots.txt", "/"]


def test_a_robots_file_without_end_is_read_to_its_bound() -> None:
    rules = "User-agent: *\nDisallow: /a\n" + "# filler\n" * 100_000 + "Disallow: /b\n"
    with ScriptedServer(Site(text(rules))) as server:
        manners = polite()
        assert read(f"{server.url}/b", manners) == b"<p>page"
        with pytest.raises(PageError, match="forbids /a"):
            read(f"{server.url}/a", manners)


@pytest.mark.parametrize(
    ("named", "forbidden"),
    [
        ("User-agent: storm\nUSERAGENT storm-pipe*  # ours", True),
        ("User agent : x\n user-agent:*", True),
        ("User-agent: other\nUser-agent: storm-pipelines", False),
        ("User-agent: storm\nDisallow: /b\n\nUser-agent: *", False),
        ("User-agent: *\nSitemap: /s\nUser-agent: x", True),
    ],
)
def test_rules_are_those_of_the_agent_that_names_this_package_best(named: str, forbidden: bool) -> None:
    rules = f"User-agent: other\nDisallow: /\n{named}\nDisallow: /a\nUser-agent: other\nDisallow: /"
    with ScriptedServer(Site(text(rules))) as server:
        expected = pytest.raises(PageError, match="forbids /a") if forbidden else contextlib.nullcontext()
        with expected:
            read(f"{server.url}/a", polite())


def test_rules_are_not_kept_for_each_agent_of_a_group() -> None:
    agents = [*(f"User-agent: {number}" for number in range(1000)), *(f"user  agent {number}" for number in range(500))]
    rules = "\n".join([*agents, *("User-agent: " + "storm-pipeline"[:n] for n in range(1, 15)), "Allow: /\n" * 2000])
    with ScriptedServer(Site(text(rules))) as server:
        tracemalloc.start()
        try:
            assert read(server.url, polite()) == b"<p>page"
            assert tracemalloc.get_traced_memory()[1] < 10_000_000
        finally:
            tracemalloc.stop()


@settings(max_examples=20)
@given(st.binary(max_size=300))
def test_any_bytes_can_be_a_robots_file(data: bytes) -> None:
    with ScriptedServer(Site(Reply(body=b"User-agent: *\n" + data))) as server:
        try:
            assert read(server.url, polite(longest_delay=0.01)) == b"<p>page"
        except PageError as error:
            assert "robots.txt" in str(error)


@pytest.mark.parametrize("sought", ["a" * 40 + "b", "\u03b1" * 8 + "b"])
def test_many_wildcards_are_not_sought_in_a_long_url(sought: str) -> None:
    rules = "User-agent: *\n" + "".join(f"Disallow: /{n}*{sought}\n" for n in range(8_000))
    with ScriptedServer(Site(text(rules))) as server:
        manners = polite()
        assert read(f"{server.url}/{'a' * 300}", manners) == b"<p>page"
        with pytest.raises(PageError, match="has too many wildcards for a URL of 7,9"):
            read(f"{server.url}/{'a' * 7_900}", manners)


def test_the_parsed_rules_of_few_sites_are_kept() -> None:
    manners = polite()
    for n in range(6):
        with ScriptedServer(Site(text(f"User-agent: *\nAllow: /{n}"))) as server:
            assert read(server.url, manners) == b"<p>page"
    gc.collect()
    assert sum(type(one) is Protego for one in gc.get_objects()) <= 4


@pytest.mark.parametrize(
    "lines",
    ["Disallow: /" + "*a" * 60_000 + "$", "Disallow: /*a*b$\n" * 30_000, "User-agent: x\n" * 30_000 + "Disallow: /c"],
    ids=["wildcards", "rules", "robots"],
)
def test_hostile_robots_files_take_little_time(lines: str) -> None:
    start = time.process_time()
    with ScriptedServer(Site(Reply(body=f"User-agent: *\n{lines}\n\xff".encode("latin-1")))) as server:
        assert read(f"{server.url}/{'a' * 5000}", polite()) == b"<p>page"
    assert time.process_time() - start < 10
