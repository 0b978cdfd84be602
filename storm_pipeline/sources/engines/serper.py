"""Serper: Google's results as JSON. Needs a key. Every ten pages cost a credit."""

import datetime
from typing import Any

from storm_pipeline.sources.search.engine_info import SearchOptions, paid_service
from storm_pipeline.sources.search.web_service import Hit, WebService, without_empty
from storm_pipeline.sources.transport.refusals import Refusal
from storm_pipeline.text.plain import plain_text, texts

INFO = paid_service(
    "serper", "SERPER_API_KEY", "Google's results, one short passage each", "language", "region", "since", "until"
)
_RESULTS = 10  # more results on a page cost more
_NO_CREDITS = "the account has no credits left; buy some at serper.dev or choose another engine"


def _options(options: SearchOptions) -> dict[str, Any]:
    params = without_empty(hl=(options.language or "").casefold(), gl=(options.region or "").casefold())
    if period := options.period():
        first, last = (f"{day.month}/{day.day}/{day.year}" for day in period)
        params["tbs"] = f"cdr:1,cd_min:{first},cd_max:{last}"
    return params


def _day(hit: Hit) -> str | None:
    """Return the ISO date of ``Mar 3, 2024``; None for other forms (``2 days ago``)."""
    try:
        return datetime.datetime.strptime(plain_text(hit.get("date")), "%b %d, %Y").date().isoformat()
    except ValueError:
        return None


SERVICE = WebService(
    INFO,
    key_from="serper.dev",
    address="https://google.serper.dev",
    path="/search",
    headers={"X-API-KEY": "{}"},
    rate=50.0,  # limit of the smallest plan
    page=_RESULTS,
    answers=10,
    site_operators=True,
    characters=2048,
    words=32,  # Google ignores the rest
    request=lambda query, _, number: {"q": query, "num": _RESULTS, "page": number + 1},
    options=_options,
    hits=lambda answer: answer.get("organic", ()) if {"organic", "searchParameters"} & answer.keys() else None,
    link="link",
    texts=lambda hit: texts([hit.get("snippet")]),
    published=_day,
    remedies={403: "set SERPER_API_KEY to a valid key"},
    refusals=(Refusal(400, "not enough credits", _NO_CREDITS),),
)
open_engine = SERVICE.open_engine
