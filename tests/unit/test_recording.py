"""Searches on record: what a resumed run is told of them does not depend on the order in which it asks again."""

import itertools
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from storm_pipeline.control import RunControl, Spent
from storm_pipeline.errors import PageError
from storm_pipeline.events import Events
from storm_pipeline.finding import Engine, RunSearch
from storm_pipeline.journal import Journal
from storm_pipeline.pages.extract import Page
from storm_pipeline.recording import RecordedSearch
from storm_pipeline.search.fake import FakeSearch
from storm_pipeline.settings import Settings
from storm_pipeline.types import Exclusion, Snippet

QUERIES = ("silk", "camels", "chromodynamics")


def found(query: str) -> Sequence[Snippet]:
    urls = ("https://alpha.org/1", "https://gone.org/1", "https://www.reddit.com/r/silk")
    return [Snippet(url, f"Hit for {query}", f"What the engine shows of {query}.", engine="searxng") for url in urls]


def fetch(url: str) -> Page:
    if "gone" in url:
        raise PageError(f"{url} answered 404")
    return Page(url, "", ((None, "Camels carried silk to Rome."),))


def session(
    folder: Path, engine: FakeSearch, queries: Sequence[str]
) -> tuple[list[Sequence[Snippet]], tuple[Exclusion, ...], Mapping[str, str]]:
    """What the queries find, by query, and what was left out and not read once they are answered."""
    settings = Settings(cache=folder / "cache", search_cache="off")
    with Journal(folder / "journal.jsonl") as journal:
        search = RecordedSearch(
            RunSearch(Engine(engine, "searxng"), settings, fetch=fetch),
            journal,
            events=Events(),
            control=RunControl(settings, Spent(), threading.Event()),
            settings=settings,
            spec="searxng",
        )
        snippets = {query: search.search(query, 3) for query in queries}
        search.close()
        return [snippets[query] for query in QUERIES], search.excluded, search.unread


@pytest.mark.parametrize("done", range(len(QUERIES) + 1))
def test_what_is_told_depends_neither_on_the_order_nor_on_where_a_run_was_killed(tmp_path: Path, done: int) -> None:
    told = []
    for number, order in enumerate(itertools.permutations(QUERIES)):
        engine, folder = FakeSearch(found, name="searxng"), tmp_path / str(number)
        folder.mkdir()
        if done:
            session(folder, engine, order)
            journal = folder / "journal.jsonl"
            journal.write_bytes(b"".join(journal.read_bytes().splitlines(keepends=True)[:done]))
        asked = len(engine.queries)
        told.append(session(folder, engine, order[::-1]))
        assert len(engine.queries) - asked == len(QUERIES) - done
    for other in told[1:]:
        assert other == told[0]
    _, excluded, unread = told[0]
    assert [(one.url, one.query) for one in excluded] == [("https://www.reddit.com/r/silk", "camels")]
    assert dict(unread) == {"https://gone.org/1": "https://gone.org/1 answered 404"}
