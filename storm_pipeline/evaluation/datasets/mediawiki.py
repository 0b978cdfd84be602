"""Client of MediaWiki's Action API: current revisions, HTML and edit histories of articles."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from storm_pipeline.documents.plain import objects, plain_text, web_address
from storm_pipeline.errors import DatasetError
from storm_pipeline.evaluation.datasets.answer_cache import AnswerCache
from storm_pipeline.evaluation.datasets.histories import EditHistory
from storm_pipeline.evaluation.datasets.wikimedia import Wikimedia, service_errors
from storm_pipeline.net.http import Params
from storm_pipeline.net.retrying import TransientError, with_retries
from storm_pipeline.search.wikipedia_urls import page_address

_COMMON: Mapping[str, str | int] = {"format": "json", "formatversion": 2, "maxlag": 5}
_MOST_TITLES = 50
_MOST_REVISIONS = 10
_BUSY = frozenset({"maxlag", "ratelimited", "readonly", "internal_api_error_DBQueryTimeoutError"})
_REFERENCE = re.compile(r"<ref(?:\s[^<>]*[^<>/])?>", re.I)


@dataclass(frozen=True)
class CurrentPage:
    """A page as it stands now.

    Attributes:
        asked: the requested title, possibly of a redirect.
        title: its own title.
        number: its page id.
        revision: id of its current revision.
        url: its URL.
        namespace: 0 for articles.
        description: the wiki's short description; may be empty.
        item: id of its Wikidata item; may be empty.
        is_disambiguation: whether it is a disambiguation page.
    """

    asked: str
    title: str
    number: int
    revision: int
    url: str
    namespace: int = 0
    description: str = ""
    item: str = ""
    is_disambiguation: bool = False


class PageGoneError(DatasetError):
    """A page or revision does not exist (any more)."""


class MediaWiki:
    """Client of one wiki: one request at a time, backing off when replicas lag, with cached responses.

    Args:
        services: the wiki's services.
        answers: cache of this build.
    """

    def __init__(self, services: Wikimedia, answers: AnswerCache) -> None:
        self._address = services.api or f"https://{services.language}.wikipedia.org/w/api.php"
        self._site = f"{services.language}.wikipedia.org"
        self._patience = services.patience
        self._answers = answers
        self._client = services.client("Wikipedia", self._address, {403: "it refuses this address or network; wait"})

    def current(self, titles: Iterable[str]) -> Iterator[CurrentPage]:
        """The pages of titles, following redirects, each once; missing pages are skipped.

        Raises:
            DatasetError: the wiki could not be asked.
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
            for page in _pages(query, wanted[start : start + _MOST_TITLES], self._site):
                if page.number not in seen:
                    seen.add(page.number)
                    yield page

    def html(self, page: CurrentPage) -> str:
        """The HTML of the page's revision.

        Raises:
            PageGoneError: the revision was deleted.
            DatasetError: the wiki could not be asked.
        """
        parameters: Params = {"action": "parse", "oldid": page.revision, "prop": "text|revid"}
        plain: Params = {"disableeditsection": 1, "disabletoc": 1, "disablelimitreport": 1}
        answer = self._request({**parameters, **plain}, lambda answer: answer["parse"]["text"] + "")
        return str(answer["parse"]["text"])

    def created(self, page: CurrentPage) -> str:
        """Time of the page's first revision, in ISO 8601.

        Raises:
            DatasetError: the wiki could not be asked.
        """
        parameters: Params = {"rvlimit": 1, "rvdir": "newer", "rvprop": "timestamp", "pageids": page.number}
        query = self._query({"prop": "revisions", **parameters})
        return plain_text(_revisions(query)[0].get("timestamp")) if _revisions(query) else ""

    def history(self, page: CurrentPage, points: int) -> EditHistory:
        """The page's number of edits up to its revision, and its reference counts after some of them.

        Args:
            page: the page.
            points: number of evenly spaced edits after which references are counted, >= 0.

        Raises:
            DatasetError: the wiki could not be asked.
        """
        edits = [number for number in self._revision_ids(page) if number <= page.revision]
        last = len(edits) - 1
        chosen = sorted({round(i * last / max(points - 1, 1)) for i in range(points)}) if edits else []
        counts = self._references([edits[i] for i in chosen])
        return EditHistory(len(edits), tuple((i + 1, counts[edits[i]]) for i in chosen if edits[i] in counts))

    def _revision_ids(self, page: CurrentPage) -> list[int]:
        found: list[int] = []
        more: Params = {}
        while True:
            parameters: Params = {"rvlimit": "max", "rvdir": "newer", "rvprop": "ids", "pageids": page.number, **more}
            # The current revision is part of the cache key: a later one has more history.
            answer = self._request({"action": "query", "prop": "revisions", **parameters}, _checked, page.revision)
            found += [int(revision["revid"]) for revision in _revisions(answer["query"])]
            if not (more := answer.get("continue") or {}):
                return found

    def _references(self, revisions: Sequence[int]) -> dict[int, int]:
        counts: dict[int, int] = {}
        for start in range(0, len(revisions), _MOST_REVISIONS):
            ids = "|".join(map(str, revisions[start : start + _MOST_REVISIONS]))
            query = self._query({"prop": "revisions", "revids": ids, "rvprop": "ids|content", "rvslots": "main"})
            for revision in _revisions(query):
                content = (revision.get("slots") or {}).get("main", {}).get("content")
                if isinstance(content, str):
                    counts[int(revision["revid"])] = len(_REFERENCE.findall(content))
        return counts

    def _query(self, parameters: Params) -> Any:
        return self._request({"action": "query", **parameters}, _checked)["query"]

    def _request(self, parameters: Params, check: Callable[[Any], Any], *more: object) -> Any:
        """A response that passes ``check``, cached."""
        whole = {**_COMMON, **parameters}
        with service_errors():
            return self._answers.get(
                ["mediawiki", self._address, whole, *more],
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
        try:
            check(answer)
        except (LookupError, TypeError, AttributeError, ValueError) as problem:
            raise DatasetError("Wikipedia returned an unexpected response; check the address of its API") from problem
        return answer


def _checked(answer: Any) -> None:
    objects(answer["query"]["pages"])


def _revisions(query: Any) -> list[dict[str, Any]]:
    return [revision for page in objects(query["pages"]) for revision in objects(page.get("revisions"))]


def _pages(query: Any, asked: Sequence[str], site: str) -> Iterator[CurrentPage]:
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
            web_address(page.get("canonicalurl") or page.get("fullurl")) or page_address(last, site),
            int(page.get("ns", 0)),
            plain_text(properties.get("wikibase-shortdesc")),
            plain_text(properties.get("wikibase_item")),
            "disambiguation" in properties,
        )
