"""The pages for browsers, over runs of a scripted model."""

import json
import re
import shutil
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from html import unescape
from pathlib import Path
from typing import Any, cast

import pytest
from api_server import small_settings, small_storm
from articles import article, cites, page_of
from llm import FakeModel
from pages import Page
from test_resume import answers

pytest.importorskip("fastapi")
pytest.importorskip("python_multipart")

from starlette.testclient import TestClient

from storm_pipeline.evidence.retrieval.embedder import HashingEmbedder
from storm_pipeline.interfaces.server.callers import OWNER
from storm_pipeline.interfaces.server.http_api import create_app
from storm_pipeline.interfaces.server.reach import Reach
from storm_pipeline.interfaces.server.remote_settings import RemoteSettings
from storm_pipeline.interfaces.server.run_folders import EventFile
from storm_pipeline.interfaces.server.run_service import RunService
from storm_pipeline.interfaces.server.setup import SetupLookup
from storm_pipeline.interfaces.web.page import pages
from storm_pipeline.interfaces.web.recording import record, recorded_article, recorded_events, recorded_pieces
from storm_pipeline.interfaces.web.research_map import research_map
from storm_pipeline.run.article_json import to_json
from storm_pipeline.settings import Settings
from storm_pipeline.storm import Storm, prepare
from storm_pipeline.text.configuration.variables import PROVIDERS
from storm_pipeline.types import Conversation, Paragraph, Perspective, Problem, Section, Sentence, Snippet, Turn

HERE = "http://127.0.0.1"
BROWSER = {"Accept": "text/html", "Origin": HERE, "Sec-Fetch-Site": "same-origin"}
SMALL = {"perspectives": 1, "turns": 1, "search": "wiki-leads"}
FIXED = ("/", "/api", "/write", "/library", "/login", "/example", "/example/made", "/example/map", "/example/watch")
EVIL = "<script>alert(1)</script>\"'><img src=x onerror=alert(1)>"


@contextmanager
def site(lm: str, place: Path, *allowed: str, **settings: Any) -> Iterator[tuple[RunService, TestClient]]:
    """A server of small runs, and a browser at its pages."""
    own = small_settings(lm, place / "runs", place / "cache").model_copy(update=SMALL | settings)
    with RunService(RemoteSettings.build(own, allowed), at_once=1, open_storm=small_storm) as opened:
        yield opened, TestClient(create_app(opened), base_url=HERE, headers=BROWSER)


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunService]:
    place = tmp_path_factory.mktemp("web")
    with FakeModel(answers()) as model, site(model.lm, place, "lm=openai/other") as (opened, _):
        yield opened


@pytest.fixture(scope="module")
def browser(service: RunService) -> Iterator[TestClient]:
    with TestClient(create_app(service), base_url=HERE, headers=BROWSER) as client:
        yield client


@pytest.fixture(scope="module")
def run(browser: TestClient) -> str:
    """A finished run, ordered by the form."""
    answer = browser.post("/write", data={"topic": "Silk Road", "do": "start"}, follow_redirects=False)
    assert answer.status_code == 303, answer.text
    return finished(browser, answer.headers["location"].removeprefix("/watch/"))


def finished(browser: TestClient, run: str) -> str:
    for _ in patiently():
        if (view := browser.get(f"/runs/{run}").json())["state"] not in {"queued", "running"}:
            assert view["state"] == "finished", view
            return run
    raise AssertionError("the run does not end")


def shown(browser: TestClient, path: str, status: int = 200) -> Page:
    answer = browser.get(path)
    assert answer.status_code == status, answer.text[:500]
    return checked(answer)


def checked(answer: "TestClient | object") -> Page:
    policy = answer.headers["content-security-policy"]  # type: ignore[attr-defined]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    page = Page(answer.text)  # type: ignore[attr-defined]
    assert page.faults == []
    assert page.title.strip()
    return page


@pytest.mark.parametrize("path", FIXED)
def test_a_page_holds_nothing_inline_and_a_label_for_each_control(browser: TestClient, path: str) -> None:
    page = shown(browser, path)
    assert all(link.startswith(("/", "#", "https://")) for link in page.links)


def test_the_first_page_shows_a_recorded_article_and_the_passages_of_its_sentences(browser: TestClient) -> None:
    page = shown(browser, "/")
    first = recorded_article().lead[0].sentences[0]
    assert "recording" in page.text
    assert first.text in page.text
    passages = {s.id: s.text for source in recorded_article().sources for s in source.snippets}
    assert passages[first.citations[0].snippet_id].split()[0] in page.text
    assert page.form("/write").values == [("topic", "")]
    assert {"/example", "/example/map"} <= set(page.links)


def test_the_recording_is_small_whole_and_free_and_made_anew(service: RunService, run: str, tmp_path: Path) -> None:
    found = {source.url for source in recorded_article().sources}
    assert all(url.startswith("https://en.wikipedia.org/") for url in found)
    assert recorded_pieces().conversations
    assert recorded_events()[0][1]["event"] == "RunStarted"
    assert "/" not in "".join(event.get("folder", "") for _, event in recorded_events())
    assert 0 < record(service.folders.path(run), tmp_path / "recording") < 700_000
    made = sorted(file.name for file in (tmp_path / "recording").iterdir())
    assert made == ["article.json.gz", "events.jsonl.gz", "pieces.json.gz"]


def test_an_article_is_read_with_its_research(browser: TestClient, service: RunService, run: str) -> None:
    own = service.article(run)
    page = shown(browser, f"/read/{run}")
    assert all(sentence.text in page.text for sentence in own.sentences())
    assert {f"/read/{run}/made", f"/read/{run}/map", f"/read/{run}/wikitext"} <= set(page.links)
    made = shown(browser, f"/read/{run}/made")
    assert own.conversations[0].turns[0].question in made.text
    drawn = shown(browser, f"/read/{run}/map")
    assert f"/read/{run}#s1" in drawn.links
    assert shown(browser, f"/read/{run}/nothing", 404).text
    page = shown(browser, f"/watch/{run}")
    assert ("It is finished" in page.text, f"/read/{run}" in page.links) == (True, True)
    part = browser.get(f"/watch/{run}/now", headers={"HX-Request": "true"}).text
    assert ("<html" in part, "Interviews" in part) == (False, True)
    problem = browser.get("/watch/nothing/now", headers={"HX-Request": "true"})
    assert (problem.status_code, "<html" in problem.text) == (404, False)


def test_changes_are_counted_by_their_kind_and_said_in_cards_and_ratings_explained(browser: TestClient) -> None:
    text = shown(browser, "/example/made").text
    kinds = [int(n) for n in re.findall(r"(\d+) (?:sentences? did not follow|sentences? repeated|changes? by)", text)]
    assert (len(kinds), sum(kinds)) == (3, len(recorded_article().revisions))
    assert "say it in words of your own" not in text
    assert "Wikipedia’s list of perennial sources" in text
    text = shown(browser, "/example").text
    told = [one for one in recorded_article().revisions if one.after and "by the editor" not in one.outcome]
    assert [one for one in told if f"Of its first wording, “{one.before}”, the check said: {one.reason}" in text]


def test_an_article_is_saved_in_a_format_and_copied_for_wikipedia(browser: TestClient, run: str) -> None:
    saved = browser.get(f"/read/{run}/file?format=docx&citation_style=apa")
    assert saved.status_code == 200
    assert saved.headers["content-disposition"].endswith("Silk-Road.docx")
    assert saved.content.startswith(b"PK")
    assert browser.get(f"/read/{run}/file?format=markdown").text.startswith("# Silk Road")
    assert "==" in shown(browser, f"/read/{run}/wikitext").text
    for wrong in ("format=exe", "format=odt&citation_style=of-nobody"):
        page = shown(browser, f"/read/{run}/file?{wrong}", 400)
        assert (page.title, page.alerts) == ("Silk Road · storm", 1)
        assert page.at("aria-invalid") == ["citation_style"]
        assert page.at("aria-current") == ["Article"]
    assert page.form(f"/read/{run}/file").values == [("option", "odt"), ("citation_style", "of-nobody")]


def test_a_run_is_estimated_before_it_begins(browser: TestClient) -> None:
    page = checked(browser.post("/write", data={"topic": "Amber Road", "length": "short", "lm": "openai/other"}))
    assert "What it will take" in page.text
    form = page.form("/write")
    assert ("topic", "Amber Road") in form.values
    assert ("option", "short") in form.values
    wrong = browser.post("/write", data={"topic": "", "do": "start"})
    assert wrong.status_code == 400
    assert checked(wrong).alerts == 1


@pytest.mark.parametrize(
    ("field", "value", "problem"),
    [
        ("outline", "# History\nTrade\nGoods", "2 lines that would be left out: “Trade”; “Goods”"),
        ("about", "x" * 4001, "at most 4000 characters"),
        ("max_cost", "much", "valid number"),
        ("lm", "openai/of-nobody", "may choose 'lm' from"),
    ],
)
def test_a_value_that_is_refused_stays_in_its_field_with_the_reason(
    browser: TestClient, field: str, value: str, problem: str
) -> None:
    answer = browser.post("/write", data={"topic": "Amber Road", field: value, "do": "start"})
    page = checked(answer)
    assert (answer.status_code, page.alerts, page.at("aria-invalid")) == (400, 1, [field])
    assert problem in page.text
    assert field == "lm" or value.strip() in answer.text


def test_the_owners_paths_and_addresses_are_not_shown(tmp_path: Path) -> None:
    with site("openai/fake@http://127.0.0.1:9/v1", tmp_path, search=f"corpus:{tmp_path}/clients") as (_, browser):
        pages = [shown(browser, path).text for path in ("/", "/write", "/library")]
    assert "openai/fake" in pages[1]
    assert not [text for text in pages if "clients" in text or "127.0.0.1:9" in text]


@pytest.mark.parametrize(
    ("missing", "says"),
    [
        ({"search": "corpus:{}/nowhere"}, "search corpus: the folder does not exist: create it for your documents, or"),
        ({"search": "corpus:{}/empty"}, "documents: 0 readable; author and year known of 0: add readable files to the"),
        ({"search": "fused:wikipedia+corpus:{}/x+"}, "search fused: the search engine `fused` got an empty engine"),
        ({"lm": "gguf:{}/nowhere.gguf"}, "model gguf: the file does not exist: put it there, or choose another"),
        ({"out": "{}/empty/file/runs"}, "folder of runs: the folder cannot be written: check its permissions"),
    ],
)
def test_the_first_page_says_what_is_missing_and_what_to_do(tmp_path: Path, missing: dict[str, str], says: str) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "empty" / "file").touch()
    (name, value), home = *missing.items(), tmp_path / "home"
    settings = small_settings("openai/fake@http://127.0.0.1:9/v1", home / "runs", home / "cache")
    with RunService(RemoteSettings.build(settings), open_storm=small_storm) as service:
        given = {"search": "wiki-leads", name: type(getattr(settings, name))(value.format(tmp_path))}
        service.setup = SetupLookup(settings.model_copy(update=given)).get
        text = shown(TestClient(create_app(service), base_url=HERE, headers=BROWSER), "/").text
    assert says in text
    assert str(tmp_path) not in text and "storm doctor" not in text and "--" not in text


def test_an_outline_is_shown_as_it_will_be_used_and_not_asked_for_as_well(browser: TestClient) -> None:
    order = {"topic": "Amber Road", "outline": "History\n  Origins\nTrade"}
    page = checked(browser.post("/write", data=order))
    assert "HistoryOriginsTrade" in page.text
    page = checked(browser.post("/write", data=order | {"outline_first": "1"}))
    assert ("Your own outline is used as it is" in page.text, page.at("aria-invalid")) == (True, ["outline"])


@pytest.fixture
def without_model(tmp_path: Path) -> Iterator[TestClient]:
    """The pages of a server without a model, where one may be chosen."""
    own = {"out": tmp_path / "runs", "cache": tmp_path / "cache", "search": "wiki-leads", "judge": "off"}
    settings = Settings.build(own)
    choices = "lm=embedded lm=embedded:1.5b lm=openai/gpt-4o lm=openai/of-no-price search=wikipedia search=wiki-leads"
    remote = RemoteSettings.build(settings, choices.split())
    with RunService(remote, open_storm=lambda chosen: Storm(chosen, embedder=HashingEmbedder())) as service:
        yield TestClient(create_app(service), base_url=HERE, headers=BROWSER)


def test_a_model_whose_key_is_set_is_offered_and_never_chosen(
    without_model: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    for provider in PROVIDERS:
        for name in provider.variables:
            monkeypatch.delenv(name, raising=False)
    assert "set the key of a capable model, OPENAI_API_KEY" in shown(without_model, "/").text
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-nobody")
    service = service_of(without_model)
    service.setup = SetupLookup(service.remote.owner).get  # as after a minute
    assert "choose openai/gpt-4o as the model" in shown(without_model, "/").text
    page = shown(without_model, "/write?topic=Amber+Road")
    assert "no model: an extractopenai/gpt-4oembedded:1.5b, a small model to try it outopenai/of-no-price" in page.text
    assert "a download of 1.1 GB" in page.text
    assert "A key for openai/gpt-4o is set" in page.text
    assert ("option", "openai/gpt-4o") not in page.form("/write").values


def test_the_estimate_of_an_extract_says_what_it_is_and_who_makes_an_outline(without_model: TestClient) -> None:
    text = checked(without_model.post("/write", data={"topic": "Amber Road"})).text
    assert "often no more than a lead" in text
    assert "the openings of 10,000 well-known Wikipedia articles" in text
    answer = without_model.post("/write", data={"topic": "Amber Road", "outline_first": "1"})
    assert answer.history[0].status_code == 303  # to an address, to which Back leads as well
    page = shown(without_model, str(answer.url))
    assert "An extract has no outline to change" in page.text
    assert "Start without the outline" in page.text
    assert "Start with the small model" in page.text


@pytest.mark.parametrize("has_documents", [False, True])
def test_what_the_engine_does_not_know_is_said_with_another_way(without_model: TestClient, has_documents: bool) -> None:
    for path in ("/", "/write?topic=Quux&do=estimate"):
        assert "the openings of 10,000 well-known Wikipedia articles" in shown(without_model, path).text
    order = {"topic": "Vasaloppet", "outline_first": "1", "do": "start-extract"}
    files = [("files", ("amber.txt", b"Amber came by the Amber Road."))] if has_documents else None
    path = without_model.post("/write", data=order, files=files).url.path
    ended(service_of(without_model), path.removeprefix("/watch/"))
    page = shown(without_model, path)
    ways = [link for link in page.links if link.startswith("/write?")]
    if has_documents:
        assert "Your documents say nothing of “Vasaloppet”" in page.text
        assert ("documents", "") in shown(without_model, ways[0]).form("/write").values
    else:
        assert "The built-in collection has nothing on “Vasaloppet”" in page.text
        assert ("option", "wikipedia") in shown(without_model, ways[0]).form("/write").values
    assert ("storm search" in page.text, "None yet" in page.text) == (False, False)


def test_dollars_are_capped_where_a_price_is_known_and_tokens_elsewhere(without_model: TestClient) -> None:
    order = {"topic": "Amber Road", "lm": "openai/of-no-price"}
    page = checked(without_model.post("/write", data=order | {"max_cost": "2"}))
    assert (page.alerts, "cap tokens (“At most, in tokens”)" in page.text, "--" in page.text) == (1, True, False)
    page = checked(without_model.post("/write", data=order | {"max_tokens": "200000"}))
    assert ("max_tokens", "200000") in page.form("/write").values


def test_what_was_changed_after_the_estimate_is_estimated_anew(browser: TestClient, service: RunService) -> None:
    order = {"topic": "Amber Road", "outline_first": "1", "length": "short"}
    estimated = dict(checked(browser.post("/write", data=order)).form("/write").values)["form"]
    before = len(service.views(1000))
    page = checked(browser.post("/write", data=order | {"length": "long", "form": estimated, "do": "start"}))
    assert "The form was changed after its estimate" in page.text
    assert len(service.views(1000)) == before
    again = dict(page.form("/write").values)["form"]
    answer = browser.post("/write", data=order | {"length": "long", "form": again, "do": "start"})
    finished(browser, answer.url.path.removeprefix("/watch/"))


def test_documents_are_sent_with_the_form(browser: TestClient, service: RunService) -> None:
    files = [("files", ("amber.txt", b"Amber came by the Amber Road.")), ("files", ("more.md", b"# Amber"))]
    page = checked(browser.post("/write", data={"topic": "Amber Road"}, files=files))
    assert "amber.txt" in page.text
    name = dict(page.form("/write").values)["documents"]
    assert [file.name for file in service.documents.views(OWNER)[-1].files] == ["amber.txt", "more.md"]
    assert re.fullmatch("[0-9a-f]{32}", name)
    without = checked(browser.post("/write", data={"topic": "Amber Road", "documents": name, "without": "1"}))
    assert ("amber.txt" in without.text, ("documents", "") in without.form("/write").values) == (False, True)
    wrong = browser.post("/write", data={"topic": "Amber Road", "documents": name}, files=[("files", ("a.exe", b"MZ"))])
    assert wrong.status_code == 400
    sent = {"good.txt": b"Amber was sold.", "broken.pdf": b"%PDF-1.7 and no more", "last.txt": b"Tin was sold."}
    page = checked(browser.post("/write", data={"topic": "Amber Road"}, files=[("files", one) for one in sent.items()]))
    assert "good.txt ✓last.txt ✓broken.pdf was not added: it cannot be read as PDF; open and re-save it" in page.text
    name = dict(page.form("/write").values)["documents"]
    service.documents.delete(OWNER, name, lambda _: False)
    page = shown(browser, f"/write?topic=Amber+Road&documents={name}&do=estimate", 400)
    assert "no longer here: add them again" in page.text
    assert {("topic", "Amber Road"), ("documents", "")} <= set(page.form("/write").values)


@pytest.mark.parametrize("charset", ["raw_unicode_escape", "punycode", "utf-16"])
def test_a_form_with_files_is_in_utf_8(browser: TestClient, charset: str) -> None:
    part = '--x\r\nContent-Disposition: form-data; name="topic"\r\n\r\nA\\ud800\r\n--x--\r\n'
    kind = {"Content-Type": f"multipart/form-data; boundary=x; charset={charset}"}
    assert browser.post("/write", content=part, headers=kind).status_code == 400
    plain = {"Content-Type": "application/x-www-form-urlencoded; charset=utf-8"}
    page = checked(browser.post("/write", content="topic=Amber+Road", headers=plain))
    assert ("topic", "Amber Road") in page.form("/write").values


def test_a_run_under_way_is_followed_stopped_and_continued(tmp_path: Path) -> None:
    held = threading.Event()

    def slow(user: str) -> str:
        held.wait(30)
        return str(answers()["AskQuestion"](user))

    with FakeModel(answers() | {"AskQuestion": slow}) as model, site(model.lm, tmp_path) as (service, browser):
        made = [browser.post("/write", data={"topic": "Tin Road", "do": "start"}).url.path for _ in range(2)]
        page = shown(browser, made[0])
        assert page.streams == [f"/runs/{made[0].removeprefix('/watch/')}/events"]
        assert "It is being written" in page.text
        assert any("0:01 so far" in shown(browser, made[0]).text for _ in patiently())  # although nothing happens
        assert "number 1 in the queue" in shown(browser, made[1]).text
        for path in reversed(made):
            assert path + "/stop" in [form.action for form in shown(browser, path).forms]
            browser.post(f"{path}/stop")
        stopping = shown(browser, made[0])
        assert "Stopping: the calls under way end first" in stopping.text
        assert made[0] + "/stop" not in [form.action for form in stopping.forms]
        held.set()
        ended(service, made[0].removeprefix("/watch/"))
        page = shown(browser, made[0])
        assert (page.streams, page.text.count("It was stopped"), "is saved" in page.text) == ([], 1, False)
        assert "Resume goes on with the same choices" in page.text
        assert '<li class="done">Interviews' not in browser.get(made[0]).text
        again = next(link for link in page.links if link.startswith("/write?"))
        form = shown(browser, again).form("/write")
        assert {("topic", "Tin Road"), ("option", "en")} <= set(form.values)
        assert browser.post(page.form(f"{made[0]}/resume").action).url.path == made[0]
        finished(browser, made[0].removeprefix("/watch/"))


def test_what_failed_is_said_without_options_and_written_again_with_others(tmp_path: Path) -> None:
    down = "openai/fake@http://127.0.0.1:9/v1"
    with site(down, tmp_path, "lm=openai/other", "lm=embedded", call_attempts=1) as (service, browser):
        path = browser.post("/write", data={"topic": "Tin Road", "do": "start"}).url.path
        ended(service, run := path.removeprefix("/watch/"))
        assert "--api-base" in service.view(run).reason
        page, text = shown(browser, path), browser.get(path).text
        assert "that the server’s setting “api_base” is its address" in page.text
        assert "--" not in page.text
        assert text.index("Write again with other choices") < text.index(">Resume</button>")
        assert "which helps only once the cause is mended" in page.text
        extract = next(link for link in page.links if "lm=embedded" in link)
        assert ("option", "embedded") in shown(browser, extract).form("/write").values
        assert ('<li class="done">Interviews' in text, '<li class="quiet">Interviews' in text) == (False, True)
        page = shown(browser, "/library")
        assert ("--" in page.text, "/write?topic=Tin+Road&documents=" in page.links) == (False, True)


def test_interrupted_runs_are_resumed_from_the_first_page(tmp_path: Path) -> None:
    with FakeModel(answers()) as model:
        settings = small_settings(model.lm, tmp_path / "runs", tmp_path / "cache").model_copy(update=SMALL)
        made = prepare(small_storm(settings), "Salt Road").name
        with site(model.lm, tmp_path) as (_, browser):
            for path in ("/", "/library"):
                page = shown(browser, path)
                assert "1 run was interrupted" in page.text
            assert browser.post(page.form("/library/resume").action).url.path == "/library"
            finished(browser, made)
            assert "interrupted" not in shown(browser, "/").text


def service_of(browser: TestClient) -> RunService:
    app: Any = browser.app
    while not hasattr(app, "state"):
        app = app._app
    return cast("RunService", app.state.service)


def patiently() -> Iterator[None]:
    for _ in range(600):
        yield
        time.sleep(0.1)


def ended(service: RunService, run: str) -> None:
    for _ in patiently():
        if not service.is_running(run):
            return
    raise AssertionError("the run does not end")


def test_an_outline_is_edited_and_the_article_written_from_it(browser: TestClient) -> None:
    order = {"topic": "Silk Road", "outline_first": "1", "do": "start"}
    answer = browser.post("/write", data=order, follow_redirects=False)
    made = finished(browser, answer.headers["location"].removeprefix("/watch/"))
    assert f"/outline/{made}" in shown(browser, f"/watch/{made}").links
    page = shown(browser, f"/outline/{made}")
    headings = [value for name, value in page.forms[0].values if name == "heading"]
    assert len(headings) > 1
    rows = {"level": ["1"] * len(headings), "heading": headings}
    first, second, *rest = headings
    edits = {"down": [second, first, *rest], "remove": [second, *rest], "add": [first, "", second, *rest]}
    enter = {page.forms[0].buttons[0]["value"]: headings}  # what Enter presses starts nothing
    for do, expected in (enter | {f"heading-{how}-0": rows for how, rows in edits.items()}).items():
        edited = checked(browser.post(f"/outline/{made}", data={**rows, "do": do}))
        assert [v for n, v in edited.forms[0].values if n == "heading"] == expected
    assert browser.post(f"/outline/{made}", data={"level": "1", "heading": "", "do": "go-0"}).status_code == 400
    wrong = {"level": ["1", "1"], "heading": ["Trade", "References"], "do": "go-0"}
    lost = browser.post(f"/outline/{made}", data=wrong)
    assert (lost.status_code, "“# References”" in lost.text) == (400, True)
    assert [v for n, v in checked(lost).forms[0].values if n == "heading"] == ["Trade", "References"]
    new = {"level": ["1"], "heading": ["Trade in amber"], "do": "go-0"}
    answer = browser.post(f"/outline/{made}", data=new, follow_redirects=False)
    assert answer.status_code == 303, answer.text
    written = finished(browser, answer.headers["location"].removeprefix("/watch/"))
    assert "Trade in amber" in shown(browser, f"/read/{written}").text


def test_what_became_of_a_given_outline_is_said_with_the_article(browser: TestClient, service: RunService) -> None:
    order = {"topic": "Silk Road", "outline": "# History\n# Goods\n# Bridges", "do": "start"}
    run = finished(browser, browser.post("/write", data=order).url.path.removeprefix("/watch/"))
    path = service.folders.path(run) / "article.json"
    before = service.article(run)
    kept = tuple(section for section in before.sections if section.heading != "Bridges")
    why = Problem("sections", "degraded", "section 'Bridges' has only one sentence: appended to section 'Goods'")
    report = replace(before.report, problems=(why, Problem("sections", "degraded", "another")))
    path.write_text(to_json(replace(before, sections=kept, report=report)))
    for part in ("", "/made"):
        text = shown(browser, f"/read/{run}{part}").text
        assert "Your outline could not be kept as it was:Section 'Bridges' has only one sentence" in text
    assert "Another" not in shown(browser, f"/read/{run}").text


@pytest.mark.parametrize(
    "form",
    [
        {"level": "600000000", "heading": "Trade", "do": "go-0"},
        {"level": "abc", "heading": "Trade", "do": "go-0"},
        {"level": "9" * 5000, "heading": "Trade", "do": "go-0"},
        {"level": "1", "heading": "T" * 50_001, "do": "go-0"},
        {"level": "1", "heading": "Trade", "name": ["Weaver"] * 51, "focus": ["Looms"] * 51, "do": "go-0"},
        {"level": "1", "heading": "Trade", "name": "Weaver\x1b[31m", "focus": "Looms", "do": "go-0"},
        {"level": ["1"] * 2001},
    ],
    ids=["deep", "word", "long", "outline", "perspectives", "controls", "fields"],
)
def test_a_form_for_an_outline_has_the_limits_of_an_order(
    browser: TestClient, service: RunService, run: str, form: dict[str, Any]
) -> None:
    before = len(service.views(1000))
    answer = browser.post(f"/outline/{run}", data=form, follow_redirects=False)
    assert answer.status_code == 400, answer.text
    assert "Traceback" not in checked(answer).text
    assert len(service.views(1000)) == before


@pytest.mark.parametrize(
    "do", ["heading-up-x", "heading-down-" + "9" * 5000, "heading-remove--1", "heading", "perspective-up-7"]
)
def test_a_row_that_is_not_there_is_not_moved(browser: TestClient, run: str, do: str) -> None:
    rows = {"level": ["1", "2"], "heading": ["Trade", "Silk"], "name": "Weaver", "focus": "Looms", "do": do}
    page = checked(browser.post(f"/outline/{run}", data=rows))
    assert [value for name, value in page.forms[0].values if name in ("heading", "name")] == ["Trade", "Silk", "Weaver"]


def test_a_question_is_answered_and_an_article_shared(browser: TestClient, run: str) -> None:
    answer = browser.post(f"/read/{run}/ask", data={"question": "why " * 200})
    assert (answer.status_code, checked(answer).at("aria-invalid")) == (400, ["question"])
    assert "why " * 200 in answer.text
    asked, again = [browser.post(f"/read/{run}/ask", data={"question": "Who used the road?"}) for _ in range(2)]
    assert asked.url == again.url
    answer = checked(browser.get(str(asked.url)))
    assert asked.url.path in shown(browser, f"/read/{run}").links
    assert "Who used the road?" in answer.text
    assert f"/read/{run}" in answer.links
    assert f"/read/{run}/answers/" in str(asked.url)
    page = checked(browser.post(f"/read/{run}/share"))
    link = re.findall(r"/shared/[\w-]+", " ".join(one.get("value", "") for one in page._controls))[0]
    assert "Only this computer can open it" in page.text
    other = TestClient(browser.app, base_url=HERE, headers={"Accept": "text/html"})
    read = shown(other, link)
    assert "Silk Road" in read.text
    assert not [form for form in read.forms if form.method == "post"]
    assert not any(one.startswith(("/read", "/library", "/write")) for one in read.links)
    assert other.get(f"{link}/file?format=markdown").text.startswith("# Silk Road")
    assert "Everything, the research included" not in read.text
    assert other.get(f"{link}/file?format=json").status_code == 400
    asked = browser.get(f"/runs/{run}/pieces").json()["conversations"][0]["turns"][0]["question"]
    pages = [one.get(f"{at}/file?format=html").text for one, at in ((browser, f"/read/{run}"), (other, link))]
    assert [asked in text for text in pages] == [True, False]
    assert [other.get(f"{link}/{part}").status_code for part in ("made", "map")] == [404, 404]
    assert browser.post(f"/read/{run}/unshare", follow_redirects=False).status_code == 303
    assert browser.get(link).status_code == 404


def test_a_link_for_others_has_a_name_that_opens_no_session(browser: TestClient, run: str) -> None:
    name = "http://storm-0123456789abcdef.localhost:8765"
    app = create_app(service_of(browser), reach=Reach(frozenset({"storm-0123456789abcdef.localhost"})))
    own = TestClient(app, base_url=name, headers=BROWSER | {"Origin": name})
    assert 'value="http://127.0.0.1:8765/shared/' in own.post(f"/read/{run}/share").text
    assert own.get("/alive").status_code == 204
    of_before = own.get("/", headers={"Host": "storm-ffffffffffffffff.localhost:8765", "Sec-Fetch-Site": "none"})
    assert (of_before.status_code, "--allow-host" in of_before.text) == (403, False)
    assert "open the address that it prints" in of_before.text


def test_the_library_is_searched_and_a_run_deleted(browser: TestClient) -> None:
    answer = browser.post("/write", data={"topic": "Tin Road", "do": "start"}, follow_redirects=False)
    made = finished(browser, answer.headers["location"].removeprefix("/watch/"))
    page = shown(browser, "/library?q=tin")
    assert "Tin Road" in page.text and "by openai/fake · standard, en" in page.text
    assert page.links.count(f"/read/{made}") == 2  # its topic, and "Read"
    assert "Tin Road" not in shown(browser, "/library?q=amber").text
    assert browser.post(f"/library/{made}/delete", follow_redirects=False).status_code == 303
    assert "Tin Road" not in shown(browser, "/library").text


def test_errors_are_pages_for_browsers_and_json_for_programs(browser: TestClient) -> None:
    assert "Nothing is here" in shown(browser, "/nothing", 404).text
    assert "Nothing is here" in shown(browser, "/read/nothing", 404).text
    told = browser.get("/nothing", headers={"Accept": "*/*"})
    assert (told.status_code, told.json()["kind"]) == (404, "NotFound")
    refused = browser.post("/library/nothing/delete", headers={"Origin": "http://evil.example"})
    assert refused.status_code == 403
    assert "Not allowed" in checked(refused).text
    assert browser.get("/static/app.py").status_code == 404
    assert "immutable" in browser.get("/static/style.css").headers["cache-control"]


@pytest.fixture
def foreign(service: RunService, run: str) -> Iterator[Path]:
    """The folder of a finished run of somebody else."""
    yield shutil.copytree(service.folders.path(run), service.folders.path(run).with_name("foreign"))
    service.folders.delete("foreign")


def test_what_a_page_quotes_is_text(browser: TestClient, service: RunService, foreign: Path) -> None:
    snippet = Snippet(f"javascript:alert(1)//{EVIL}", EVIL, EVIL, author=EVIL, site=EVIL)
    evil = article(
        Section(EVIL, lead_of(snippet)), lead=(cites(EVIL, snippet),), sources=(page_of(snippet),), title=EVIL
    )
    talk = replace(service.article("foreign").conversations[0], perspective=Perspective(EVIL, EVIL))
    (foreign / "article.json").write_text(to_json(replace(evil, conversations=(talk,))), encoding="utf-8")
    state = json.loads((foreign / "run.json").read_text()) | {"topic": EVIL}
    (foreign / "run.json").write_text(json.dumps(state), encoding="utf-8")
    paths = "/read/foreign /read/foreign/made /read/foreign/map /read/foreign/wikitext /library /watch/foreign"
    for path in [*paths.split(), "/outline/foreign"]:
        page = shown(browser, path)
        assert not any("javascript" in link for link in page.links)
        assert "alert(1)" in page.text
    assert EVIL in unescape(browser.get("/library", params={"q": EVIL}).text)
    checked(browser.post("/write", data={"topic": EVIL, "outline": EVIL, "about": EVIL}))


@pytest.mark.parametrize("number", ["Infinity", "-Infinity", "NaN", "1e308", "9" * 400])
def test_absurd_numbers_of_events_are_left_out(browser: TestClient, foreign: Path, number: str) -> None:
    damaged = (
        '"event": "Searched", "query": "absurd", "results": %s',
        '"event": "StageFinished", "seconds": %s',
        '"event": "CallFinished", "cost": %s',
        '"event": "Downloading", "name": "absurd", "done": 1, "total": %s',
    )
    lines = [f'{{"stage": "search", "at": 1, {form % number}}}' for form in damaged]
    lines.append(f'{{"stage": "search", "event": "StageStarted", "total": 1, "at": {number}}}')
    (foreign / "events.jsonl").write_text("\n".join([*lines, ""]))
    assert "absurd" not in shown(browser, "/watch/foreign").text


@pytest.mark.parametrize(
    ("line", "number", "told"),
    [("[" + "[]," * 10_000 + "0]", 101, "1,000,000 lists and objects"), ("", 100_002, "100,000 lines")],
)
def test_events_beyond_the_limits_are_refused_by_name(
    browser: TestClient, foreign: Path, line: str, number: int, told: str
) -> None:
    events = foreign / "events.jsonl"
    before = events.read_bytes()
    events.write_text(f"{line}\n" * number)
    assert told in browser.get("/watch/foreign").text
    assert f'"state":"unreadable","reason":"the events of the run cannot be read: it has more than {told}' in (
        browser.get("/runs/foreign/events").text.replace('": "', '":"').replace('", "', '","')
    )
    events.write_bytes(b"x" * 2**21 + b"\n" + before)
    assert next(iter(EventFile(foreign).read()))[0] == 2


WIDE = {  # page of a run that has very much of everything → what it shows
    "/watch/foreign": ("stage 9.", "H99", "4,900 more are not shown", "119 more are not shown", "first 100 questions"),
    "/outline/foreign": ("has 5,000 headings and 2,000 perspectives: the first 900 headings and 50 perspectives are",),
    "/read/foreign": ("“before before", "the check said: No."),
    "/read/foreign/made": ("Problem 999.", "No. 99.", "50 more are not shown", "and 31 more", "first 100 questions"),
    "/read/foreign/map": ("There is more than this map shows",),
}


def test_problems_and_headings_of_many_quotation_marks_are_compared(browser: TestClient, foreign: Path) -> None:
    marks = "'" * 490
    titles = ["It's", *(f'{marks}"{marks}{n}' for n in range(999))]
    (foreign / "outline.md").write_text("".join(f"# {title}\n" for title in titles))
    state = json.loads((foreign / "run.json").read_text()) | {"given": {"outline": ""}}
    (foreign / "run.json").write_text(json.dumps(state))
    record = json.loads((foreign / "article.json").read_text())
    details = [f"section {titles[0]!r} left out.", *["\\'" * 1000] * 999]  # minutes if searched for each heading
    record["article"]["report"]["problems"] = [{"stage": "", "kind": "", "detail": detail} for detail in details]
    (foreign / "article.json").write_text(json.dumps(record))
    text = unescape(checked(browser.get("/read/foreign")).text)
    assert ("""Section "It's" left out.""" in text, "\\'" in text) == (True, False)


def test_pages_of_very_much_show_some_and_say_so(
    browser: TestClient, foreign: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(pages._environment.globals, "most", 100)
    monkeypatch.setattr("storm_pipeline.interfaces.web.research_map._MOST_ROWS", 100)
    line = '{"stage": "stage %d.", "at": 1, "event": "Searched", "query": "query %d.", "results": 1}\n'
    (foreign / "events.jsonl").write_text("".join(line % (n, n) for n in range(2000)))
    (foreign / "outline.md").write_text("".join(f"# H{n}\n" for n in range(5000)))
    (foreign / "perspectives.json").write_text(json.dumps([{"name": f"N{n}", "focus": ""} for n in range(2000)]))
    (foreign / "settings.json").write_text("[" * 100_000)
    state = json.loads((foreign / "run.json").read_text()) | {"given": {"outline": ""}}
    (foreign / "run.json").write_text(json.dumps(state))
    found = [Snippet(f"https://a.example/{n}", f"Title {n}", "Text.") for n in range(220)]
    long = Snippet("https://a.example/" + "x" * 5000, "T" * 5000, "Text.")
    talk = Conversation(Perspective("Asker", ""), (Turn("Question?", (), (cites("A.", long, *found[:50]),), ()),) * 10)
    sections = [Section(f"{n} {'S' * 2000}", lead_of(found[0])) for n in range(110)]
    wide = article(*sections, lead=(cites("First.", found[1]),) * 200)
    wide = replace(wide, sources=tuple(map(page_of, (long, *found))), conversations=(talk,) * 12)
    record = json.loads(to_json(wide))
    revision = {"where": "", "before": "before " * 200, "reason": "No.", "outcome": "", "after": "First."}
    excluded = [{"url": "https://x.example/", "title": "", "reason": f"No. {n}.", "query": ""} for n in range(150)]
    record["article"] |= {"revisions": [revision] * 150, "sources_excluded": excluded}
    problems = [{"stage": "", "kind": "", "detail": f"problem {n}. 'H{n}'"} for n in range(1500)]
    record["article"]["report"]["problems"] = problems
    (foreign / "conversations.json").write_text(json.dumps(record["article"]["conversations"]))
    (foreign / "article.json").write_text(json.dumps(record))
    for path, has in WIDE.items():
        text = unescape(checked(answer := browser.get(path)).text)
        assert [one for one in has if one not in text] == []
        assert (len(answer.text) < 1_000_000, text.count("the check said: No.") < 2) == (True, True)
        assert not [one for one in ("stage 200.", "query 1500.", "H1000", "N1000", "problem 1000.") if one in text]


def test_the_map_gives_a_finding_to_the_first_section_that_cites_most_of_it() -> None:
    first, second = (Snippet("https://a.example", "A", text) for text in ("Amber was sold.", "Tin was sold."))
    cited = ((second,), (first,), (first, second), (first, second))
    sections = [Section(f"S{n}", lead_of(*snippets)) for n, snippets in enumerate(cited)]
    answer = (cites("Both.", first, second), cites("Tin.", second), Sentence("None."))
    talk = Conversation(Perspective("Weaver", "Looms"), (Turn("What was sold?", ("amber",), answer, (first, second)),))
    drawn = research_map(replace(article(*sections), conversations=(talk,)))
    assert [place for _, place in drawn.questions[0].findings] == [2, 0, None]
    assert [drawn.given[place] for place in range(4)] == [1, 0, 1, 0]


def lead_of(*snippets: Snippet) -> tuple:
    return (Paragraph((cites(EVIL, *snippets),)),)
