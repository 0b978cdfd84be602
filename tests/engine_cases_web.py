"""The engines of the web, as their services speak."""

import math
from html import escape
from typing import Any

from engine_cases import KEY, SLOW, Case, Page, Said, opens
from servers import Reply, Request

from storm_pipeline.run.retrying import Patience
from storm_pipeline.sources.engines import brave, exa, serper, tavily, you
from storm_pipeline.sources.engines.duckduckgo import DuckDuckGoSearch
from storm_pipeline.sources.engines.searxng import searxng
from storm_pipeline.sources.search.base import SearchEngine
from storm_pipeline.sources.search.web_service import WebServiceSearch

_ODD: tuple[Any, ...] = (None, 7, "text", [], {}, {"url": 5, "link": 5}, {"title": "no address"})


def _key_refused(variable: str) -> dict[str, Said]:
    said = f"set {variable} to a valid key"
    return {str(status): (Reply(status, {"detail": KEY}), said) for status in (401, 403)}


def _brave_answer(hits: list[Any], request: Request) -> dict[str, Any]:
    answer: dict[str, Any] = {"type": "search", "query": {"original": request.query["q"]}, "mixed": {}}
    return answer | ({"web": {"type": "search", "results": hits}} if hits and request.query["offset"] == "0" else {})


def _brave_error(code: str, status: int, **more: Any) -> Reply:
    return Reply(status, {"type": "ErrorResponse", "error": {"status": status, "code": code} | more, "time": 1})


def _serper_answer(hits: list[Any], request: Request) -> dict[str, Any]:
    asked = request.json
    return {"searchParameters": asked, "organic": hits if asked["page"] == 1 else [], "credits": 1}


def _serper_error(status: int, message: str) -> Reply:
    return Reply(status, {"message": message, "statusCode": status})


def duckduckgo_result(page: Page) -> str:
    address = escape(page.url)
    return (
        f'<div class="result results_links web-result"><div class="links_main links_deep result__body">'
        f'<h2 class="result__title"><a rel="nofollow" class="result__a" href="{address}">{page.title}</a></h2>'
        f'<div class="result__extras"><a class="result__url" href="{address}">site</a></div>'
        f'<a class="result__snippet" href="{address}">{page.text}</a><div class="clear"></div></div></div>'
    )


def _duckduckgo_answer(hits: list[Any], _: Request) -> str:
    nothing = '<div class="no-results"><h2 class="result__title">No  results.</h2></div>'
    return f"<!DOCTYPE html><html><body><div id='links'>{''.join(hits) or nothing}</div></body></html>"


def _duckduckgo(url: str, patience: Patience) -> SearchEngine:
    return DuckDuckGoSearch(base_url=f"{url}/html/", patience=patience, rate=math.inf)


_BOT = "it treats this client as a bot"
WEB: dict[str, Case] = {
    "duckduckgo": Case(
        _duckduckgo,
        "/html/",
        duckduckgo_result,
        _duckduckgo_answer,
        form={"q": "silk road", "b": "", "l": "wt-wt"},
        agent="Mozilla/",
        odd=(
            duckduckgo_result(Page("https://duckduckgo.com/y.js?ad_domain=shop.com", "Buy silk", "cheap")),
            duckduckgo_result(Page("javascript:x()", "T", "text")),
            duckduckgo_result(Page("", "T", "text")),
            duckduckgo_result(Page("https://b.org", "T", " ")),
        ),
        garbled="<b>lone</b> \u0085 one\n",
        refusals={
            **{str(status): (Reply(status, headers={"Retry-After": "5"}), _BOT) for status in (202, 403, 429)},
            "404": (Reply(404), "try again later"),
        },
        passing={"503": Reply(503), "reset": Reply(reset=True), "slow": SLOW},
        malformed={
            "challenge": (Reply(body='<form id="challenge-form" action="//duckduckgo.com/a.js">'), "of being human"),
            "large": (Reply(body=b"x" * 10_000_001), "more than 10,000,000 bytes"),
            **{
                str(body)[:9]: (Reply(body=body), "an unknown page")
                for body in (
                    "<html><body>Welcome to this hotel. Log in.</body></html>",
                    "",
                    b"\x00\xff\xfe",
                    "<?xml?><a/>",
                )
            },
        },
    ),
    "you": Case(
        opens(you.SERVICE, "/v1/search"),
        "/v1/search",
        lambda page: {"url": page.url, "title": page.title, "description": "d", "snippets": [page.text]},
        lambda hits, _: {"results": {"web": hits}, "metadata": {}},
        query={"query": "silk road", "count": "5"},
        headers={"x-api-key": KEY},
        odd=(*_ODD, {"url": "https://b.org", "snippets": [None, ""]}),
        refusals=_key_refused("YDC_API_KEY"),
    ),
    "searxng": Case(
        lambda url, patience: WebServiceSearch(searxng(f"{url}/"), patience=patience, rate=math.inf),
        "/search",
        lambda page: {"url": page.url, "title": page.title, "content": page.text},
        lambda hits, request: {"results": hits if request.query["pageno"] == "1" else []},
        query={"q": "silk road", "format": "json", "pageno": "1", "language": "all"},
        odd=(*_ODD, {"url": "https://b.org", "content": None}),
        refusals={"401": (Reply(401), "requires a login"), "403": (Reply(403), "settings.yml")},
    ),
    "tavily": Case(
        opens(tavily.SERVICE),
        "/search",
        lambda page: {"url": page.url, "title": page.title, "content": page.text, "score": 0.8, "raw_content": None},
        lambda hits, _: {"query": "q", "results": hits, "response_time": 0.9},
        body={"query": "silk road", "max_results": 5},
        headers={"authorization": f"Bearer {KEY}"},
        odd=(*_ODD, {"url": "https://b.org", "content": ""}),
        refusals=_key_refused("TAVILY_API_KEY")
        | {
            "432 plan used up": (
                Reply(432, {"detail": {"error": "This request exceeds your plan's set usage limit."}}),
                "are used up; raise them",
            ),
            "433 pay-as-you-go used up": (Reply(433), "limit on pay-as-you-go is reached"),
        },
    ),
    "brave": Case(
        opens(brave.SERVICE, "/res/v1/web/search"),
        "/res/v1/web/search",
        lambda page: {"type": "search_result", "url": page.url, "title": page.title, "description": page.text},
        _brave_answer,
        query={
            **{"q": "silk road", "count": "5", "offset": "0", "country": "ALL"},
            **{"text_decorations": "false", "extra_snippets": "true"},
        },
        headers={"x-subscription-token": KEY},
        odd=(*_ODD, {"url": "https://b.org", "description": None, "extra_snippets": [None, ""]}),
        refusals=_key_refused("BRAVE_API_KEY")
        | {
            "422 key unknown": (_brave_error("SUBSCRIPTION_TOKEN_INVALID", 422), "set BRAVE_API_KEY"),
            "422 key missing": (
                _brave_error("VALIDATION", 422, meta={"errors": [{"loc": ["header", "x-subscription-token"]}]}),
                "set BRAVE_API_KEY",
            ),
            "429 plan used up": (_brave_error("QUOTA_LIMITED", 429), "for this month are used up"),
        },
        passing={"429 too fast": _brave_error("RATE_LIMITED", 429, detail="Request rate limit exceeded for plan.")},
    ),
    "serper": Case(
        opens(serper.SERVICE),
        "/search",
        lambda page: {"link": page.url, "title": page.title, "snippet": page.text, "position": 1},
        _serper_answer,
        body={"q": "silk road", "num": 10, "page": 1},
        headers={"x-api-key": KEY},
        odd=(*_ODD, {"link": "https://b.org", "snippet": None}),
        refusals=_key_refused("SERPER_API_KEY")
        | {
            "403 key unknown": (_serper_error(403, "Unauthorized."), "set SERPER_API_KEY"),
            "400 no credits": (_serper_error(400, "Not enough credits"), "has no credits left"),
        },
    ),
    "exa": Case(
        opens(exa.SERVICE),
        "/search",
        lambda page: {"id": page.url, "url": page.url, "title": page.title, "highlights": [page.text]},
        lambda hits, _: {"requestId": "r", "results": hits, "costDollars": {"total": 0.005}},
        body={"query": "silk road", "numResults": 5, "contents": {"highlights": True}},
        headers={"x-api-key": KEY},
        odd=(*_ODD, {"url": "https://b.org", "highlights": []}),
        refusals=_key_refused("EXA_API_KEY")
        | {
            "402 no credits": (Reply(402, {"error": "…", "tag": "NO_MORE_CREDITS"}), "no credit left; top it up"),
            "402 budget used up": (Reply(402, {"tag": "API_KEY_BUDGET_EXCEEDED"}), "budget of this key is used up"),
        },
    ),
}
