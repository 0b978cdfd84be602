"""Brave Search: an independent web index. Needs a key."""

from html import unescape
from typing import Any

from storm_pipeline.sources.search.engine_info import SearchOptions, code_of, paid_service
from storm_pipeline.sources.search.web_service import WebService
from storm_pipeline.sources.transport.refusals import Refusal
from storm_pipeline.text.files import table_beside
from storm_pipeline.text.plain import iso_date, plain_text, texts

INFO = paid_service(
    "brave", "BRAVE_API_KEY", "pages of the web, up to six passages each", "language", "region", "since", "until"
)
_TABLE = table_beside(__file__)
_REGIONS = {code: code.upper() for code in _TABLE["regions"].split()}
_LANGUAGES = {code: code for code in _TABLE["languages"].split()} | _TABLE["spellings"]
_REFUSED = f"set {INFO.variables[0]} to a valid key"
_REFUSALS = (
    Refusal(422, "subscription_token_invalid", _REFUSED),
    Refusal(422, "x-subscription-token", _REFUSED),
    Refusal(404, "subscription_not_found", f"{_REFUSED} of a plan that offers web search"),
    Refusal(
        400, "option_not_in_plan", "the plan of this key does not include a requested option; choose a larger plan"
    ),
    Refusal(429, "quota_limited", "the plan's searches for this month are used up; raise it or choose another engine"),
)


def _options(options: SearchOptions) -> dict[str, Any]:
    params = {"country": code_of("brave", "region", options.region, _REGIONS) if options.region else "ALL"}
    if options.language:
        params["search_lang"] = code_of("brave", "language", options.language, _LANGUAGES)
    if period := options.period():
        params["freshness"] = "{}to{}".format(*period)
    return params


def _request(query: str, size: int, number: int) -> dict[str, Any]:
    plain = {"text_decorations": "false", "extra_snippets": "true"}
    return {"q": query, "count": size, "offset": number} | plain  # the offset counts pages of results


def _hits(answer: dict[str, Any]) -> object:
    if answer.get("type") != "search" and "web" not in answer:
        return None
    return web.get("results", ()) if isinstance(web := answer.get("web"), dict) else ()


SERVICE = WebService(
    INFO,
    key_from="api-dashboard.search.brave.com",
    address="https://api.search.brave.com/res/v1/web/search",
    headers={"X-Subscription-Token": "{}", "Accept": "application/json"},
    rate=1.0,  # limit of the smallest plan
    page=20,
    answers=10,
    site_operators=True,
    words=50,
    request=_request,
    options=_options,
    hits=_hits,
    texts=lambda hit: list(map(unescape, texts([hit.get("description"), *texts(hit.get("extra_snippets"))]))),
    title=lambda hit: unescape(plain_text(hit.get("title"))),
    published=lambda hit: iso_date(hit.get("page_age")),
    refusals=_REFUSALS,
)
open_engine = SERVICE.open_engine
