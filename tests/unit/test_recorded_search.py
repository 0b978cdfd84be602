"""Searches on record: what is told of them comes out of the journal as it went in, in whatever order they are asked."""

import dataclasses
import itertools
import json
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storm_pipeline.errors import PageError
from storm_pipeline.evidence.run_search import RecordedSearch, RunSearch
from storm_pipeline.run.events import Events
from storm_pipeline.run.journal import Journal
from storm_pipeline.run.ledger import RunControl, Spending
from storm_pipeline.settings import Settings
from storm_pipeline.sources.pages.extract import Page
from storm_pipeline.sources.search.edge import with_checks
from storm_pipeline.sources.search.engine_info import Engine
from storm_pipeline.sources.search.fake import FakeSearch
from storm_pipeline.sources.search.result import PagePassage, SearchResult, SeenPage, Unread, WholePage, decode, encode
from storm_pipeline.text.identity import source_id
from storm_pipeline.types import Exclusion, Snippet

QUERIES = ("silk", "camels", "chromodynamics")


def found(query: str) -> Sequence[Snippet]:
    urls = ("https://alpha.org/1", "https://gone.org/1", "https://www.reddit.com/r/silk")
    return [Snippet(url, f"Hit for {query}", f"What the engine shows of {query}.", engine="searxng") for url in urls]


CAMELS = "Camels carried silk to Rome, and what they carried home was weighed twice in the courtyard of the customs."
WIKI = "https://en.wikipedia.org/wiki/Secret_Road"


def copied(query: str) -> Sequence[Snippet]:
    """One search finds a copy, another the page, the third both, and all a page of its own."""
    copy = Snippet("https://copy.org/1", "Camels", CAMELS, engine="searxng")
    page = Snippet(WIKI, "Secret Road - Wikipedia", CAMELS, engine="searxng")
    return [*{"silk": [copy], "camels": [page], "chromodynamics": [copy, page]}[query], *found(query)[:1]]


def fetch(url: str) -> Page:
    if "gone" in url:
        raise PageError(f"{url} answered 404")
    return Page(url, "", ((None, "Camels carried silk to Rome."),))


Told = tuple[list[Sequence[Snippet]], tuple[Exclusion, ...], Mapping[str, str], frozenset[str]]


@contextmanager
def recorded(folder: Path, engine: FakeSearch, fetch: Callable[[str], Page], **more: Any) -> Iterator[RecordedSearch]:
    """The searches of a run in a folder, whose journal keeps them."""
    given = Settings(cache=folder / "cache", search_cache="off", **more)
    with Journal(folder / "journal.jsonl") as journal:
        search = RecordedSearch(
            RunSearch(Engine(with_checks(engine), "searxng"), given, fetch=fetch),
            journal,
            events=Events(),
            control=RunControl(given, Spending(), threading.Event()),
            settings=given,
            spec="searxng",
        )
        yield search
        search.run_search.close()


def session(folder: Path, engine: FakeSearch, queries: Sequence[str]) -> Told:
    """What the queries find, by query, and what was left out and not read once they are answered."""
    with recorded(folder, engine, fetch, exclude_urls=(WIKI,)) as search:
        snippets = {query: search.search(query, 3).snippets for query in queries}
    told = search.research
    return [snippets[query] for query in QUERIES], told.excluded_pages, told.unread_pages, search.excluded_ids()


def in_every_order(tmp_path: Path, done: int, find: Callable[[str], Sequence[Snippet]]) -> Told:
    """What is told however the searches are ordered, where the first ``done`` of them are on record."""
    told = []
    for number, order in enumerate(itertools.permutations(QUERIES)):
        engine, folder = FakeSearch(find, name="searxng"), tmp_path / str(number)
        folder.mkdir(parents=True)
        if done:
            session(folder, engine, order)
            journal = folder / "journal.jsonl"
            lines = journal.read_bytes().splitlines(keepends=True)
            searches = [n for n, line in enumerate(lines, 1) if json.loads(line)["kind"] == "search"]
            journal.write_bytes(b"".join(lines[: searches[done - 1]]))
        asked = len(engine.queries)
        told.append(session(folder, engine, order[::-1]))
        assert len(engine.queries) - asked == len(QUERIES) - done
    for other in told[1:]:
        assert other == told[0]
    return told[0]


def shown(query: str) -> Sequence[Snippet]:
    return [Snippet("https://alpha.org/1", "Alpha", f"What the engine shows of {query}.", engine="searxng")]


@pytest.mark.parametrize("done", range(len(QUERIES) + 1))
def test_what_is_told_depends_neither_on_the_order_nor_on_where_a_run_was_killed(tmp_path: Path, done: int) -> None:
    _, excluded, unread, _ = in_every_order(tmp_path / "found", done, found)
    assert [(one.url, one.query) for one in excluded] == [("https://www.reddit.com/r/silk", "camels")]
    assert dict(unread) == {"https://gone.org/1": "https://gone.org/1 answered 404"}
    snippets, _, unread, _ = in_every_order(tmp_path / "shown", done, shown)  # a page that says nothing to one search
    assert [{snippet.origin for snippet in own} for own in snippets] == [{"page"}, {"page"}, {"snippet"}]
    assert unread == {}
    snippets, excluded, _, gone = in_every_order(tmp_path / "copied", done, copied)  # whichever gave copies away
    alpha, copy = "https://alpha.org/1", "https://copy.org/1"
    assert [{snippet.url for snippet in own} for own in snippets] == [{copy, alpha}, {alpha}, {alpha}]
    assert [(one.url, one.query) for one in excluded] == [(copy, "chromodynamics"), (WIKI, "camels")]
    assert gone == {source_id(one.url) for one in excluded}


def pages_told(folder: Path, queries: Sequence[str], text: str) -> list[tuple[Snippet, ...]]:
    """The passages of the pages of each query, where the page that can be read says ``text``."""

    def read(url: str) -> Page:
        return Page(url, "", ((None, text),)) if "alpha" in url else fetch(url)

    with recorded(folder, FakeSearch(found, name="searxng"), read) as search:
        return [page.snippets for query in queries for page in search.search(query, 3).pages]


TOLD = "# Trade\n\nSilk went to Rome.\n\n## Camels\n\nThey carried it."


def test_what_a_page_holds_is_journalled_once_and_is_the_same_when_the_run_goes_on(tmp_path: Path) -> None:
    first = pages_told(tmp_path, QUERIES[:2], TOLD)
    assert [[(one.heading, one.place, one.text) for one in own] for own in first] == [
        [("Trade", 0, "Silk went to Rome."), ("Trade › Camels", 1, "They carried it.")]
    ] * 2
    records = [json.loads(line) for line in (tmp_path / "journal.jsonl").read_text().splitlines()]
    assert [one["kind"] for one in records] == ["page", "search", "search"]
    assert all(not page["passages"] for one in records[1:] for page in one["value"]["pages"])
    again = pages_told(tmp_path, QUERIES, "The page says something else by now.")
    assert again == [*first, again[2]]
    assert [one.text for one in again[2]] == [one.text for one in first[0]]


TEXT = st.text(st.characters())  # halves of surrogate pairs included
MAYBE = st.none() | TEXT
SNIPPET = st.builds(
    Snippet, TEXT, TEXT, TEXT, MAYBE, st.none() | st.integers(1), TEXT, TEXT, author=MAYBE, site=MAYBE, language=MAYBE
)
PASSAGE = st.builds(PagePassage, TEXT, TEXT, st.none() | st.integers(1))
RESULT = st.builds(
    SearchResult,
    st.lists(SNIPPET, max_size=3).map(tuple),
    st.lists(st.builds(Exclusion, TEXT, TEXT, TEXT, TEXT), max_size=3).map(tuple),
    st.lists(st.builds(Unread, TEXT, TEXT), max_size=3).map(tuple),
    st.lists(TEXT, max_size=3).map(tuple),
    st.lists(st.builds(SeenPage, TEXT, TEXT, TEXT, TEXT), max_size=3).map(tuple),
    st.lists(TEXT, max_size=3).map(tuple),
    st.lists(st.builds(WholePage, SNIPPET, st.lists(PASSAGE, max_size=3).map(tuple)), max_size=2).map(tuple),
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=6,
)


@given(RESULT, st.sampled_from([field.name for field in dataclasses.fields(SearchResult)]), JSON)
def test_a_damaged_record_is_none_or_a_whole_result(result: SearchResult, name: str, value: Any) -> None:
    record = encode(result) | {name: [value]}
    found = decode(record)
    if found is not None:
        assert isinstance(value, str) and name in {"read", "lost"}
        assert json.loads(json.dumps(encode(found))) == json.loads(json.dumps(record))
    rest = decode({key: part for key, part in encode(result).items() if key != name})
    assert rest is None
    assert decode(encode(result) | {"more": value}) is None
