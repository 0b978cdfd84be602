"""DuckDuckGo through the package ddgs: its real client against a local server, and a double that fails on demand."""

import math
import sys
import time
from html import escape
from typing import Any
from urllib.parse import parse_qs, quote

import pytest
from engine_cases import BRISK, HASTY, Page, web_page
from servers import Reply, Request, ScriptedServer

from storm_pipeline.errors import MissingExtraError, SearchError, SettingsError
from storm_pipeline.run.retrying import Patience
from storm_pipeline.sources.engines.duckduckgo import DuckDuckGoSearch
from storm_pipeline.sources.search.engine_info import SearchOptions

pytest.importorskip("ddgs")

NOTHING = '<div class="no-results"><h2 class="result__title">No  results.</h2></div>'
ADVERT = Page("https://duckduckgo.com/y.js?ad_domain=shop.com", "Buy silk", "cheap")


def open_engine(url: str, patience: Patience = BRISK, **more: Any) -> DuckDuckGoSearch:
    return DuckDuckGoSearch(base_url=f"{url}/html/", patience=patience, rate=math.inf, **more)


def results_page(*pages: Page) -> Reply:
    results = "".join(
        f'<div class="result results_links web-result"><div class="links_main links_deep result__body">'
        f'<h2 class="result__title"><a rel="nofollow" class="result__a" href="{escape(url)}">{title}</a></h2>'
        f'<div class="result__extras"><a class="result__url" href="{escape(url)}">site</a></div>'
        f'<a class="result__snippet" href="{escape(url)}">{text}</a><div class="clear"></div></div></div>'
        for url, title, text in pages
    )
    return Reply(body=f"<!DOCTYPE html><html><body><div id='links'>{results}</div></body></html>")


def form(request: Request) -> dict[str, str]:
    return {name: values[-1] for name, values in parse_qs(request.body.decode(), keep_blank_values=True).items()}


def test_results_and_wire_format() -> None:
    first = web_page(1)._replace(text="the <b>silk</b> road &amp; more")
    with ScriptedServer(results_page(first, ADVERT, web_page(2))) as server:
        found = open_engine(server.url).search("silk  road\n", 5)
        request = server.requests[0]
    assert [(s.url, s.title, s.text) for s in found] == [
        (first.url, first.title, "the silk road & more"),
        tuple(web_page(2)),
    ]
    assert {s.engine for s in found} == {"duckduckgo"}
    assert (request.method, request.path) == ("POST", "/html/")
    assert form(request) == {"q": "silk road", "b": "", "l": "wt-wt"}


def test_wrapped_addresses_are_unwrapped() -> None:
    target = "https://a.org/x?y=1&z=2"
    wrapped = f"//duckduckgo.com/l/?uddg={quote(target, safe='')}&rut=0a1b"
    about = "https://duckduckgo.com/about"
    pages = [Page(url, "T", f"text of {number}") for number, url in enumerate([wrapped, about, "javascript:x()", ""])]
    with ScriptedServer(results_page(*pages)) as server:
        found = open_engine(server.url).search("silk", 5)
    assert [s.url for s in found] == [target, about]


def test_options_and_further_pages() -> None:
    def script(request: Request) -> Reply:
        skipped = int(form(request).get("s", 0))
        return results_page(*(web_page(number) for number in range(skipped, skipped + (15 if skipped else 10))))

    options = SearchOptions(region="GB", domains=("site3.org",))
    with ScriptedServer(script) as server:
        found = open_engine(server.url, options=options).search("silk", 20)
        asked = [form(request) for request in server.requests]
    assert [s.url for s in found] == [web_page(number).url for number in range(20)]
    assert [(one["q"], one["l"], one.get("s")) for one in asked] == [
        ("silk site:site3.org", "uk-en", None),
        ("silk site:site3.org", "uk-en", "10"),
    ]
    with pytest.raises(SettingsError, match="does not support the region 'xx'; leave it out"):
        DuckDuckGoSearch(options=SearchOptions(region="xx"))


def test_nothing_found_and_nothing_asked() -> None:
    with ScriptedServer(Reply(body=NOTHING)) as server:
        engine = open_engine(server.url)
        assert engine.search("silk", 5) == ()
        assert [engine.search("", 5), engine.search(" \n", 5), engine.search("silk", 0)] == [(), (), ()]
        assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        (Reply(202, "<html>anomaly</html>"), "answered 202: it treats this client as a bot"),
        (Reply(403), "answered 403: it treats this client as a bot"),
        (Reply(429, headers={"Retry-After": "5"}), "answered 429: it treats this client as a bot"),
        (Reply(body='<form id="challenge-form" action="//duckduckgo.com/anomaly.js">'), "proof of being human"),
        (Reply(404), "answered 404: try again later"),
        (Reply(body="<html><body>Welcome to this hotel. Log in.</body></html>"), "an unknown page"),
        (Reply(body=""), "an unknown page"),
        (Reply(body=b"\x00\xff\xfe"), "an unknown page"),
        (Reply(body='<?xml version="1.0" encoding="utf-8"?><a/>'), "an unknown page"),
        (Reply(body={"results": []}), "an unknown page"),
    ],
    ids=["202", "403", "429", "challenge", "404", "login page", "empty", "binary", "xml", "json"],
)
def test_refusals_and_odd_pages_are_final(reply: Reply, said: str) -> None:
    with ScriptedServer(reply) as server:
        with pytest.raises(SearchError, match=said):
            open_engine(server.url).search("silk", 3)
        assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("reply", "patience", "said"),
    [
        (Reply(503), BRISK, "answered 503"),
        (Reply(reset=True), BRISK, "could not be reached or closed the connection"),
        (Reply(delay=20), HASTY, "did not answer in time"),
        (Reply(body="x" * 500, pieces=0.05), HASTY, "did not answer in time"),
    ],
    ids=["503", "reset", "slow", "trickle"],
)
def test_what_may_pass_is_tried_again(reply: Reply, patience: Patience, said: str) -> None:
    with ScriptedServer(reply, results_page(web_page(1))) as server:
        assert len(open_engine(server.url, patience).search("silk", 3)) == 1
    with ScriptedServer(reply) as server:
        start = time.monotonic()
        with pytest.raises(SearchError, match=rf"{said}.*\(3 attempts\)"):
            open_engine(server.url, patience).search("silk", 3)
        assert time.monotonic() - start < 15


def test_a_service_that_keeps_refusing_is_left_alone() -> None:
    with ScriptedServer(Reply(202)) as server:
        for _ in range(5):
            with pytest.raises(SearchError, match="answered 202"):
                open_engine(server.url).search("silk", 3)
        with pytest.raises(SearchError, match="left alone"):
            open_engine(server.url).search("silk", 3)
        assert len(server.requests) == 5


def test_without_the_package_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ddgs.engines.duckduckgo", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'storm-pipeline\[search\]'"):
        DuckDuckGoSearch()
