"""Which articles are about events: asked of Wikidata, by what their items are instances of."""

import re
from collections.abc import Sequence
from functools import partial

from storm_pipeline.documents.plain import objects, plain_text
from storm_pipeline.errors import DatasetError
from storm_pipeline.evaluation.datasets.answers import Answers
from storm_pipeline.evaluation.datasets.wikimedia import Wikimedia, building
from storm_pipeline.net.http import ApiClient

OCCURRENCE = "Q1190554"
"""Wikidata's class of what happens: battles and elections, storms and matches, seasons and premieres."""

_ITEM = re.compile(r"Q\d+")
_MOST_ITEMS = 50
_QUERY = "SELECT DISTINCT ?item WHERE {{ VALUES ?item {{ {items} }} ?item wdt:P31/wdt:P279* wd:{kind} . }}"


def events_among(services: Wikimedia, answers: Answers, items: Sequence[str], kind: str = OCCURRENCE) -> set[str]:
    """Those of some items that are instances of a class or of one below it.

    Args:
        services: where to ask.
        answers: of this build.
        items: ids as ``Q42``; others are none.
        kind: the class.

    Raises:
        DatasetError: Wikidata could not be asked.
    """
    client = services.client(
        "the Wikidata Query Service", services.wikidata, {403: "it refuses this address for a while; wait a day"}
    )
    wanted = sorted({item for item in items if _ITEM.fullmatch(item)})
    found: set[str] = set()
    for start in range(0, len(wanted), _MOST_ITEMS):
        values = " ".join(f"wd:{item}" for item in wanted[start : start + _MOST_ITEMS])
        query = _QUERY.format(items=values, kind=kind)
        with building():
            found |= set(answers.get(["wikidata", query], partial(_asked, client, query)))
    return found


def _asked(client: ApiClient, query: str) -> list[str]:
    answer = client.get_json({"query": query, "format": "json"})
    try:
        return [plain_text(row["item"]["value"]).rpartition("/")[2] for row in objects(answer["results"]["bindings"])]
    except (LookupError, TypeError) as error:
        raise DatasetError("the Wikidata Query Service answered in an unknown form; check its address") from error
