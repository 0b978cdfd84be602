"""Two people rate in two browsers, to the table; one leaves and returns; strangers and a closed round are told so."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from browsing import Visit, launched
from playwright.sync_api import Browser, Page, expect
from rounds import serving, set_up_round, study_file

from storm_bench.raters.report import write_report
from storm_bench.raters.results import Results
from storm_bench.raters.store import Ratings

HEAD = 'compare = ["oRAG", "STORM"]\nrubrics = ["storm"]\nerrors = true\nusefulness = true'
FACTS = '[[facts]]\ntopic = "Road 0"\nfacts = ["The road is long.", "It was built in 100 BC."]'
Open = Callable[..., Page]


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    with launched() as browser:
        yield browser


@pytest.fixture
def place(tmp_path: Path) -> tuple[Path, dict[str, str]]:
    """A new round of one pair: its folder, and rater → token."""
    path = study_file(tmp_path, head=HEAD, topics=1, more=FACTS)
    return tmp_path / "round", set_up_round(path, tmp_path / "round")[1]


@pytest.fixture
def site(place: tuple[Path, dict[str, str]]) -> Iterator[str]:
    with serving(place[0]) as (address, _):
        yield address


@pytest.fixture
def visit(chromium: Browser, site: str) -> Iterator[Open]:
    """Opens a window of a browser of its own: ``visit(path, **options of the browser's context)``."""
    opened: list[Visit] = []

    def go(path: str, **options: Any) -> Page:
        opened.append(Visit(chromium.new_context(base_url=site, **options).new_page(), site))
        opened[-1].page.goto(path)
        return opened[-1].page

    yield go
    for one in opened:
        one.page.context.close()
    assert [fault for one in opened for fault in one.faults] == []


def rate_article(page: Page, keys: str) -> None:
    """Answer the questions of a page by keys, and go on by ``n`` when all is saved."""
    for key in keys:
        page.keyboard.press(key)
    expect(page.get_by_text("Saved", exact=True)).to_be_visible()
    address = page.url
    page.keyboard.press("n")
    page.wait_for_url(lambda url: url != address)


def test_two_raters_in_two_browsers_to_the_table(
    place: tuple[Path, dict[str, str]], visit: Open, tmp_path: Path
) -> None:
    folder, tokens = place
    pages = {name: visit(f"/enter?key={token}") for name, token in tokens.items()}
    for name, page in pages.items():
        expect(page.get_by_text(f"You rate as {name}")).to_be_visible()
        page.get_by_role("link", name="Begin").click()
    for page in pages.values():
        cite = page.locator(".cite").first
        cite.hover()
        expect(cite.locator(".card")).to_contain_text("The road was built in 100 BC.")
        page.mouse.move(0, 0)
        page.get_by_role("button", name="Mark sentence 2").click()
        expect(page.get_by_label("What is wrong with it")).to_be_focused()
        page.get_by_label("What is wrong with it").select_option("irrelevant")
        page.get_by_role("button", name="Mark", exact=True).click()
        expect(page.locator("[data-marks]")).to_have_text(re.compile("Sentence 2: irrelevant source"))
        page.get_by_label("Comments on this article").fill("A fine one.")
        page.get_by_role("heading", level=1).click()
    rate_article(pages["anna"], "45674121")  # five of STORM's, two facts, and that all is marked
    rate_article(pages["boris"], "33333141")
    for page in pages.values():
        expect(page.get_by_text("Article 2 of 2 on this topic")).to_be_visible()
        rate_article(page, "22222221")
        expect(page.get_by_text("Both articles compared")).to_be_visible()
        rate_article(page, "1")
        rate_article(page, "543")
        expect(page.get_by_text("All is done. Thank you.")).to_be_visible()
    results = Results.of(Ratings(folder))
    assert [(row["done"], row["of"]) for row in results.progress] == [(4, 4), (4, 4)]
    first = {rater: own[0].articles[0] for rater, own in results.round.assigned.items()}
    assert sorted(first.values()) == [0, 1]  # each order once
    by_rater = {(one.rater, one.question): one.value for one in results.ratings if one.article == first[one.rater]}
    scales = list(results.questions)
    assert [by_rater["anna", name] for name in scales] == list("45674")
    assert [by_rater["boris", name] for name in scales] == list("33333")
    assert [by_rater["anna", f"fact.{n}"] for n in (1, 2)] == ["fully", "partly"]
    assert by_rater["boris", "fact.2"] == "wrong"
    assert results.preferences[0]["preferred"] == [1, 1]
    assert [(row["marked"], row["irrelevant"]) for row in results.errors] == [(1, 1), (1, 1)]
    assert [sum(n * i for i, n in enumerate(row["counts"], 1)) / 2 for row in results.usefulness] == [5, 4, 3]
    system = results.round.study.articles[first["anna"]].system
    report = write_report(tmp_path / "report", results)[0].read_text("utf-8")
    (row,) = re.findall(r"^\| Interest Level \|(.+)\|$", report, re.M)[:1]
    cells = [cell.strip() for cell in row.split("|")]
    assert [cells[0].split()[0], cells[2].split()[0]] == (["2.50", "3.00"] if system == "STORM" else ["3.00", "2.50"])
    assert "A fine one." in report


def test_a_rater_who_leaves_and_returns(place: tuple[Path, dict[str, str]], visit: Open) -> None:
    page = visit(f"/enter?key={place[1]['anna']}")
    page.get_by_role("link", name="Begin").click()
    page.get_by_label("5 Well told").check()
    expect(page.get_by_text("Saved", exact=True)).to_be_visible()
    page.context.close()
    page = visit(f"/enter?key={place[1]['anna']}", viewport={"width": 390, "height": 844}, has_touch=True)
    page.get_by_role("link", name="Begin").tap()
    expect(page.get_by_label("5 Well told")).to_be_checked()
    page.get_by_role("link", name="To the questions").tap()
    page.get_by_label("6 Very well ordered").tap()
    page.get_by_role("button", name="Next").tap()
    expect(page.get_by_role("alert").first).to_have_text("6 questions without an answer")
    expect(page.get_by_label("6 Very well ordered")).to_be_checked()


def test_what_was_given_while_the_server_was_away_is_sent_later(
    place: tuple[Path, dict[str, str]], visit: Open
) -> None:
    page = visit(f"/enter?key={place[1]['anna']}")
    page.get_by_role("link", name="Begin").click()
    page.wait_for_load_state()  # the script listens
    page.context.set_offline(True)
    page.keyboard.press("4")
    expect(page.get_by_text("Not saved yet")).to_be_visible()
    page.context.set_offline(False)
    expect(page.get_by_text("Saved", exact=True)).to_be_visible()
    assert [one.value for one in Ratings(place[0]).answers()] == ["4"]


@pytest.mark.parametrize(("other", "said"), [("", "open the address"), ("boris", "this page belongs to another")])
def test_what_was_given_after_the_session_ended_is_sent_in_the_next(
    place: tuple[Path, dict[str, str]], visit: Open, other: str, said: str
) -> None:
    page = visit(address := f"/enter?key={place[1]['anna']}")
    page.get_by_role("link", name="Begin").click()
    page.wait_for_load_state()  # the script listens
    if other:
        page.context.new_page().goto(f"/enter?key={place[1][other]}")
    else:
        page.context.clear_cookies()
    page.keyboard.press("4")
    expect(page.get_by_text(f"Not saved yet: {said}")).to_be_visible()
    page.context.new_page().goto(address)
    expect(page.get_by_text("Saved", exact=True)).to_be_visible()
    assert [(one.rater, one.value) for one in Ratings(place[0]).answers()] == [("anna", "4")]


def test_strangers_and_a_closed_round(place: tuple[Path, dict[str, str]], visit: Open) -> None:
    folder, tokens = place
    page = visit("/enter?key=wrong")
    expect(page.get_by_role("alert")).to_contain_text("ask for a new one")
    page.goto("/sheet/1-1")
    expect(page.get_by_role("heading", name="Who are you?")).to_be_visible()
    page.goto(f"/enter?key={tokens['anna']}")
    page.get_by_role("link", name="Begin").click()
    Ratings(folder).set_open(is_open=False)
    page.get_by_label("5 Well told").check()
    expect(page.get_by_text("Not saved: this round is closed")).to_be_visible()
    page.get_by_role("button", name="Next").click()
    expect(page.get_by_role("alert")).to_contain_text("This round is closed")
    page.goto("/")
    expect(page.get_by_role("status")).to_contain_text("This round is closed")
    assert Ratings(folder).answers() == []


@pytest.mark.parametrize("path", ["/", "/sheet/1-1", "/sheet/1-pair", "/sheet/end", "/enter?key=wrong"])
def test_a_page_has_no_serious_fault(place: tuple[Path, dict[str, str]], visit: Open, path: str) -> None:
    page = visit(f"/enter?key={place[1]['anna']}", bypass_csp=True, reduced_motion="reduce")
    page.goto(path)
    for width in (1440, 390):
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
            found = Axe().run(page, options={"resultTypes": ["violations"]}).response["violations"]
            assert [(one["id"], one["nodes"][0]["target"]) for one in found] == []
