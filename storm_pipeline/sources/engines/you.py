"""You.com web search: the engine behind the paper's experiments (section 4.3). Needs a key."""

from collections.abc import Mapping
from typing import Any

from storm_pipeline.sources.search.engine_info import paid_service
from storm_pipeline.sources.search.web_service import WebService
from storm_pipeline.text.plain import iso_date, objects, texts

INFO = paid_service("you", "YDC_API_KEY", "pages of the web, several passages each; the engine of the paper")


def _hits(answer: Mapping[str, Any]) -> object:
    results = answer.get("results")
    return [*objects(results.get("web")), *objects(results.get("news"))] if isinstance(results, dict) else None


SERVICE = WebService(
    INFO,
    key_from="you.com/platform",
    address="https://ydc-index.io/v1/search",
    headers={"X-API-Key": "{}"},
    rate=10.0,
    page=100,
    request=lambda query, size, _: {"query": query, "count": size},
    hits=_hits,
    texts=lambda hit: texts(hit.get("snippets")) or texts([hit.get("description")]),  # news have no snippets
    published=lambda hit: iso_date(hit.get("page_age")),
    name="you.com",
)
open_engine = SERVICE.open_engine
