"""Client of MediaWiki's Action API: members of categories, revisions, HTML and edit histories of articles."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from storm_bench.datasets.current_page import CurrentPage, pages_of
from storm_bench.datasets.statistics import EditHistory
from storm_bench.datasets.wikimedia import AnswerCache, Wikimedia, service_errors
from storm_pipeline import DatasetError
from storm_pipeline.api import objects, plain_text
from storm_pipeline.net.retrying import TransientError, with_retries

Params = Mapping[str, str | int | list[str]]
_COMMON: Mapping[str, str | int] = {"format": "json", "formatversion": 2, "maxlag": 5}
_MOST_TITLES = 50
_MOST_REVISIONS = 10
_BUSY = frozenset({"maxlag", "ratelimited", "readonly", "internal_api_error_DBQueryTimeoutError"})
_REFERENCE = re.compile(r"<ref(?:\s[^<>]*[^<>/])?>", re.I)


class PageGoneError(DatasetError):
    """A page or revision does not exist (any more)."""


class MediaWiki:
    """Client of one wiki: one request at a time, backing off when replicas lag, with cached responses."""

    def __init__(self, services: Wikimedia, answers: AnswerCache) -> None:
        self._address = services.api or f"https://{services.language}.wikipedia.org/w/api.php"
        self._patience = services.patience
        self._answers = answers
        self._client = services.client("Wikipedia", self._address, {403: "it refuses this address or network; wait"})

    def current(self, titles: Iterable[str]) -> Iterator[CurrentPage]:
        """The pages of titles, following redirects, each once; missing pages are skipped.

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

    def members(self, category: str, start: str, end: str) -> dict[str, str]:
        """The articles that joined a category in a period: title → time of the last joining, oldest first.

        ``category``: its title, with the namespace: ``Category:Good articles``. Raises DatasetError: the wiki could not
        be asked.
        """
        which: Params = {"cmtitle": category, "cmnamespace": 0, "cmprop": "title|timestamp", "cmlimit": "max"}
        when: Params = {"cmsort": "timestamp", "cmdir": "newer", "cmstart": start, "cmend": end}
        queries = self._continued(
            {"list": "categorymembers", **which, **when}, lambda answer: objects(answer["query"]["categorymembers"])
        )
        found = (member for query in queries for member in objects(query["categorymembers"]))
        return {plain_text(member.get("title")): plain_text(member.get("timestamp")) for member in found}

    def at(self, page: CurrentPage, time: str) -> CurrentPage:
        """The page with the latest revision that it had at a time.

        Raises:
            PageGoneError: it had none, or has been deleted.
            DatasetError: the wiki could not be asked.
        """
        parameters: Params = {"rvlimit": 1, "rvdir": "older", "rvstart": time, "rvprop": "ids"}
        found = _revisions(self._query({"prop": "revisions", "pageids": page.number, **parameters}))
        if not found:
            raise PageGoneError(f"{page.title!r} has no revision of {time} or before; skip it")
        return replace(page, revision=int(found[0]["revid"]))

    def html(self, page: CurrentPage) -> str:
        """The HTML of the page's revision.

        Raises:
            PageGoneError: the revision was deleted.
            DatasetError: the wiki could not be asked.
        """
        plain: Params = {"disableeditsection": 1, "disabletoc": 1, "disablelimitreport": 1}
        return str(self._parse(page, {"prop": "text|revid", **plain}, lambda parsed: parsed["text"] + "")["text"])

    def categories(self, page: CurrentPage) -> frozenset[str]:
        """The titles of the categories of the page's revision, without namespace; errors as :meth:`html`."""
        parsed = self._parse(page, {"prop": "categories"}, lambda parsed: objects(parsed["categories"]))
        names = (plain_text(one.get("category")).replace("_", " ") for one in objects(parsed["categories"]))
        return frozenset(names)

    def created(self, page: CurrentPage) -> str:
        """Time of the page's first revision, in ISO 8601. Raises DatasetError: the wiki could not be asked."""
        parameters: Params = {"rvlimit": 1, "rvdir": "newer", "rvprop": "timestamp", "pageids": page.number}
        query = self._query({"prop": "revisions", **parameters})
        return plain_text(_revisions(query)[0].get("timestamp")) if _revisions(query) else ""

    def history(self, page: CurrentPage, points: int) -> EditHistory:
        """The page's number of edits up to its revision, and its reference counts after some of them.

        ``points``: number of evenly spaced edits after which references are counted, >= 0. Raises DatasetError: the
        wiki could not be asked.
        """
        edits = [number for number in self._revision_ids(page) if number <= page.revision]
        last = len(edits) - 1
        chosen = sorted({round(i * last / max(points - 1, 1)) for i in range(points)}) if edits else []
        counts = self._references([edits[i] for i in chosen])
        return EditHistory(len(edits), tuple((i + 1, counts[edits[i]]) for i in chosen if edits[i] in counts))

    def _revision_ids(self, page: CurrentPage) -> list[int]:
        parameters: Params = {"rvlimit": "max", "rvdir": "newer", "rvprop": "ids", "pageids": page.number}
        # The current revision is part of the cache key: a later one has more history.
        queries = self._continued({"prop": "revisions", **parameters}, _checked_pages, page.revision)
        return [int(revision["revid"]) for query in queries for revision in _revisions(query)]

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

    def _parse(self, page: CurrentPage, parameters: Params, check: Callable[[Any], Any]) -> Any:
        whole: Params = {"action": "parse", "oldid": page.revision, **parameters}
        return self._request(whole, lambda answer: check(answer["parse"]))["parse"]

    def _query(self, parameters: Params) -> Any:
        return next(self._continued(parameters, _checked_pages))

    def _continued(self, parameters: Params, check: Callable[[Any], Any], *more: object) -> Iterator[Any]:
        """A query's results, part by part."""
        further: Params | None = {}
        while further is not None:
            answer = self._request({"action": "query", **parameters, **further}, check, *more)
            further = answer.get("continue") or None
            yield answer["query"]

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


def _checked_pages(answer: Any) -> None:
    objects(answer["query"]["pages"])


def _revisions(query: Any) -> list[dict[str, Any]]:
    return [revision for page in objects(query["pages"]) for revision in objects(page.get("revisions"))]
