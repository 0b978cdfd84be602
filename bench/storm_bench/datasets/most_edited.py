"""The most edited pages of a month (Wikimedia Analytics API, ``edited-pages/top-by-edits``)."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from storm_bench.datasets.months import Month
from storm_bench.datasets.wikimedia import AnswerCache, Wikimedia, service_errors
from storm_pipeline import DatasetError
from storm_pipeline.api import objects, plain_text
from storm_pipeline.net.http import ApiClient


@dataclass(frozen=True)
class EditedPage:
    """A frequently edited page."""

    title: str  # title with spaces
    edits: int  # edits in the requested months in which it was among the top 100
    months: tuple[str, ...]  # these months, in order


def most_edited(services: Wikimedia, answers: AnswerCache, months: Iterable[str]) -> tuple[EditedPage, ...]:
    """Up to 100 most edited content pages per month (the service's limit), each page once, ordered by title.

    Raises DatasetError: a month is invalid, has no data, or the query failed.
    """
    client = services.client(
        "the Wikimedia Analytics API",
        services.metrics,
        {404: "it has no data for this month; data appear some days after a month's end; leave the month out"},
    )
    pages: dict[str, EditedPage] = {}
    for month in dict.fromkeys(months):
        date = str(Month.parse(month)).replace("-", "/")
        path = f"/edited-pages/top-by-edits/{services.project}/all-editor-types/content/{date}/all-days"
        with service_errors():
            top = answers.get(["metrics", path], partial(_request, client, path, month))
        for title, edits in top:
            known = pages.get(title, EditedPage(title, 0, ()))
            pages[title] = replace(known, edits=known.edits + edits, months=(*known.months, month))
    return tuple(sorted(pages.values(), key=lambda page: page.title))


def _request(client: ApiClient, path: str, month: str) -> list[tuple[str, int]]:
    answer = client.get_json({}, path)
    try:
        top = objects(answer["items"][0]["results"][0]["top"])
        return [(plain_text(page["page_title"].replace("_", " ")), int(page["edits"])) for page in top]
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise DatasetError(
            f"the Wikimedia Analytics API returned an unexpected response for {month}; check its address or upgrade"
        ) from error


OCCURRENCE = "Q1190554"
"""Wikidata's class *occurrence*: battles, elections, storms, matches, seasons, premieres …"""

_ITEM = re.compile(r"Q\d+")
_BATCH = 50
_QUERY = "SELECT DISTINCT ?item WHERE {{ VALUES ?item {{ {items} }} ?item wdt:P31/wdt:P279* wd:{kind} . }}"


def events_among(services: Wikimedia, answers: AnswerCache, items: Sequence[str], kind: str = OCCURRENCE) -> set[str]:
    """The items that are instances of a class or of one of its subclasses.

    ``items``: ids such as ``Q42``; others are ignored. Raises DatasetError: the query failed.
    """
    client = services.client(
        "the Wikidata Query Service", services.wikidata, {403: "it blocks this address temporarily; wait a day"}
    )
    wanted = sorted({item for item in items if _ITEM.fullmatch(item)})
    found: set[str] = set()
    for start in range(0, len(wanted), _BATCH):
        values = " ".join(f"wd:{item}" for item in wanted[start : start + _BATCH])
        query = _QUERY.format(items=values, kind=kind)
        with service_errors():
            found |= set(answers.get(["wikidata", query], partial(_request_event, client, query)))
    return found


def _request_event(client: ApiClient, query: str) -> list[str]:
    answer = client.get_json({"query": query, "format": "json"})
    try:
        return [plain_text(row["item"]["value"]).rpartition("/")[2] for row in objects(answer["results"]["bindings"])]
    except (LookupError, TypeError) as error:
        raise DatasetError("the Wikidata Query Service returned an unexpected response; check its address") from error
