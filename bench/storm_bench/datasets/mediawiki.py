"""Client of MediaWiki's Action API: pages, their age, and HTML of articles."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from storm_bench.datasets.wikimedia import AnswerCache, Wikimedia, parsed, service_errors
from storm_pipeline import DatasetError
from storm_pipeline.api import objects, plain_text, web_address
from storm_pipeline.run.retrying import TransientError, with_retries

Params = Mapping[str, str | int | list[str]]
_COMMON: Mapping[str, str | int] = {"format": "json", "formatversion": 2, "maxlag": 5}
_MOST_TITLES = 50
_BUSY = frozenset({"maxlag", "ratelimited", "readonly", "internal_api_error_DBQueryTimeoutError"})
_LIST = re.compile(
    r"(?:lists?|index|outline|glossary|timeline|chronology|bibliography|discography|filmography) of\b|deaths in \d{4}"
    r"|.*\b(?:discography|filmography|bibliography|list of episodes)$",
    re.I,
)
_LIST_DESCRIPTION = re.compile(r"wikimedia list article|wikipedia list article|list of\b", re.I)


class PageGoneError(DatasetError):
    """A page or revision does not exist (any more)."""


@dataclass(frozen=True)
class CurrentPage:
    """A page in its current revision."""

    asked: str  # the requested title, possibly of a redirect
    title: str  # its own title
    number: int  # its page id
    revision: int  # id of its revision
    url: str  # its URL
    namespace: int = 0  # 0 for articles
    description: str = ""  # the wiki's short description; may be empty
    item: str = ""  # id of its Wikidata item; may be empty
    is_disambiguation: bool = False  # whether it is a disambiguation page


def pages_of(query: Any, asked: Sequence[str]) -> Iterator[CurrentPage]:
    """Yield the existing pages of a query in the order of the requested titles, following redirects."""
    found = {plain_text(page.get("title")): page for page in objects(query["pages"])}
    steps = {
        plain_text(step.get("from")): plain_text(step.get("to"))
        for kind in ("normalized", "redirects")
        for step in objects(query.get(kind))
    }
    for title in asked:
        last, left = title, len(steps)
        while last in steps and left >= 0:
            last, left = steps[last], left - 1
        page = found.get(last)
        if page is None or page.get("missing") or page.get("invalid") or not page.get("lastrevid"):
            continue
        properties = page.get("pageprops") or {}
        yield CurrentPage(
            title,
            last,
            int(page["pageid"]),
            int(page["lastrevid"]),
            web_address(page.get("canonicalurl") or page.get("fullurl")),
            int(page.get("ns", 0)),
            plain_text(properties.get("wikibase-shortdesc")),
            plain_text(properties.get("wikibase_item")),
            "disambiguation" in properties,
        )


def non_article_reason(page: CurrentPage) -> str | None:
    """Return why a page is not a prose article, by namespace, title and description; None if it may be one."""
    if page.namespace != 0:
        return "no article"
    if page.is_disambiguation:
        return "disambiguation"
    if _LIST.match(page.title) or _LIST_DESCRIPTION.search(page.description):
        return "list"
    return None


class MediaWiki:
    """Client of one wiki: one request at a time, backing off when replicas lag, with cached responses."""

    def __init__(self, services: Wikimedia, answers: AnswerCache) -> None:
        self._address = services.api or f"https://{services.language}.wikipedia.org/w/api.php"
        self._patience = services.patience
        self._answers = answers
        self._client = services.client("Wikipedia", self._address, {403: "it refuses this address or network; wait"})

    def current(self, titles: Iterable[str]) -> Iterator[CurrentPage]:
        """Yield the pages of titles, following redirects, each once; missing pages are skipped.

        Raises DatasetError: the wiki could not be asked.
        """
        wanted, seen = list(dict.fromkeys(titles)), set[int]()
        for start in range(0, len(wanted), _MOST_TITLES):
            query = self._query(
                {
                    "prop": "info|pageprops",
                    "titles": "|".join(wanted[start : start + _MOST_TITLES]),
                    "redirects": 1,
                    "inprop": "url",
                    "ppprop": "disambiguation|wikibase-shortdesc|wikibase_item",
                }
            )
            for page in pages_of(query, wanted[start : start + _MOST_TITLES]):
                if page.number not in seen:
                    seen.add(page.number)
                    yield page

    def html(self, page: CurrentPage) -> str:
        """Return the HTML of the page's revision.

        Raises DatasetError: the wiki could not be asked; PageGoneError: the revision was deleted.
        """
        plain: Params = {"disableeditsection": 1, "disabletoc": 1, "disablelimitreport": 1}
        whole: Params = {"action": "parse", "oldid": page.revision, "prop": "text|revid", **plain}
        return str(self._request(whole, lambda answer: answer["parse"]["text"] + "")["parse"]["text"])

    def created(self, page: CurrentPage) -> str:
        """Return time of the page's first revision, in ISO 8601. Raises DatasetError: the wiki could not be asked."""
        parameters: Params = {"rvlimit": 1, "rvdir": "newer", "rvprop": "timestamp", "pageids": page.number}
        query = self._query({"prop": "revisions", **parameters})
        return plain_text(_revisions(query)[0].get("timestamp")) if _revisions(query) else ""

    def _query(self, parameters: Params) -> Any:
        return self._request({"action": "query", **parameters}, _checked_pages)["query"]

    def _request(self, parameters: Params, check: Callable[[Any], Any]) -> Any:
        """Return a response that passes ``check``, cached."""
        whole = {**_COMMON, **parameters}
        with service_errors():
            return self._answers.get(
                ["mediawiki", self._address, whole],
                lambda: with_retries(lambda: self._request_once(whole, check), self._patience),
            )

    def _request_once(self, parameters: Params, check: Callable[[Any], Any]) -> Any:
        answer = self._client.post_form_json(parameters)  # 50 titles do not fit into a URL
        error = answer.get("error") if isinstance(answer, dict) else None
        if isinstance(error, dict):
            code, info = plain_text(error.get("code")), plain_text(error.get("info"))[:200]
            if code in _BUSY:
                raise TransientError(f"Wikipedia is busy ({info})", 5.0)
            raise PageGoneError(f"Wikipedia returned no page: {info or code}; skip it")
        parsed("Wikipedia", lambda: check(answer))
        return answer


def _checked_pages(answer: Any) -> None:
    objects(answer["query"]["pages"])


def _revisions(query: Any) -> list[dict[str, Any]]:
    return [revision for page in objects(query["pages"]) for revision in objects(page.get("revisions"))]
