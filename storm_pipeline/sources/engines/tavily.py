"""Tavily: a search service made for language models. Needs a key."""

from functools import cache
from typing import Any

from storm_pipeline.sources.search.engine_info import SearchOptions, code_of, paid_service
from storm_pipeline.sources.search.web_service import WebService, without_empty
from storm_pipeline.text.files import table_beside
from storm_pipeline.text.plain import iso_date, texts

INFO = paid_service(
    "tavily", "TAVILY_API_KEY", "pages of the web, one passage each, selected for the query", "region", "since", "until"
)
_MAX_DOMAINS, _MAX_EXCLUDED_DOMAINS = 300, 150


@cache
def countries() -> dict[str, str]:
    """Return the service's names of countries by country code, both in lower case."""
    from babel import Locale

    table, names = table_beside(__file__), Locale("en").territories
    known: dict[str, str] = {code: names[code.upper()].lower() for code in table["codes"].split()} | table["spellings"]
    return known


def _options(options: SearchOptions) -> dict[str, Any]:
    return without_empty(
        # a preference in the ranking
        country=options.region and code_of("tavily", "region", options.region, countries()),
        start_date=options.since and options.since.isoformat(),
        end_date=options.until and options.until.isoformat(),
        include_domains=options.domains[:_MAX_DOMAINS],
        exclude_domains=options.without_domains[:_MAX_EXCLUDED_DOMAINS],
    )


SERVICE = WebService(
    INFO,
    key_from="app.tavily.com",
    address="https://api.tavily.com",
    path="/search",
    headers={"Authorization": "Bearer {}"},
    rate=1.6,  # a development key allows 100 requests a minute, others 1,000
    page=20,
    request=lambda query, size, _: {"query": query, "max_results": size},
    options=_options,
    texts=lambda hit: texts([hit.get("content")]),
    published=lambda hit: iso_date(hit.get("published_date")),
    remedies={
        432: "the plan's credits for this month, or the limit set on this key, are used up; raise them at "
        "app.tavily.com or choose another engine",
        433: "the limit on pay-as-you-go is reached; raise it at app.tavily.com or choose another engine",
    },
)
open_engine = SERVICE.open_engine
