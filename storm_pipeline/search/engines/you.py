"""You.com web search: the engine behind the paper's experiments (section 4.3). Needs a key."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from storm_pipeline.documents.plain import iso_date, one_line, plain_text, web_address
from storm_pipeline.errors import SearchError
from storm_pipeline.net.gates import Rate
from storm_pipeline.net.http import ApiClient
from storm_pipeline.net.retrying import Patience
from storm_pipeline.search.engine_info import EngineConfig, EngineInfo, reject_argument, require_key
from storm_pipeline.types import Snippet

INFO = EngineInfo(
    "you",
    needs="a key in YDC_API_KEY",
    free=False,
    returns="pages of the web, several passages each; the engine of the paper",
    variables=("YDC_API_KEY",),
)
_MAX_RESULTS = 100


def open_engine(argument: str, config: EngineConfig) -> "YouSearch":
    """The engine of the specification ``you``."""
    reject_argument("you", argument)
    return YouSearch(rate=config.rate or 10.0)


class YouSearch:
    """Searches the web through You.com; several passages per page.

    Supports both versions of the API: the current one (``/v1/search``, pages and news) and the earlier one
    (``/search``, hits), which an older contract or a gateway may still offer.

    Args:
        key: the API key; by default the environment variable ``YDC_API_KEY``.
        base_url: full URL of the search endpoint.
        patience: time limits.
        rate: requests a second (the service allows 10).

    Raises:
        SettingsError: the key is missing or malformed.
    """

    name = "you"

    def __init__(
        self,
        key: str | None = None,
        *,
        base_url: str = "https://ydc-index.io/v1/search",
        patience: Patience | None = None,
        rate: float = 10.0,
    ) -> None:
        key = require_key("you", INFO.variables[0], "you.com/platform", key)
        self._count = "count" if "/v1" in urlsplit(base_url).path else "num_web_results"
        refused = f"set {INFO.variables[0]} to a valid key"
        self._client = ApiClient(
            "you.com",
            base_url,
            rate=Rate(rate),
            headers={"X-API-Key": key},
            remedies={401: refused, 403: f"{refused}; this one may not use the search service"},
            patience=patience,
        )

    def search(self, query: str, k: int) -> Sequence[Snippet]:
        """Up to ``k`` pages, best first, each with the passages that You.com chose; see the protocol.

        Raises:
            SearchError: the request to You.com failed, or its response has an unknown format.
        """
        query = one_line(query)
        if not query or k < 1:
            return ()
        answer = self._client.get_json({"query": query, self._count: min(k, _MAX_RESULTS)})
        found: dict[str, list[Snippet]] = {}
        for hit in _hits(answer):
            url = web_address(hit.get("url"))
            if not url or (url not in found and len(found) == k):
                continue
            if passages := _passages(hit):
                known = found.setdefault(url, [])
                title, published = plain_text(hit.get("title")), iso_date(hit.get("page_age"))
                known += (Snippet(url, title, text, published=published, engine=self.name) for text in passages)
        return tuple(snippet for snippets in found.values() for snippet in dict.fromkeys(snippets))


def _hits(answer: Any) -> Iterator[Mapping[str, Any]]:
    """The hits of a response in either API version, web pages before news."""
    results = answer.get("results") if isinstance(answer, dict) else None
    if isinstance(results, dict):
        groups = [results.get("web"), results.get("news")]
    elif isinstance(answer, dict) and "hits" in answer:
        groups = [answer["hits"]]
    else:
        raise SearchError(
            "you.com answered with JSON in an unknown format; check that base_url is that of its search service"
        )
    for group in groups:
        yield from (hit for hit in group or () if isinstance(hit, dict))


def _passages(hit: Mapping[str, Any]) -> list[str]:
    """The distinct passages of a hit; its description if it has none (news)."""
    snippets = hit.get("snippets")
    texts = [plain_text(text) for text in snippets] if isinstance(snippets, list) else []
    return list(dict.fromkeys(filter(None, texts))) or list(filter(None, [plain_text(hit.get("description"))]))
