"""What MediaWiki's Action API tells of articles: which revision is current, its HTML, and how it came about."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from storm_pipeline.documents.plain import objects, plain_text, web_address
from storm_pipeline.errors import DatasetError
from storm_pipeline.evaluation.datasets.answers import Answers
from storm_pipeline.evaluation.datasets.histories import EditHistory
from storm_pipeline.evaluation.datasets.wikimedia import Wikimedia, building
from storm_pipeline.net.http import Params
from storm_pipeline.net.retrying import TransientError, with_retries
from storm_pipeline.search.addresses import page_address

_COMMON: Mapping[str, str | int] = {"format": "json", "formatversion": 2, "maxlag": 5}
_MOST_TITLES = 50
_MOST_REVISIONS = 10
_BUSY = frozenset({"maxlag", "ratelimited", "readonly", "internal_api_error_DBQueryTimeoutError"})
_REFERENCE = re.compile(r"<ref(?:\s[^<>]*[^<>/])?>", re.I)


@dataclass(frozen=True)
class CurrentPage:
    """A page as it stands now.

    Attributes:
        asked: the title by which it was asked for, which may be that of a redirect.
        title: its own.
        number: its id on the wiki.
        revision: id of its current revision.
        url: its address.
        namespace: 0 for articles.
        description: the wiki's short description; may be empty.
        item: id of its item on Wikidata; may be empty.
        is_disambiguation: whether it lists meanings.
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
    """A page or revision is not there (any more)."""


class MediaWiki:
    """One wiki, asked politely: one request at a time, later when it lags, and nothing twice.

    Args:
        services: where it is.
        answers: of this build.
    """

    def __init__(self, services: Wikimedia, answers: Answers) -> None:
        self._address = services.api or f"https://{services.language}.wikipedia.org/w/api.php"
        self._site = f"{services.language}.wikipedia.org"
        self._patience = services.patience
        self._answers = answers
        self._client = services.client("Wikipedia", self._address, {403: "it refuses this address or network; wait"})

    def current(self, titles: Iterable[str]) -> Iterator[CurrentPage]:
        """The pages of titles, redirects followed, each page once; those that do not exist are left out.

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
            PageGoneError: the revision was deleted since.
            DatasetError: the wiki could not be asked.
        """
        parameters: Params = {"action": "parse", "oldid": page.revision, "prop": "text|revid"}
        plain: Params = {"disableeditsection": 1, "disabletoc": 1, "disablelimitreport": 1}
        answer = self._asked({**parameters, **plain}, lambda answer: answer["parse"]["text"] + "")
        return str(answer["parse"]["text"])

    def created(self, page: CurrentPage) -> str:
        """When its first revision was saved, in ISO 8601.

        Raises:
            DatasetError: the wiki could not be asked.
        """
        parameters: Params = {"rvlimit": 1, "rvdir": "newer", "rvprop": "timestamp", "pageids": page.number}
        query = self._query({"prop": "revisions", **parameters})
        return plain_text(_revisions(query)[0].get("timestamp")) if _revisions(query) else ""

    def history(self, page: CurrentPage, points: int) -> EditHistory:
        """How often the page was edited up to its revision, and its references after some of the edits.

        Args:
            page: the page.
            points: edits, evenly spaced from the first to the last, after which references are counted, >= 0.

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
            # The current revision is part of the question: with a later one there is more to tell.
            answer = self._asked({"action": "query", "prop": "revisions", **parameters}, _checked, page.revision)
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
        return self._asked({"action": "query", **parameters}, _checked)["query"]

    def _asked(self, parameters: Params, check: Callable[[Any], Any], *more: object) -> Any:
        """An answer in which ``check`` finds what it looks for."""
        whole = {**_COMMON, **parameters}
        with building():
            return self._answers.get(
                ["mediawiki", self._address, whole, *more],
                lambda: with_retries(lambda: self._once(whole, check), self._patience),
            )

    def _once(self, parameters: Params, check: Callable[[Any], Any]) -> Any:
        answer = self._client.post_form_json(parameters)  # titles of 50 pages do not fit into an address
        error = answer.get("error") if isinstance(answer, dict) else None
        if isinstance(error, dict):
            code, said = plain_text(error.get("code")), plain_text(error.get("info"))[:200]
            if code in _BUSY:
                raise TransientError(f"Wikipedia is busy ({said})", 5.0)
            raise PageGoneError(f"Wikipedia gave no page: {said or code}; leave it out")
        try:
            check(answer)
        except (LookupError, TypeError, AttributeError, ValueError) as problem:
            raise DatasetError("Wikipedia answered in an unknown form; check the address of its API") from problem
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
