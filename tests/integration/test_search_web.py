"""What single engines of the web do beyond what all do."""

import math
import sys
from datetime import date
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from engine_cases import BRISK, HASTY, KEY, Page, ask, web_page
from engine_cases_web import WEB
from servers import Reply, Request, Script, ScriptedServer

from storm_pipeline.errors import MissingExtraError, SettingsError
from storm_pipeline.sources.engines import brave, exa, serper, tavily, you
from storm_pipeline.sources.engines.duckduckgo import DuckDuckGoSearch
from storm_pipeline.sources.engines.searxng import searxng
from storm_pipeline.sources.search.base import SearchEngine
from storm_pipeline.sources.search.engine_info import EngineConfig, SearchOptions
from storm_pipeline.sources.search.registry import open_search
from storm_pipeline.sources.search.search_cache import SearchCache
from storm_pipeline.sources.search.web_service import WebService, WebServiceSearch

ALL = SearchOptions(
    language="de",
    region="AT",
    since=date(2024, 1, 5),
    until=date(2024, 6, 30),
    domains=("a.org", "b.org"),
    without_domains=("c.a.org",),
)
QUERY = "silk road (site:a.org OR site:b.org) -site:c.a.org"
OPTIONED: dict[str, tuple[WebService, str, dict[str, Any]]] = {
    "tavily": (
        tavily.SERVICE, "", {
            "country": "austria", "start_date": "2024-01-05", "end_date": "2024-06-30",
            "include_domains": ["a.org", "b.org"], "exclude_domains": ["c.a.org"],
        },
    ),
    "brave": (
        brave.SERVICE, "/res/v1/web/search",
        {"q": QUERY, "country": "AT", "search_lang": "de", "freshness": "2024-01-05to2024-06-30"},
    ),
    "serper": (
        serper.SERVICE, "", {"q": QUERY, "gl": "at", "hl": "de", "tbs": "cdr:1,cd_min:1/5/2024,cd_max:6/30/2024"}
    ),
    "exa": (
        exa.SERVICE, "", {
            "userLocation": "AT", "includeDomains": ["a.org", "b.org"],
            "startPublishedDate": "2024-01-05T00:00:00.000Z", "endPublishedDate": "2024-06-30T23:59:59.999Z",
        },
    ),
}  # fmt: skip
"""Engine → its service, the path of its requests, and what it sends with all options."""


def with_options(name: str, url: str, options: SearchOptions) -> SearchEngine:
    service, path, _ = OPTIONED[name]
    return WebServiceSearch(service, KEY, base_url=url + path, rate=math.inf, options=options)


@pytest.mark.parametrize("name", OPTIONED)
def test_options_are_sent(name: str) -> None:
    with ScriptedServer(WEB[name].finds(web_page(1))) as server:
        assert with_options(name, server.url, ALL).search("silk road", 5)
        request = server.requests[0]
    plain = WEB[name].query if WEB[name].body is None else WEB[name].body
    sent = dict(request.query) if request.method == "GET" else request.json
    assert sent == {**plain, **OPTIONED[name][2]}


@pytest.mark.parametrize(
    ("service", "options"),
    [
        (brave.SERVICE, SearchOptions(region="is")),
        (brave.SERVICE, SearchOptions(language="eo")),
        (tavily.SERVICE, SearchOptions(region="xx")),
    ],
)
def test_what_an_engine_does_not_offer_is_refused(service: WebService, options: SearchOptions) -> None:
    with pytest.raises(SettingsError, match=r"(region|language) '..'; leave it out"):
        WebServiceSearch(service, KEY, options=options)


def test_engines_spell_languages_their_own_way() -> None:
    for language, region, spelt in [("ja", None, "jp"), ("zh", "TW", "zh-hans"), ("zh", None, "zh-hans")]:
        options = SearchOptions(language=language, region=region)
        with ScriptedServer(WEB["brave"].finds()) as server:
            with_options("brave", server.url, options).search("silk", 1)
            assert server.requests[0].query["search_lang"] == spelt


@pytest.mark.parametrize(("name", "key", "pages"), [("brave", "web", 20), ("serper", "page", 10)])
def test_further_pages_of_results_are_asked_for(name: str, key: str, pages: int) -> None:
    """The server has 500 pages and answers as the service does: from where it is asked, as many as it is asked for."""
    case = WEB[name]

    def script(request: Request) -> Reply:
        asked = dict(request.query) if request.method == "GET" else request.json
        size = int(asked.get("count") or asked["num"])
        start = {"brave": lambda: int(asked["offset"]) * size, "serper": lambda: (asked["page"] - 1) * size}[name]()
        hits = [case.hit(web_page(number)) for number in range(start, start + size)]
        return Reply(body={"web": {"results": hits}, "organic": hits})

    found, requests = ask(case, script, k=2 * pages + 3)
    assert [s.url for s in found] == [web_page(number).url for number in range(2 * pages + 3)]
    assert len(requests) == 3
    assert len(ask(case, script, k=pages)[1]) == 1


def test_brave_gives_every_passage_in_plain_text() -> None:
    hit = {"url": "https://a.org", "title": "Silk &amp; roads", "page_age": "2024-03-01T10:00:00"}
    texts = {"description": "It&#x27;s silk.", "extra_snippets": ["More.", "It&#x27;s silk.", None]}
    found, _ = ask(WEB["brave"], WEB["brave"].has({**hit, **texts}))
    told = [(s.title, s.text, s.published) for s in found]
    assert told == [("Silk & roads", text, "2024-03-01") for text in ("It's silk.", "More.")]


def test_exa_gives_every_passage() -> None:
    hit = {"url": "https://a.org", "title": "T", "highlights": ["x", "y", "x"], "publishedDate": "2024-03-01T00:00:00Z"}
    found, _ = ask(WEB["exa"], WEB["exa"].has(hit))
    assert [(s.text, s.published) for s in found] == [("x", "2024-03-01"), ("y", "2024-03-01")]
    found, _ = ask(WEB["exa"], WEB["exa"].has(hit | {"highlights": [*map(str, range(2000))]}, hit))
    assert [s.text for s in found] == [*map(str, range(1000))]  # a hostile answer holds a million


@pytest.mark.parametrize(
    ("name", "more", "published"),
    [
        ("serper", {"date": "Mar 3, 2024"}, "2024-03-03"),
        ("serper", {"date": "2 days ago"}, None),
        ("tavily", {"published_date": "2024-03-03"}, "2024-03-03"),
    ],
)
def test_days_of_publication_are_read(name: str, more: dict[str, Any], published: str | None) -> None:
    case = WEB[name]
    found, _ = ask(case, case.has({**case.hit(Page("https://a.org", "T", "text")), **more}))
    assert [s.published for s in found] == [published]


def test_you_gives_every_passage_and_news_after_pages() -> None:
    web = {"url": "https://a.org", "title": "A", "snippets": ["x", "x", " y "], "page_age": "2025-06-25T11:41:00"}
    news = {"url": "https://n.org", "title": "N", "description": "told", "page_age": "yesterday"}
    found, _ = ask(WEB["you"], Reply(body={"results": {"web": [web], "news": [news]}}))
    assert [(s.text, s.published) for s in found] == [("x", "2025-06-25"), ("y", "2025-06-25"), ("told", None)]


def test_searxng_pages_on_and_meets_no_page_twice() -> None:
    def script(request: Request) -> Reply:
        page = int(request.query["pageno"])
        results = [{"url": f"https://a.org/{n}", "title": "t", "content": "c"} for n in (1, page, page * 10)]
        results += [{"url": f"https://e.org/{page}", "title": "empty", "content": ""}]
        return Reply(body={"results": results})

    found, requests = ask(WEB["searxng"], script, k=50)
    assert [s.url[14:] for s in found] == ["1", "10", "2", "20", "3", "30"]
    assert len(requests) == 3


def test_searxng_says_when_all_its_engines_are_silent() -> None:
    error, _ = ask(WEB["searxng"], Reply(body={"results": [], "unresponsive_engines": [["google", "CAPTCHA"]]}))
    assert "google: CAPTCHA" in str(error)


def test_instances_of_searxng_share_no_cached_results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for url in ("https://a.org/1", "https://b.org/2"):
        with ScriptedServer(Reply(body={"results": [{"url": url, "title": "t", "content": "c"}]})) as server:
            monkeypatch.setenv("SEARXNG_URL", server.url)
            engine = open_search("searxng", EngineConfig(searches=SearchCache(tmp_path)))
            assert [snippet.url for snippet in engine.search.search("silk", 1).snippets] == [url]


@pytest.mark.parametrize("key", ["two\nlines", "clé", "a\x00b"])
def test_a_key_that_cannot_be_one_is_refused_unseen(key: str) -> None:
    with pytest.raises(SettingsError, match="copy it again") as caught:
        WebServiceSearch(you.SERVICE, key)
    assert key not in str(caught.value)


def test_an_address_of_searxng_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SEARXNG_URL", raising=False)
    with pytest.raises(SettingsError, match="SEARXNG_URL"):
        searxng()
    with pytest.raises(SettingsError, match="is not one"):
        searxng("localhost:8080")


def duckduckgo(script: Script, **more: Any) -> tuple[list[Any], list[Request]]:
    """What is found, and the requests."""
    with ScriptedServer(script) as server:
        engine = DuckDuckGoSearch(base_url=f"{server.url}/html/", patience=BRISK, rate=math.inf, **more)
        return list(engine.search("silk", 20)), server.requests


def test_addresses_that_duckduckgo_wraps_are_unwrapped_and_its_texts_are_cut() -> None:
    target, about = "https://a.org/x?y=1&z=2", "https://duckduckgo.com/about"
    wrapped = f"//duckduckgo.com/l/?uddg={quote(target, safe='')}&rut=0a1b"
    pages = [Page(url, "<" * 9000, f"{number} text " * 900) for number, url in enumerate([wrapped, about])]
    found, _ = duckduckgo(WEB["duckduckgo"].finds(*pages))
    assert [one.url for one in found] == [target, about]
    assert max(len(text) for one in found for text in (one.title, one.text)) <= 1000


def test_options_and_further_pages_of_duckduckgo() -> None:
    def script(request: Request) -> Reply:
        skipped = int(request.form.get("s", 0))
        pages = [web_page(number) for number in range(skipped, skipped + (15 if skipped else 10))]
        return WEB["duckduckgo"].finds(*pages)(request)

    found, requests = duckduckgo(script, options=SearchOptions(region="GB", domains=("site3.org",)))
    assert [one.url for one in found] == [web_page(number).url for number in range(20)]
    assert [(one.form["q"], one.form["l"], one.form.get("s")) for one in requests] == [
        ("silk site:site3.org", "uk-en", None),
        ("silk site:site3.org", "uk-en", "10"),
    ]
    with pytest.raises(SettingsError, match="does not support the region 'xx'; leave it out"):
        DuckDuckGoSearch(options=SearchOptions(region="xx"))


def test_a_trickling_page_of_duckduckgo_is_given_up() -> None:
    error, _ = ask(WEB["duckduckgo"], Reply(body="x" * 500, pieces=0.05), patience=HASTY)
    assert "did not answer in time" in str(error)
    assert "(3 attempts)" in str(error)


def test_without_the_package_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ddgs.engines.duckduckgo", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'storm-pipeline\[search\]'"):
        DuckDuckGoSearch()
