"""What a reader and a writer do on the pages, in a real browser."""

import io
import re
import zipfile
from pathlib import Path
from typing import Any

from browsing import TOKEN, site_in
from found_pages import page as found_page
from playwright.sync_api import Download, Page, expect
from test_cli_web import opened
from test_http_api import serving

ROOT = Path(__file__).resolve().parents[2]
EVIL = "<img src=http://evil.example/x onerror=alert(1)><script>alert(2)</script>"
NOTES = "\n\n".join([*(found_page(n, "Amber Road").text for n in range(6)), f"Amber Road goods: {EVIL} was sold."])
"""A document about the Amber Road, with a passage that is no friend of browsers."""


def passage_of_first_sentence(page: Page, how: str) -> str:
    """What the card of the first number of the article says, once it was pointed at or tapped."""
    cite = page.locator(".cite").first
    expect(cite.locator(".card")).to_be_hidden()
    (cite.tap if how == "tap" else cite.hover)()
    expect(cite.locator(".card")).to_be_visible()
    return cite.locator(".card").inner_text()


def saved(page: Page, button: str = "Save") -> bytes:
    """The file that a button saves."""
    with page.expect_download() as waiting:
        page.get_by_role("button", name=button, exact=True).click()
    download: Download = waiting.value
    return Path(download.path()).read_bytes()


def words_of(docx: bytes) -> str:
    with zipfile.ZipFile(io.BytesIO(docx)) as file:
        return re.sub("<[^>]+>", "", file.read("word/document.xml").decode())


def prompts(site: Any) -> list[str]:
    return [asked.prompt for asked in site.model.asked]


def test_the_passage_of_a_sentence_is_two_clicks_away_when_nothing_is_configured(visit: Any, tmp_path: Path) -> None:
    with opened(tmp_path, "--no-browser") as key:
        address = key.partition("/enter")[0]
        file = tmp_path / "enter.html"
        file.write_text(f'<!doctype html><meta http-equiv="refresh" content="0;url={key}">')
        visitor = visit(file.as_uri(), address=address, logged_in=False)
        page = visitor.page
        expect(page.get_by_role("button", name="Log out")).to_be_visible()
        visitor.faults.remove(f"asked for {file.as_uri()}")
        expect(page.get_by_text("No language model is set")).to_be_visible()
        expect(page.get_by_text("OPENAI_API_KEY")).to_be_visible()
        page.get_by_role("link", name="Check again").click()
        page.locator("#sample a").click()
        expect(page.get_by_text("This is a recording")).to_be_visible()
        cite = page.locator(".cite").first
        cite.click()
        expect(cite.locator(".card")).to_be_visible()
        expect(cite.locator(".card mark").first).to_be_visible()


def test_an_article_from_a_document_that_is_dropped(visit: Any, site: Any) -> None:
    visitor = visit("/write?topic=Amber+Road")
    page = visitor.page
    held = "text => { const it = new DataTransfer(); it.items.add(new File([text], 'notes.txt')); return it; }"
    files = page.evaluate_handle(held, NOTES)
    page.dispatch_event("[data-drop]", "drop", {"dataTransfer": files})
    expect(page.get_by_text("notes.txt ✓")).to_be_visible()
    page.get_by_label("Length").select_option("short")
    page.get_by_role("button", name="See what it will take").click()
    expect(page.get_by_role("heading", name="What it will take")).to_be_visible()
    expect(page.get_by_text("notes.txt")).to_be_visible()
    page.get_by_label("Length").select_option("standard")
    page.get_by_label("Topic", exact=True).press("Enter")  # starts nothing that costs
    expect(page.get_by_label("Length")).to_have_value("standard")
    expect(page).to_have_url(re.compile("/write[?].*do=estimate"))
    site.may_write.clear()
    try:
        page.get_by_role("button", name="Start").click()
        expect(page.get_by_role("status").first).to_contain_text("writing the sections")
        expect(page.locator(".interview .q").first).to_be_attached()
        expect(page.get_by_role("complementary")).to_contain_text("notes")
        before = page.locator("[data-seconds]").inner_text()
        expect(page.locator("[data-seconds]")).not_to_have_text(before)  # although nothing happens
        address = page.url
        again = visitor.another()
        until = "async () => { while (!self.htmx) await new Promise(go => setTimeout(go, 20)); }"
        again.route("**/hx-sse.js*", lambda script: (again.evaluate(until), script.continue_()))  # late
        page.close()
        again.goto(address)
        expect(again.locator("aside .headings")).to_contain_text("History")
    finally:
        site.may_write.set()
    expect(again.get_by_text("It is finished")).to_be_visible()
    expect(again).to_have_title(re.compile("^✓ Amber Road"))
    again.get_by_role("link", name="Read the article").click()
    expect(again.get_by_role("heading", name="Amber Road", level=1)).to_be_visible()
    expect(again.locator("main")).to_contain_text("notes.txt")
    expect(again.locator("main")).not_to_contain_text(".documents")
    again.get_by_role("link", name="How it went").click()
    expect(again.get_by_role("complementary")).to_contain_text("notes")
    expect(again.get_by_role("complementary")).not_to_contain_text(".documents")
    again.go_back()
    assert "Amber Road" in words_of(saved(again))


def test_a_run_goes_on_before_the_readers_eyes_when_its_server_was_killed(visit: Any, tmp_path: Path) -> None:
    with site_in(tmp_path) as site:
        site.may_write.clear()
        run = site.start(recipe="storm")
        visitor = visit(f"/watch/{run}", address=site.address)
        page = visitor.page
        expect(page.get_by_role("status").first).to_contain_text("writing the sections")
        library = visitor.another()
        library.goto("/library")
        site.process.kill()
        site.process.join()
        for one in (page, library):
            one.bring_to_front()
            expect(one.get_by_text("The server does not answer. It is tried again.")).to_be_visible(timeout=10_000)
        site.may_write.set()
        with serving(site.model.lm, tmp_path, token=TOKEN, at=site.address, GO_ON="1"):
            expect(page.get_by_role("link", name="log in")).to_be_visible()
            visitor.page = visitor.another()  # a new server asks who it is
            visitor.log_in()
            expect(page.get_by_text("It is finished")).to_be_visible()
            expect(page.locator("[data-lost]")).to_be_hidden()
            expect(library.locator("[data-lost]")).to_be_hidden()
            stages = page.locator(".stages")
            expect(stages).to_contain_text("Writing the sections 4 of 4")  # not 8, with those of before
            page.get_by_role("link", name="Read the article").click()
            expect(page.get_by_role("heading", level=1)).to_have_text("Silk Road")


def test_an_outline_is_edited_before_the_article_is_written_and_nothing_is_paid_twice(visit: Any, site: Any) -> None:
    before = len(prompts(site))
    page = visit("/write").page
    page.get_by_label("Topic", exact=True).fill("Tin Road")
    page.get_by_label("Let me see the outline first").check()
    page.get_by_role("button", name="See what it will take").click()
    page.get_by_role("button", name="Start").click()
    expect(page.get_by_text("The outline is ready")).to_be_visible()
    page.go_back()
    expect(page.get_by_role("heading", name="What it will take")).to_be_visible()
    page.go_forward()
    page.get_by_role("link", name="Edit the outline and go on").click()
    page.get_by_role("button", name="Move History down").click()
    page.go_back()
    page.get_by_role("link", name="Edit the outline and go on").click()
    expect(page.get_by_label("Heading 1", exact=True)).to_have_value("History")
    page.get_by_role("button", name="Move History down").click()
    expect(page.get_by_label("Heading 1", exact=True)).not_to_have_value("History")
    page.get_by_label("Heading 1", exact=True).fill("Mines of tin")
    page.get_by_label("Heading 1", exact=True).press("Enter")  # starts nothing that costs
    expect(page.get_by_label("Heading 1", exact=True)).to_have_value("Mines of tin")
    expect(page).to_have_url(re.compile("/outline/"))
    page.get_by_role("button", name="Add a row below Mines of tin").click()
    expect(page.get_by_label("Heading 2", exact=True)).to_be_focused()
    paid = prompts(site)[before:]
    page.locator("button.go").click()
    expect(page.get_by_text("It is finished")).to_be_visible()
    page.get_by_role("link", name="Read the article").click()
    expect(page.get_by_role("heading", name="Mines of tin")).to_be_visible()
    more = prompts(site)[before + len(paid) :]
    assert more
    assert not {*paid} & {*more}


def test_an_article_is_read(visit: Any, run: str) -> None:
    page = visit(f"/read/{run}").page
    assert "Silk Road" in passage_of_first_sentence(page, "point")
    page.mouse.move(0, 0)
    contents = page.get_by_role("navigation", name="Contents")
    contents.get_by_role("link", name="Goods").click()
    expect(page.locator(":target")).to_have_text("Goods")
    expect(page.locator(".verdict")).to_contain_text("sentences were compared with their passages")
    page.get_by_role("link", name="Copy for Wikipedia").click()
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name="Copy").click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    assert "== Goods ==" in page.evaluate("navigator.clipboard.readText()")
    page.get_by_role("link", name="Back to the article").click()
    page.get_by_role("navigation", name="This article").get_by_role("link", name="How it was made").click()
    expect(page.locator(".interview .q").first).to_be_attached()
    expect(page.locator(".rating").first).to_be_visible()
    page.get_by_role("link", name="Map of the research").click()
    page.locator(".map .path").first.hover()
    expect(page.locator(".map .path").last.locator("path").first).to_have_css("opacity", "0.25")
    page.locator(".map .place").first.click()
    expect(page).to_have_url(re.compile(f"/read/{run}#s1$"))


def test_a_passage_is_tapped_on_a_phone(visit: Any, run: str) -> None:
    phone = {"has_touch": True, "is_mobile": True, "viewport": {"width": 390, "height": 844}}
    page = visit(f"/read/{run}", **phone).page
    assert "Silk Road" in passage_of_first_sentence(page, "tap")
    box = page.locator(".cite .card:visible").first.bounding_box()
    assert box
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= 390


def test_a_question_is_answered_and_a_link_is_given_and_taken_back(visit: Any, run: str) -> None:
    page = visit(f"/read/{run}").page
    page.get_by_label("A question, answered from what this run has read").fill("Who used the road?")
    page.get_by_role("button", name="Ask").click()
    expect(page.get_by_role("heading", name="Who used the road?")).to_be_visible()
    assert "Silk Road" in passage_of_first_sentence(page, "point")
    expect(page.locator(".references li").first).to_be_visible()
    page.get_by_role("link", name="Library").click()
    page.go_back()
    expect(page.get_by_role("heading", name="Who used the road?")).to_be_visible()
    page.get_by_role("link", name="Back to the article").click()
    page.get_by_role("button", name="Make a read-only address").click()
    link = page.get_by_label("Anyone with this address").input_value()
    path = "/" + link.split("/", 3)[3]
    stranger = visit(path, logged_in=False).page
    expect(stranger.get_by_role("heading", level=1)).to_have_text("Silk Road")
    assert "Silk Road" in passage_of_first_sentence(stranger, "point")
    expect(stranger.get_by_role("navigation", name="Site")).to_have_count(0)
    stranger.goto("/library")
    expect(stranger).to_have_url(re.compile("/login"))
    page.get_by_role("button", name="Stop sharing").click()
    expect(page.get_by_role("button", name="Make a read-only address")).to_be_visible()
    passage_of_first_sentence(page, "point")  # the rest of the page is as it was
    page.go_back()
    expect(page.get_by_role("heading", name="Who used the road?")).to_be_visible()
    stranger.goto(path)
    expect(stranger.get_by_role("heading", level=1)).to_have_text("Nothing is here")


def test_a_run_is_looked_for_in_the_library_and_deleted(visit: Any, site: Any, run: str) -> None:
    made = site.finished("Salt Road", makes="outline")
    page = visit("/library").page
    page.get_by_role("searchbox").fill("salt")
    page.get_by_role("button", name="Search").click()
    expect(page.locator(".runs h2")).to_have_text(["Salt Road"])
    page.locator("summary", has_text="Delete").click()
    page.get_by_role("button", name="Delete it for good").click()
    expect(page.get_by_role("link", name="Silk Road").first).to_be_visible()
    expect(page.get_by_text("Salt Road")).to_have_count(0)
    assert site.client.get(f"/runs/{made}").status_code == 404


def test_everything_needed_works_without_scripts(visit: Any, site: Any) -> None:
    page = visit("/", java_script_enabled=False).page
    page.get_by_label("Topic").fill("Amber Road")
    page.get_by_role("button", name="Write about it").click()
    page.locator("#files").set_input_files({"name": "notes.txt", "mimeType": "text/plain", "buffer": NOTES.encode()})
    page.get_by_role("button", name="See what it will take").click()
    site.may_write.clear()
    page.get_by_role("button", name="Start").click()
    expect(page.get_by_text("It is being written")).to_be_visible()
    site.may_write.set()
    while page.get_by_role("link", name="Refresh").count():
        page.get_by_role("link", name="Refresh").click()
    page.get_by_role("link", name="Read the article").click()
    assert "Amber Road" in passage_of_first_sentence(page, "point")
    assert "Amber Road" in words_of(saved(page))
    run = page.url.rpartition("/")[2]
    page.get_by_role("link", name="Library").click()
    entry = page.locator(".runs > li", has=page.locator(f"a[href='/read/{run}']"))
    entry.locator("summary", has_text="Delete").click()
    entry.get_by_role("button", name="Delete it for good").click()
    expect(page.locator(f"a[href='/read/{run}']")).to_have_count(0)


def test_back_leads_to_the_library_although_the_run_was_stopped(visit: Any, site: Any) -> None:
    site.may_write.clear()
    active = site.start("Stone Road", recipe="storm")
    page = visit("/library").page
    page.locator(f"a[href='/watch/{active}']").first.click()
    page.get_by_role("button", name="Stop").click()
    expect(page.get_by_text("Stopping")).to_be_visible()
    site.may_write.set()
    page.go_back()
    expect(page).to_have_url(re.compile("/library$"))
