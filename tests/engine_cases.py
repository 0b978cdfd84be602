"""What a test of any engine with an API is driven by: a `Case` tells the wire format of one service.

The tests of ``integration/test_search_failures.py`` run for every case of the tables named there; a new engine gets
them all with one entry.
"""

import dataclasses
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from servers import Reply, Request, Script, ScriptedServer

from storm_pipeline.errors import SearchError
from storm_pipeline.run.retrying import Patience, TransientError
from storm_pipeline.sources.search.base import SearchEngine
from storm_pipeline.sources.search.web_service import WebService, WebServiceSearch

KEY = "key-7f3c-secret"
BRISK = Patience(connect=10, read=10, total=30, attempts=3, first_pause=0.001, longest_pause=0.02)
HASTY = dataclasses.replace(BRISK, connect=0.5, read=0.5)
SLOW = Reply(body=b"{}", delay=20)  # the server gives up waiting when the test ends

Said = tuple[Reply, str]
"""A reply, and what the error that it leads to must say."""


class Page(NamedTuple):
    """A page that a service finds: what the one snippet made of it must have."""

    url: str
    title: str
    text: str


def web_page(number: int) -> Page:
    return Page(f"https://site{number}.org/page", f"Title {number}", f"text {number}")


GENERAL_REFUSALS: Mapping[str, Said] = {
    "400": (Reply(400), "answered 400"),
    "401": (Reply(401), "answered 401"),
    "402": (Reply(402), "no credit left"),
    "403": (Reply(403), "answered 403"),
    "404": (Reply(404), "check the engine's address"),
    "422": (Reply(422), "answered 422"),
}
BROKEN_JSON: Mapping[str, Said] = {
    "html": (Reply(body="<!doctype html><title>Log in</title>"), "a web page instead of JSON"),
    "damaged": (Reply(body=b'{"results": [}'), "not JSON"),
    "binary": (Reply(body=b"\xff\xfe\x00"), "not JSON"),
    "deep": (Reply(body=b"[" * 200_000), "not JSON"),
    "long number": (Reply(body=b"1" * 10_000), "not JSON"),
    "list": (Reply(body=[]), "unknown format"),
    "number": (Reply(body=7), "unknown format"),
    "other form": (Reply(body={"error": "x", "message": "x"}), "unknown format"),
}


@dataclass(frozen=True)
class Case:
    """An engine with an API and the wire format that it is to speak.

    Attributes:
        open: the engine that asks the server at an address, with these time limits and no rate.
        path: path of its first request.
        hit: a page as the service writes it (a JSON value, a piece of XML …).
        wrap: the body that answers a request, with these hits; of a later page of results it has none.
        query: parameters of the first request for up to 5 pages on ``silk road``.
        body: JSON body of that request, which is then a POST; None for a GET.
        form: the form of that request, which is then a POST.
        headers: headers that it must have, names in lower case.
        agent: how its ``User-Agent`` begins.
        page: the pages that the service can find, by number.
        odd: hits from which no snippet can be made.
        searches: requests until it is sure that nothing is found.
        garbled: text as it may come; it must be found as ``lone one``.
        refusals: final refusals beside or instead of the general ones, by name.
        passing: further refusals that may pass, by name.
        malformed: answers of no use with status 200, by name.
    """

    open: Callable[[str, Patience], SearchEngine]
    path: str
    hit: Callable[[Page], Any]
    wrap: Callable[[list[Any], Request], Any]
    query: Mapping[str, str] = field(default_factory=dict)
    body: Mapping[str, Any] | None = None
    form: Mapping[str, str] | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    agent: str = "storm-pipeline/"
    page: Callable[[int], Page] = web_page
    odd: Sequence[Any] = ()
    searches: int = 1
    garbled: str = "lone \ud800 one\x00"
    refusals: Mapping[str, Said] = field(default_factory=dict)
    passing: Mapping[str, Reply] = field(default_factory=dict)
    malformed: Mapping[str, Said] = field(default_factory=lambda: BROKEN_JSON)

    def finds(self, *pages: Page) -> Script:
        """A script in which these pages are found."""
        return self.has(*map(self.hit, pages))

    def has(self, *hits: Any) -> Script:
        """A script in which these hits, as the service writes them, are found."""
        return lambda request: Reply(body=self.wrap(list(hits), request))


def opens(service: WebService, path: str = "", key: str | None = KEY) -> Callable[[str, Patience], SearchEngine]:
    """What opens an engine of a service at a path of a server."""
    return lambda url, patience: WebServiceSearch(service, key, base_url=url + path, patience=patience, rate=math.inf)


def ask(case: Case, *script: Script | Reply, k: int = 5, patience: Patience = BRISK) -> tuple[Any, list[Request]]:
    """The snippets, or the error, and the requests that led to them."""
    with ScriptedServer(*script) as server:
        engine = case.open(server.url, patience)
        try:
            return engine.search("silk  road\n", k), server.requests
        except SearchError as error:
            assert not isinstance(error, TransientError)
            assert KEY not in repr(error) + str(error) + repr(error.__cause__)
            return error, server.requests
