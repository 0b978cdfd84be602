"""Each page for everybody: axe-core finds no serious fault, in light and dark, on a phone and on a screen."""

from collections.abc import Iterator
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

PHONE, SCREEN = 390, 1440
RULES = {"light": {"resultTypes": ["violations"]}, "dark": {"runOnly": ["color-contrast"]}}
"""Scheme of colours → what axe-core is asked for: all in the light one, and what depends on colours in the dark one."""
EXAMPLE = ("/example", "/example/made", "/example/map", "/example/watch", "/example/wikitext")
PAGES = ("/", "/login", "/write", "/library", "/nothing", *EXAMPLE)
OF_RUNS = ("/read/{run}", "/read/{run}/made", "/read/{run}/map", "/watch/{run}", "/outline/{run}", "/watch/{active}")


@pytest.fixture(scope="module")
def active(site: Any, run: str) -> Iterator[str]:
    """A run that is under way as long as the pages are looked at."""
    site.may_write.clear()
    yield site.start("Tin Road", recipe="storm")
    site.may_write.set()


@pytest.fixture
def page(visit: Any) -> Page:
    """A window that lets axe-core in, which the pages' own rules would refuse."""
    looked_at: Page = visit("/", bypass_csp=True, reduced_motion="reduce").page
    return looked_at


def faults(page: Page) -> list[str]:
    """Serious faults of the page that is shown, at both widths and in both schemes; on the phone all is open."""
    found = []
    for width in (SCREEN, PHONE):
        page.evaluate("is => document.querySelectorAll('details').forEach(one => one.open ||= is)", width == PHONE)
        page.set_viewport_size({"width": width, "height": 900})
        wide = page.evaluate("document.documentElement.scrollWidth")
        found += [f"{width}: {wide} pixels wide"] if wide > width else []
        for scheme in RULES:
            page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
            for one in Axe().run(page, options=RULES[scheme]).response["violations"]:
                if one["impact"] in ("serious", "critical"):
                    nodes = "; ".join(f"{node['target']} {node['failureSummary']}" for node in one["nodes"][:3])
                    found.append(f"{width} {scheme} {one['id']}: {nodes}")
    return found


@pytest.mark.parametrize("path", PAGES)
def test_a_page_has_no_serious_fault(page: Page, path: str) -> None:
    page.goto(path)
    assert faults(page) == []


@pytest.mark.parametrize("path", OF_RUNS)
def test_a_page_of_a_run_has_no_serious_fault(page: Page, path: str, run: str, active: str) -> None:
    page.goto(path.format(run=run, active=active))
    assert faults(page) == []


def test_a_page_after_a_form_has_no_serious_fault(page: Page, run: str) -> None:
    page.goto("/write?topic=Amber+Road")
    page.get_by_role("button", name="See what it will take").click()
    expect(page.get_by_role("heading", name="What it will take")).to_be_visible()
    assert faults(page) == []
    page.goto(f"/read/{run}")
    page.get_by_label("A question, answered from what this run has read").fill("Who used the road?")
    page.get_by_role("button", name="Ask").click()
    expect(page.get_by_role("heading", name="Who used the road?")).to_be_visible()
    assert faults(page) == []
    page.get_by_role("link", name="Back to the article").click()
    page.get_by_role("button", name="Make a read-only address").click()
    page.goto(page.get_by_label("Anyone with this address").input_value())
    assert faults(page) == []
