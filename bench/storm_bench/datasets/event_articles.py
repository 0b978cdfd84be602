"""Finds articles about events by querying Wikidata for instances of *occurrence*."""

import re
from collections.abc import Sequence
from functools import partial

from storm_bench.datasets.answer_cache import AnswerCache
from storm_bench.datasets.wikimedia import Wikimedia, service_errors
from storm_pipeline import DatasetError
from storm_pipeline.api import ApiClient, objects, plain_text

OCCURRENCE = "Q1190554"
"""Wikidata's class *occurrence*: battles, elections, storms, matches, seasons, premieres …"""

_ITEM = re.compile(r"Q\d+")
_BATCH = 50
_QUERY = "SELECT DISTINCT ?item WHERE {{ VALUES ?item {{ {items} }} ?item wdt:P31/wdt:P279* wd:{kind} . }}"


def events_among(services: Wikimedia, answers: AnswerCache, items: Sequence[str], kind: str = OCCURRENCE) -> set[str]:
    """The items that are instances of a class or of one of its subclasses.

    Args:
        services: the services to query.
        answers: cache of this build.
        items: ids such as ``Q42``; others are ignored.
        kind: id of the class.

    Raises:
        DatasetError: the query failed.
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
            found |= set(answers.get(["wikidata", query], partial(_request, client, query)))
    return found


def _request(client: ApiClient, query: str) -> list[str]:
    answer = client.get_json({"query": query, "format": "json"})
    try:
        return [plain_text(row["item"]["value"]).rpartition("/")[2] for row in objects(answer["results"]["bindings"])]
    except (LookupError, TypeError) as error:
        raise DatasetError("the Wikidata Query Service returned an unexpected response; check its address") from error
