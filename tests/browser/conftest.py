"""Fixtures of the tests in a real browser: Chromium, driven by Playwright, and a server over the scripted model.

They are of one module each, since Playwright holds the event loop of its thread as long as it is open.
"""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from browsing import Site, Visit, launched, site_in
from playwright.sync_api import Browser

Open = Callable[..., Visit]


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    with launched() as browser:
        yield browser


@pytest.fixture(scope="module")
def site(chromium: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with site_in(tmp_path_factory.mktemp("site")) as opened:
        yield opened


@pytest.fixture(scope="module")
def run(site: Site) -> str:
    """A finished run with an interview."""
    return site.finished(settings={"perspectives": 1, "turns": 1}, recipe="storm")


@pytest.fixture
def visit(chromium: Browser, site: Site) -> Iterator[Open]:
    """Opens a window in a session of its own: ``visit(path, logged_in=True, **options of the browser's context)``."""
    opened: list[Visit] = []

    def go(path: str = "/", *, address: str = "", logged_in: bool = True, **options: Any) -> Visit:
        address = address or site.address
        context = chromium.new_context(base_url=address, **options)
        one = Visit(context.new_page(), address)
        opened.append(one)
        if logged_in:
            one.log_in(path)
        else:
            one.page.goto(path)
        return one

    yield go
    for one in opened:
        one.page.context.close()
    assert [fault for one in opened for fault in one.faults] == []
