"""The engines of the web, as their services speak."""

import math
from collections.abc import Mapping
from typing import Any

from engine_cases import BROKEN_JSON, KEY, Case, Page, Said
from servers import Reply, Request

from storm_pipeline.search.engines.searxng import SearxngSearch
from storm_pipeline.search.engines.you import YouSearch

_ODD: tuple[Any, ...] = (None, 7, "text", [], {}, {"url": 5, "link": 5}, {"title": "no address"})
_OTHER_FORM: Mapping[str, Said] = {"other form": (Reply(body={"error": "x"}), "unknown form")}


def _key_refused(variable: str) -> dict[str, Said]:
    said = f"set {variable} to a valid key"
    return {str(status): (Reply(status, {"detail": KEY}), said) for status in (401, 403)}


def _you_hit(page: Page) -> dict[str, Any]:
    return {"url": page.url, "title": page.title, "description": "d", "snippets": [page.text]}


def _searxng_hit(page: Page) -> dict[str, Any]:
    return {"url": page.url, "title": page.title, "content": page.text}


def _searxng_answer(hits: list[Any], request: Request) -> dict[str, Any]:
    return {"results": hits if request.query["pageno"] == "1" else []}


WEB: dict[str, Case] = {
    "you": Case(
        lambda url, patience: YouSearch(KEY, base_url=f"{url}/v1/search", patience=patience, rate=math.inf),
        "/v1/search",
        _you_hit,
        lambda hits, _: {"results": {"web": hits}, "metadata": {}},
        query={"query": "silk road", "count": "5"},
        headers={"x-api-key": KEY},
        odd=(*_ODD, {"url": "https://b.org", "snippets": [None, ""]}),
        refusals=_key_refused("YDC_API_KEY"),
        malformed=BROKEN_JSON | _OTHER_FORM,
    ),
    "you, earlier form": Case(
        lambda url, patience: YouSearch(KEY, base_url=f"{url}/search", patience=patience, rate=math.inf),
        "/search",
        _you_hit,
        lambda hits, _: {"hits": hits, "latency": 1},
        query={"query": "silk road", "num_web_results": "5"},
        headers={"x-api-key": KEY},
        odd=(*_ODD, {"url": "https://b.org", "snippets": [None, ""]}),
        refusals=_key_refused("YDC_API_KEY"),
        malformed=BROKEN_JSON | _OTHER_FORM,
    ),
    "searxng": Case(
        lambda url, patience: SearxngSearch(f"{url}/", patience=patience, rate=math.inf),
        "/search",
        _searxng_hit,
        _searxng_answer,
        query={"q": "silk road", "format": "json", "pageno": "1", "language": "all"},
        odd=(*_ODD, {"url": "https://b.org", "content": None}),
        refusals={"401": (Reply(401), "asks for a login"), "403": (Reply(403), "settings.yml")},
        malformed=BROKEN_JSON | _OTHER_FORM,
    ),
}
