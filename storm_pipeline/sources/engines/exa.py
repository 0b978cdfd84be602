"""Exa: semantic web search that returns the matching passages. Needs a key."""

from typing import Any

from storm_pipeline.sources.search.engine_info import SearchOptions, paid_service
from storm_pipeline.sources.search.web_service import WebService, without_empty
from storm_pipeline.sources.transport.refusals import Refusal
from storm_pipeline.text.plain import iso_date, plain_text, texts

INFO = paid_service(
    "exa", "EXA_API_KEY", "pages of the web found by semantic search, several passages each", "region", "since", "until"
)
_MAX_DOMAINS = 1200


def _options(options: SearchOptions) -> dict[str, Any]:
    return without_empty(
        userLocation=options.region and options.region.upper(),
        startPublishedDate=options.since and f"{options.since}T00:00:00.000Z",
        endPublishedDate=options.until and f"{options.until}T23:59:59.999Z",
        includeDomains=options.domains[:_MAX_DOMAINS],
        # Exa accepts only one of the two lists
        excludeDomains=() if options.domains else options.without_domains[:_MAX_DOMAINS],
    )


SERVICE = WebService(
    INFO,
    key_from="dashboard.exa.ai",
    address="https://api.exa.ai",
    path="/search",
    headers={"x-api-key": "{}"},
    rate=10.0,
    page=100,
    characters=2000,
    request=lambda query, size, _: {"query": query, "numResults": size, "contents": {"highlights": True}},
    options=_options,
    texts=lambda hit: texts(hit.get("highlights")),
    published=lambda hit: iso_date(hit.get("publishedDate")),
    author=lambda hit: plain_text(hit.get("author")) or None,
    remedies={402: "the account has no credit left; top it up at dashboard.exa.ai or choose another engine"},
    refusals=(
        Refusal(402, "api_key_budget_exceeded", "the budget of this key is used up; raise it at dashboard.exa.ai"),
    ),
)
open_engine = SERVICE.open_engine
