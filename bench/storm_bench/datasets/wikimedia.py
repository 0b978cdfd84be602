"""The Wikimedia services used by the builders: their clients, and a cache of responses.

The most edited pages of a month are those of the Analytics API; Wikidata's query service says which are events; Lift
Wing's ``articlequality`` model grades a revision, as ORES did for the paper.
"""

import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from storm_bench.datasets.built import BUILD
from storm_pipeline import DatasetError, SearchError
from storm_pipeline.api import SqliteCache, objects, plain_text
from storm_pipeline.run.retrying import Patience
from storm_pipeline.sources.transport.gates import Rate
from storm_pipeline.sources.transport.http import ApiClient

T = TypeVar("T")
KEY_VARIABLE = "WIKIMEDIA_TOKEN"
"""Environment variable: a personal token of api.wikimedia.org."""
OCCURRENCE = "Q1190554"
"""Wikidata's class *occurrence*: battles, elections, storms, matches, seasons, premieres …"""
_LARGEST = 40_000_000
_PATIENCE = Patience(connect=10, read=60, total=600, attempts=6, first_pause=2, longest_pause=120)
_ITEM = re.compile(r"Q\d+")
_ITEMS_PER_QUERY = 50
_QUERY = "SELECT DISTINCT ?item WHERE {{ VALUES ?item {{ {items} }} ?item wdt:P31/wdt:P279* wd:{kind} . }}"


@dataclass(frozen=True)
class Wikimedia:
    """One Wikipedia and the services around it."""

    language: str = "en"  # code of the Wikipedia
    # a personal token, for Lift Wing where it refuses anonymous requests; may be empty
    token: str = field(default_factory=lambda: os.environ.get(KEY_VARIABLE, ""), repr=False)
    metrics: str = "https://wikimedia.org/api/rest_v1/metrics"  # URL of the Analytics API
    lift_wing: str = "https://api.wikimedia.org/service/lw/inference/v1/models"  # URL of Lift Wing's models
    wikidata: str = "https://query.wikidata.org/sparql"  # URL of the Wikidata Query Service
    api: str = ""  # URL of the Wikipedia's ``api.php``; default: by language
    rate: float = 2.0  # maximum requests per second to each service, sequential, > 0
    patience: Patience = _PATIENCE  # timeouts and retries of a request; long, because builds are not interactive

    @property
    def project(self) -> str:
        """The Wikipedia's name in the Analytics API."""
        return f"{self.language}.wikipedia.org"

    def client(self, service: str, address: str, remedies: dict[int, str], *, token: str = "") -> ApiClient:
        """Return a client of one service; sends one request at a time and respects Retry-After."""
        return ApiClient(
            service,
            address,
            rate=Rate(self.rate, concurrent=1),
            headers={"Authorization": f"Bearer {token}"} if token else {},
            remedies=remedies,
            patience=self.patience,
            max_bytes=_LARGEST,
        )


@contextmanager
def service_errors() -> Iterator[None]:
    """Raise DatasetError, which says how to continue, for a service that failed permanently."""
    try:
        yield
    except SearchError as error:
        raise DatasetError(f"{error}; responses so far are kept: run the same build again to continue") from error


def parsed(service: str, read: Callable[[], T]) -> T:
    """Return the result of parsing a response. Raises DatasetError: the response has another form."""
    try:
        return read()
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise DatasetError(f"{service} returned an unexpected response; check its address or upgrade") from error


class AnswerCache:
    """Responses by request, on disk, so that a restarted build repeats none. Failures are not cached."""

    def __init__(self, folder: Path) -> None:
        self._cache = SqliteCache(Path(folder) / BUILD / "answers.sqlite")

    def get(self, question: Sequence[object], ask: Callable[[], Any]) -> Any:
        """Return the cached response, or the result of ``ask``, a JSON value other than None, which is then cached.

        ``question``: JSON values that identify the request: service, address, parameters.
        """
        key = json.dumps(question)
        known = self._cache.get(key)
        if known is None:
            known = ask()
            self._cache.put(key, known)
        return known


def first_second(month: str) -> datetime:
    """Return the first second of a month such as ``2024-01``, in UTC. Raises DatasetError: it is not a month."""
    try:
        return datetime.strptime(month, "%Y-%m").replace(tzinfo=UTC)
    except ValueError as error:
        raise DatasetError(f"{month!r} is not a month; write it as 2024-01") from error


@dataclass(frozen=True)
class EditedPage:
    """A frequently edited page."""

    title: str  # title with spaces
    edits: int  # edits in the requested months in which it was among the top 100
    months: tuple[str, ...]  # these months, in order


def most_edited(services: Wikimedia, answers: AnswerCache, months: Iterable[str]) -> tuple[EditedPage, ...]:
    """Return up to 100 most edited content pages per month (the service's limit), each page once, ordered by title.

    Raises DatasetError: a month is invalid, has no data, or the query failed.
    """
    late = "it has no data for this month; data appear some days after a month's end; leave the month out"
    client = services.client("the Wikimedia Analytics API", services.metrics, {404: late})
    pages: dict[str, EditedPage] = {}
    for month in dict.fromkeys(months):
        date = f"{first_second(month):%Y/%m}"
        path = f"/edited-pages/top-by-edits/{services.project}/all-editor-types/content/{date}/all-days"
        with service_errors():
            top = answers.get(["metrics", path], partial(_top, client, path))
        for title, edits in top:
            known = pages.get(title, EditedPage(title, 0, ()))
            pages[title] = replace(known, edits=known.edits + edits, months=(*known.months, month))
    return tuple(sorted(pages.values(), key=lambda page: page.title))


def _top(client: ApiClient, path: str) -> list[tuple[str, int]]:
    answer = client.get_json({}, path)

    def read() -> list[tuple[str, int]]:
        top = objects(answer["items"][0]["results"][0]["top"])
        return [(plain_text(page["page_title"].replace("_", " ")), int(page["edits"])) for page in top]

    return parsed("the Wikimedia Analytics API", read)


def events_among(services: Wikimedia, answers: AnswerCache, items: Sequence[str], kind: str = OCCURRENCE) -> set[str]:
    """Return the items that are instances of a class or of one of its subclasses.

    ``items``: ids such as ``Q42``; others are ignored. Raises DatasetError: the query failed.
    """
    blocked = {403: "it blocks this address temporarily; wait a day"}
    client = services.client("the Wikidata Query Service", services.wikidata, blocked)
    wanted = sorted({item for item in items if _ITEM.fullmatch(item)})
    found: set[str] = set()
    for start in range(0, len(wanted), _ITEMS_PER_QUERY):
        values = " ".join(f"wd:{item}" for item in wanted[start : start + _ITEMS_PER_QUERY])
        query = _QUERY.format(items=values, kind=kind)
        with service_errors():
            found |= set(answers.get(["wikidata", query], partial(_events, client, query)))
    return found


def _events(client: ApiClient, query: str) -> list[str]:
    answer = client.get_json({"query": query, "format": "json"})
    return parsed(
        "the Wikidata Query Service",
        lambda: [plain_text(row["item"]["value"]).rpartition("/")[2] for row in objects(answer["results"]["bindings"])],
    )


class LiftWing:
    """Client of one Wikipedia's model of article quality."""

    def __init__(self, services: Wikimedia, answers: AnswerCache) -> None:
        self._database = f"{services.language.replace('-', '_')}wiki"
        self._model = f"{self._database}-articlequality"
        self._answers = answers
        refused = f"set {KEY_VARIABLE} to a personal token of api.wikimedia.org"
        remedies = {401: refused, 403: refused, 404: f"it has no model {self._model}"}
        self._client = services.client("Lift Wing", services.lift_wing, remedies, token=services.token)

    def grade(self, revision: int) -> tuple[str, str]:
        """Return a revision's grade (FA, GA, B, C, Start, Stub), and the name of its judge.

        Raises SearchError: the request failed, or the model cannot grade this revision.
        """
        answer = self._answers.get(["lift-wing", self._model, revision], partial(self._ask, revision))
        return str(answer["grade"]), f"lift-wing {self._model} {answer['version']}"

    def _ask(self, revision: int) -> dict[str, str]:
        answer = self._client.post_json({"rev_id": revision}, f"/{self._model}:predict")

        def read() -> dict[str, str]:
            wiki = answer[self._database]
            grade = wiki["scores"][str(revision)]["articlequality"]["score"]["prediction"]
            return {"grade": str(grade), "version": str(wiki["models"]["articlequality"]["version"])}

        return parsed("Lift Wing", read)
