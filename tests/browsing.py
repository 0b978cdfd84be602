"""A browser's visits to a server over the scripted model."""

import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest
from llm import FakeModel
from playwright.sync_api import Browser, Page, expect, sync_playwright
from test_http_api import SMALL, serving, watched
from test_resume import answers

TOKEN = "the-token-of-the-owner-of-this-server"
PATIENCE = 60_000  # milliseconds until a condition is given up
_OF_THE_NETWORK = ("Failed to load resource", "Failed to fetch", "network error")  # of a server that was killed
expect.set_options(timeout=PATIENCE)


@contextmanager
def launched() -> Iterator[Browser]:
    """Chromium; the test is skipped where there is none."""
    names = ("chromium", "chromium-browser", "google-chrome")
    if (path := next(filter(None, map(shutil.which, names)), None)) is None:
        pytest.skip("no Chromium: install it (Debian: apt-get install chromium) to test the pages in a browser")
    with sync_playwright() as playwright:
        options = ["--no-sandbox", "--disable-dev-shm-usage"]
        yield playwright.chromium.launch(executable_path=path, args=options)


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
        run = self.start(topic, **more)
        assert watched(self.client, run)[1] == "finished"
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

    def log_in(self, path: str = "/") -> None:
        """Open a session, and go to a page."""
        self.page.goto(f"/login?next={path}")
        self.page.get_by_label("Token").fill(TOKEN)
        self.page.get_by_role("button", name="Log in").click()

    def another(self) -> Page:
        """Another window of the same browser and session."""
        page = self.page.context.new_page()
        self.watch(page)
        return page
