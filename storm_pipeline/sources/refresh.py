"""Rebuilding the list of perennial sources from Wikipedia."""

from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

from storm_pipeline.documents.isolated import NotReadError, reading
from storm_pipeline.errors import SourcesError
from storm_pipeline.files import write_atomically
from storm_pipeline.net.gates import Rate
from storm_pipeline.net.http import ApiClient
from storm_pipeline.sources.catalogue import packaged_list
from storm_pipeline.sources.perennial import TITLE, Perennial, Rating, read_rows, to_json

API = "https://en.wikipedia.org/w/api.php"
_MAX_PAGES = 30


def fetch_perennial(api: str = API, *, today: date | None = None) -> Perennial:
    """Fetch the current list from its subpages ``…/1``, ``…/2`` and so on, until one is missing.

    ``api``: URL of the wiki's ``api.php``.

    Raises:
        MissingExtraError: the wikitext parser is not installed.
        SearchError: the request failed.
        SourcesError: the list is missing, or implausibly short or one-sided.
    """
    client = ApiClient("Wikipedia", api, rate=Rate(2.0, concurrent=1))
    try:
        rows = tuple(row for page in _pages(client) for row in reading.read(read_rows, page, size=len(page)))
    except NotReadError as error:
        raise SourcesError(f"a page of Wikipedia's list {error}; check the URL of its API") from error
    perennial = Perennial((today or date.today()).isoformat(), rows)
    _reject_implausible(perennial)
    return perennial


def save_perennial(perennial: Perennial, file: Path) -> None:
    """Write a list to a file atomically. Raises SourcesError: the file cannot be written."""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(file, to_json(perennial))
    except OSError as error:
        raise SourcesError(f"cannot write {file}: {error.strerror}; choose another place with --out") from error


def _pages(client: ApiClient) -> Iterator[str]:
    for number in range(1, _MAX_PAGES + 1):
        page = _page(client, f"{TITLE}/{number}")
        if page is None:
            return
        yield page


def _page(client: ApiClient, title: str) -> str | None:
    """Wikitext of a page; None if there is none."""
    answer = client.get_json(
        {
            "action": "query",
            "prop": "revisions",
            "titles": title,
            "rvprop": "content",
            "rvslots": "main",
            "redirects": 1,
            "format": "json",
            "formatversion": 2,
        }
    )
    try:
        page: dict[str, Any] = answer["query"]["pages"][0]
        return None if page.get("missing") else str(page["revisions"][0]["slots"]["main"]["content"])
    except (LookupError, TypeError, AttributeError) as error:
        details = answer.get("error") if isinstance(answer, dict) else None
        why = f": {details.get('info')}" if isinstance(details, dict) else ""
        raise SourcesError(f"Wikipedia did not return the page {title!r}{why}; check the URL of its API") from error


def _reject_implausible(perennial: Perennial) -> None:
    packaged_size = packaged_list().size
    statuses = {source.status for source in perennial.sources}
    if 2 * perennial.size < packaged_size or not {Rating.RELIABLE, Rating.UNRELIABLE, Rating.DEPRECATED} <= statuses:
        raise SourcesError(
            f"Wikipedia's list has {perennial.size} places and {len(statuses)} kinds of status, where the "
            f"package's own has {packaged_size} and {len({s.status for s in packaged_list().sources})}: "
            "its format may have changed. Nothing was written; upgrade storm-pipeline"
        )
