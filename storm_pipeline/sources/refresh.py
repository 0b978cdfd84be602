"""Making the list of perennial sources anew from Wikipedia."""

from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

from storm_pipeline.errors import SourcesError
from storm_pipeline.files import write_atomically
from storm_pipeline.net.gates import Rate
from storm_pipeline.net.http import ApiClient
from storm_pipeline.sources.catalogue import packaged_list
from storm_pipeline.sources.perennial import TITLE, Perennial, to_json
from storm_pipeline.sources.ratings import Rating
from storm_pipeline.sources.wikitext import read_rows

API = "https://en.wikipedia.org/w/api.php"
_MOST_PAGES = 30


def fetch_perennial(api: str = API, *, today: date | None = None) -> Perennial:
    """The list as it stands today, read from its pages ``…/1``, ``…/2`` and so on, up to the first that is absent.

    Args:
        api: address of the ``api.php`` of the wiki that has the list.
        today: what day it is.

    Raises:
        MissingExtraError: the parser of wikitext is not installed.
        SearchError: the wiki could not be asked.
        SourcesError: it has no such list, or one that came out implausibly short or one-sided.
    """
    client = ApiClient("Wikipedia", api, rate=Rate(2.0, concurrent=1))
    rows = tuple(row for page in _pages(client) for row in read_rows(page))
    perennial = Perennial((today or date.today()).isoformat(), rows)
    _refuse_implausible(perennial)
    return perennial


def save_perennial(perennial: Perennial, file: Path) -> None:
    """Write a list to a file, which holds the old or the new one, whole, at any moment.

    Raises:
        SourcesError: the file cannot be written.
    """
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(file, to_json(perennial))
    except OSError as error:
        raise SourcesError(f"cannot write {file}: {error.strerror}; choose another place with --out") from error


def _pages(client: ApiClient) -> Iterator[str]:
    for number in range(1, _MOST_PAGES + 1):
        page = _page(client, f"{TITLE}/{number}")
        if page is None:
            return
        yield page


def _page(client: ApiClient, title: str) -> str | None:
    """Wikitext of a page; None where there is none."""
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
        said = answer.get("error") if isinstance(answer, dict) else None
        why = f": {said.get('info')}" if isinstance(said, dict) else ""
        raise SourcesError(f"Wikipedia did not give the page {title!r}{why}; check the address of its API") from error


def _refuse_implausible(perennial: Perennial) -> None:
    known = packaged_list().size
    statuses = {source.status for source in perennial.sources}
    if 2 * perennial.size < known or not {Rating.RELIABLE, Rating.UNRELIABLE, Rating.DEPRECATED} <= statuses:
        raise SourcesError(
            f"Wikipedia's list came out with {perennial.size} places and {len(statuses)} kinds of status, where the "
            f"package's own has {known} and {len({s.status for s in packaged_list().sources})}: "
            "its form may have changed. Nothing was written; upgrade storm-pipeline"
        )
