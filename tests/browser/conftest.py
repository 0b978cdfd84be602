"""Fixtures of the tests in a real browser: Chromium, driven by Playwright, and a server over the scripted model.

They are of one module each, since Playwright holds the event loop of its thread as long as it is open.
"""

import shutil
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest
from llm import FakeModel
from playwright.sync_api import Browser, Page, expect, sync_playwright
from test_http_api import SMALL, answering, serving, watched
from test_resume import answers

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
TOKEN = "the-token-of-the-owner-of-this-server"
PATIENCE = 15_000  # milliseconds until a condition is given up
_OF_THE_NETWORK = ("Failed to load resource", "Failed to fetch", "network error")  # of a server that was killed
expect.set_options(timeout=PATIENCE)


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    if CHROMIUM is None:
        pytest.skip("no Chromium: install it (Debian: apt-get install chromium) to test the pages in a browser")
    with sync_playwright() as playwright:
        options = ["--no-sandbox", "--disable-dev-shm-usage"]
        yield playwright.chromium.launch(executable_path=CHROMIUM, args=options)


@dataclass
class Site:
    """A server in a process of its own, the model that its runs ask, and a client of its HTTP API."""

    model: FakeModel
    client: httpx.Client
    may_write: threading.Event
    place: Path
    process: Any = None

    @property
    def address(self) -> str:
        return str(self.client.base_url).rstrip("/")

    def start(self, topic: str = "Silk Road", **more: Any) -> str:
        """The name of a small run that was started."""
        answer = self.client.post("/runs", json={"topic": topic, "settings": SMALL, **more})
        assert answer.status_code == 202, answer.text
        return str(answer.json()["run"])

    def finished(self, topic: str = "Silk Road", **more: Any) -> str:
        """The name of a small run that is finished."""
        assert watched(self.client, run := self.start(topic, **more))[1] == "finished"
        return run


@contextmanager
def site_in(place: Path) -> Iterator[Site]:
    """A site that keeps its runs in a folder; sections are written while ``may_write`` is set."""
    may_write = threading.Event()
    may_write.set()

    def write(user: str) -> str:
        may_write.wait(PATIENCE / 1000)
        written: str = answers()["WriteSection"](user)
        return written

    with (
        FakeModel(answers() | {"WriteSection": write}) as model,
        serving(model.lm, place, token=TOKEN, GO_ON="1") as (client, process),
    ):
        yield Site(model, client, may_write, place, process)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with site_in(tmp_path_factory.mktemp("site")) as opened:
        yield opened


@pytest.fixture(scope="module")
def run(site: Site) -> str:
    """A finished run with an interview."""
    return site.finished(settings={"perspectives": 1, "turns": 1}, recipe="storm")


@dataclass
class Visit:
    """A visitor's window, and what must not happen in it: errors of scripts, refused content, requests elsewhere."""

    page: Page
    address: str
    faults: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.watch(self.page)

    def watch(self, page: Page) -> None:
        page.set_default_timeout(PATIENCE)
        page.on("pageerror", lambda error: self.faults.append(f"{page.url}: {error}"))
        page.on("console", lambda line: self._heard(line.type, line.text))
        page.on("request", lambda request: self._asked(request.url))
        page.on("dialog", lambda dialog: self.faults.append(f"dialog: {dialog.message}"))

    def _heard(self, kind: str, text: str) -> None:
        if kind == "error" and not any(words in text for words in _OF_THE_NETWORK):
            self.faults.append(text)

    def _asked(self, url: str) -> None:
        if not url.startswith((self.address, "data:", "blob:")):
            self.faults.append(f"asked for {url}")

    def another(self) -> Page:
        """Another window of the same browser and session."""
        page = self.page.context.new_page()
        self.watch(page)
        return page


Open = Callable[..., Visit]


@pytest.fixture
def visit(chromium: Browser, site: Site) -> Iterator[Open]:
    """Opens a window in a session of its own: ``visit(path, logged_in=True, **options of the browser's context)``."""
    opened: list[Visit] = []

    def go(path: str = "/", *, address: str = "", logged_in: bool = True, **options: Any) -> Visit:
        context = chromium.new_context(base_url=address or site.address, **options)
        one = Visit(context.new_page(), address or site.address)
        opened.append(one)
        if logged_in and not address:
            one.page.goto(f"/login?next={path}")
            one.page.get_by_label("Token").fill(TOKEN)
            one.page.get_by_role("button", name="Log in").click()
        else:
            one.page.goto(path)
        return one

    yield go
    for one in opened:
        one.page.context.close()
    assert [fault for one in opened for fault in one.faults] == []


__all__ = ["PATIENCE", "TOKEN", "Open", "Site", "Visit", "answering", "site_in"]
