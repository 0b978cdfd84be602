"""The caches: what goes in comes out, in every mode, from every thread and process; damage costs entries alone."""

import contextlib
import logging
import multiprocessing
import random
import sqlite3
import struct
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from storm_pipeline.errors import PageError, SearchError
from storm_pipeline.evidence.page_reading import CachedPages
from storm_pipeline.sources.pages.extract import Page
from storm_pipeline.sources.search.base import Search, SearchEngine
from storm_pipeline.sources.search.edge import with_checks
from storm_pipeline.sources.search.fake import FakeSearch
from storm_pipeline.sources.search.result import SearchResult
from storm_pipeline.sources.search.search_cache import CacheMode, SearchCache
from storm_pipeline.sources.sqlite_cache import SqliteCache
from storm_pipeline.types import Snippet

ANY_TEXT = st.text(st.characters())  # halves of surrogate pairs included
SNIPPETS = st.lists(
    st.builds(
        Snippet,
        url=ANY_TEXT.filter(str.strip),
        title=ANY_TEXT,
        text=ANY_TEXT.filter(str.strip),
        published=st.none() | ANY_TEXT,
        page=st.none() | st.integers(1),
        engine=ANY_TEXT,
    ),
    max_size=3,
)
SILK = Snippet("https://a.org", "Silk", "Silk was traded.", page=3)


def cached(engine: SearchEngine, folder: Path, mode: CacheMode = "use", identity: str = "") -> Search:
    return with_checks(engine, cache=SearchCache(folder, mode), identity=identity)


@settings(max_examples=50)
@given(ANY_TEXT, SNIPPETS, st.integers(-1, 50))
def test_what_is_found_once_is_found_again(query: str, found: list[Snippet], k: int) -> None:
    with TemporaryDirectory() as folder:
        engine = FakeSearch(lambda _: tuple(found))
        first = cached(engine, Path(folder)).search(query, k)
        for mode in ("use", "replay"):
            again = cached(FakeSearch({}, failing=lambda _: True), Path(folder), mode)
            assert again.search(query, k) == first
        assert len(engine.queries) == 1


def asked(folder: Path, mode: CacheMode, *, query: str = "silk", k: int = 3, identity: str = "") -> int:
    """How often the engine is asked by one search."""
    engine = FakeSearch({query: [SILK]})
    assert cached(engine, folder, mode, identity=identity).search(query, k).snippets
    return len(engine.queries)


def change(folder: Path, what: str, *values: str) -> None:
    """Change every entry of the file of searches."""
    with contextlib.closing(sqlite3.connect(folder / "search" / "searches.sqlite")) as file, file:
        file.execute(f"UPDATE entries SET {what}", values)


def test_modes(tmp_path: Path) -> None:
    modes: list[CacheMode] = ["off", "use", "use", "refresh", "off", "replay"]
    assert [asked(tmp_path, mode) for mode in modes] == [1, 1, 0, 1, 1, 0]
    assert (tmp_path / "search" / "searches.sqlite").stat().st_mode & 0o777 == 0o600
    newer = Snippet("https://b.org", "", "Newer.")
    cached(FakeSearch({"silk": [newer]}), tmp_path, "refresh").search("silk", 3)
    assert cached(FakeSearch({}), tmp_path).search("silk", 3).snippets == (newer,)


def test_a_replay_asks_nobody_and_names_what_it_lacks(tmp_path: Path) -> None:
    engine = FakeSearch({"silk": [SILK]})
    with pytest.raises(SearchError, match=r"'silk' by fake \(3 results\) was not recorded.*`refresh`"):
        cached(engine, tmp_path, "replay").search("silk", 3)
    assert engine.queries == ()
    assert not list(tmp_path.iterdir())


def test_what_tells_searches_apart(tmp_path: Path) -> None:
    assert asked(tmp_path, "use", query="silk  road\n") == 1
    assert asked(tmp_path, "use", query="silk road") == 0
    assert asked(tmp_path, "use", query="caf\u00e9") == 1
    assert asked(tmp_path, "use", query="cafe\u0301") == 0
    assert asked(tmp_path, "use", query="Silk road") == 1
    assert asked(tmp_path, "use", query="silk road", k=4) == 1
    assert asked(tmp_path, "use", query="silk road", identity="fake?language=de") == 1


def test_nothing_found_is_remembered_and_failures_are_not(tmp_path: Path) -> None:
    engine = FakeSearch({}, failing={"bad"})
    search = cached(engine, tmp_path)
    for _ in range(2):
        assert search.search("nothing", 3) == SearchResult()
        with pytest.raises(SearchError, match="set to fail"):
            search.search("bad", 3)
    assert engine.queries == ("nothing", "bad", "bad")


def test_what_an_engine_gave_in_part_is_asked_for_again(tmp_path: Path) -> None:
    class Careless(FakeSearch):
        def search(self, query: str, k: int) -> list[Any]:
            return [None, SILK]

    search = cached(Careless({}), tmp_path)
    for _ in range(2):
        result = search.search("silk", 3)
        assert (result.snippets, len(result.lost)) == ((SILK,), 1)


def test_old_results_are_asked_for_again_but_replayed(tmp_path: Path) -> None:
    assert asked(tmp_path, "use") == 1
    change(tmp_path, "saved = saved - 31 * 86400")
    assert asked(tmp_path, "replay") == 0
    assert asked(tmp_path, "use") == 1
    assert asked(tmp_path, "use") == 0


def test_an_address_is_one_page_however_spelt(tmp_path: Path) -> None:
    asked: list[str] = []

    def fetch(url: str) -> Page:
        asked.append(url)
        if "gone" in url:
            raise PageError(f"{url} answered 404")
        return Page(url, "X", ((None, "first"), (7, "second")))

    pages, spelt = CachedPages(fetch, tmp_path), "http://www.a.org/x/?utm_source=y"
    assert pages(spelt) == pages("https://a.org/x") == CachedPages(fetch, tmp_path, "replay")("https://m.a.org/x")
    assert asked == [spelt]
    for _ in range(2):
        with pytest.raises(PageError, match="404"):
            pages("https://gone.org")
    assert asked == [spelt, *["https://gone.org"] * 2]
    CachedPages(fetch, tmp_path, max_age_days=-1)("https://a.org/x")
    CachedPages(fetch, tmp_path, "refresh")("https://a.org/x")
    CachedPages(fetch, tmp_path, "off")("https://a.org/x")
    assert len(asked) == 6
    with pytest.raises(PageError, match="not recorded"):
        CachedPages(fetch, tmp_path, "replay")("https://a.org/y")


def damage_inside(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:100].ljust(path.stat().st_size, b"\xff"))


def test_a_journal_beside_a_cache_of_somebody_else_deletes_no_file(tmp_path: Path) -> None:
    victim, path = tmp_path / "victim.txt", tmp_path / "cache.sqlite"
    victim.write_text("precious")
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as file:
        file.execute("CREATE TABLE entries (key TEXT PRIMARY KEY, value TEXT NOT NULL, saved REAL NOT NULL)")
    pages, magic, name = path.read_bytes(), bytes.fromhex("d9d505f920a163d7"), str(victim).encode()
    # SQLite's rollback journal: its header, one page with its sum, and the name of a journal of several files
    header = (magic + struct.pack(">5I", 1, 0, len(pages) // 4096, 512, 4096)).ljust(512, b"\0")
    page = struct.pack(">I", 1) + pages[:4096] + struct.pack(">I", sum(pages[4096 - 200 : 0 : -200]) & 0xFFFFFFFF)
    end = struct.pack(">I", 0x40000000 // 4096 + 1) + name + struct.pack(">II", len(name), sum(name)) + magic
    path.with_name("cache.sqlite-journal").write_bytes(header + page + end)
    SqliteCache(path).get("key")
    assert victim.read_text() == "precious"


def add_a_trigger(path: Path) -> None:
    with contextlib.closing(sqlite3.connect(path)) as file:
        file.execute("CREATE TRIGGER t AFTER INSERT ON entries BEGIN DELETE FROM entries; END")


@pytest.mark.parametrize(
    "damage", [lambda path: path.write_bytes(b"this is no database " * 500), damage_inside, add_a_trigger]
)
def test_a_damaged_file_is_moved_aside(
    tmp_path: Path, damage: Callable[[Path], None], caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "search" / "searches.sqlite"
    assert asked(tmp_path, "use") == 1
    damage(path)
    assert asked(tmp_path, "use") == 1
    assert asked(tmp_path, "use") == 0
    assert len(list(path.parent.glob("searches.sqlite.damaged-*"))) == 1
    (said,) = [record.message for record in caplog.records if record.levelno >= logging.WARNING]
    assert "was damaged and moved to" in said


@pytest.mark.parametrize("value", ["", "[", "5", '{"a": 1}', "[[1]]", "[5]", "[" * 100_000])
def test_a_record_of_another_form_is_asked_for_again(tmp_path: Path, value: str) -> None:
    assert asked(tmp_path, "use") == 1
    change(tmp_path, "value = ?", value)
    assert asked(tmp_path, "use") == 1


def files_are(monkeypatch: pytest.MonkeyPatch, pragma: str) -> None:
    """Each file of SQLite is opened with a limit."""
    connect = sqlite3.connect

    def limited(*args: Any, **kwargs: Any) -> sqlite3.Connection:
        file = connect(*args, **kwargs)
        file.execute(f"PRAGMA {pragma}")
        return file

    monkeypatch.setattr(sqlite3, "connect", limited)


@pytest.mark.parametrize("obstacle", ["a file in the way", "a folder in the way", "a link", "full"])
def test_a_cache_that_cannot_be_written_stops_nothing(
    tmp_path: Path, obstacle: str, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    if obstacle == "a file in the way":
        (tmp_path / "search").write_text("")
    elif obstacle == "a folder in the way":
        (tmp_path / "search" / "searches.sqlite").mkdir(parents=True)
    elif obstacle == "a link":
        (tmp_path / "search").mkdir()
        (tmp_path / "search" / "searches.sqlite-wal").symlink_to(tmp_path / "other")
    else:
        files_are(monkeypatch, "max_page_count = 1")
    search = cached(FakeSearch({"silk": [SILK]}), tmp_path)
    assert [search.search("silk", 3).snippets for _ in range(3)] == [(SILK,)] * 3
    (said,) = [record.message for record in caplog.records if record.levelno >= logging.WARNING]
    assert "cannot be used" in said and "the run goes on" in said


def test_threads_lose_nothing(tmp_path: Path) -> None:
    search = cached(FakeSearch(lambda query: [Snippet("u:" + query, "", query)]), tmp_path)
    with ThreadPoolExecutor(3) as pool:  # the last connection that is closed removes files
        list(pool.map(lambda n: search.search(f"q{n}", 3), range(2000)))
    replay = cached(FakeSearch({}), tmp_path, "replay")
    assert [replay.search(f"q{n}", 3).snippets[0].text for n in range(2000)] == [f"q{n}" for n in range(2000)]


def fill(path: Path, name: str, count: int) -> None:
    cache = SqliteCache(path)
    for n in range(count):
        cache.put(f"{name}{n}", [name, n])


def test_a_full_cache_forgets_the_oldest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("storm_pipeline.sources.sqlite_cache._MOST", 1_000_000)
    fill(path := tmp_path / "x.sqlite", name := "x" * 2_000, 1_200)
    kept = [n for n in range(1_200) if SqliteCache(path).get(f"{name}{n}")]
    assert path.stat().st_size < 1_100_000
    assert kept == list(range(kept[0], 1_200)) and 100 < len(kept) < 300


@pytest.mark.slow
def test_processes_lose_nothing(tmp_path: Path) -> None:
    path = tmp_path / "x.sqlite"
    processes = [multiprocessing.get_context("spawn").Process(target=fill, args=(path, name, 60)) for name in "abc"]
    for process in processes:
        process.start()
    for process in processes:
        process.join(120)
        assert process.exitcode == 0
    cache = SqliteCache(path)
    assert all(cache.get(f"{name}{n}") == [name, n] for name in "abc" for n in range(60))


VALUES = {f"key {number}": [f"Text {number} of the cache. " * 60, number] for number in range(20)}

PAGE = 4096


@pytest.fixture(scope="module")
def intact(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("intact") / "x.sqlite"
    cache = SqliteCache(path)
    for key, value in VALUES.items():
        cache.put(key, value)
    return path.read_bytes()


def flip(data: bytearray, chance: random.Random, most: int) -> None:
    data[chance.randrange(min(most, len(data)))] ^= 1 << chance.randrange(8)


def spoil_the_schema(data: bytearray, chance: random.Random) -> None:
    data[data.index(b"CREATE TABLE") + chance.randrange(-20, 90)] ^= 0x80


def replace_a_page(data: bytearray, chance: random.Random) -> None:
    start = chance.randrange(len(data) // PAGE) * PAGE
    data[start : start + PAGE] = chance.choice((bytes(PAGE), b"\xff" * PAGE, chance.randbytes(PAGE)))


def cut_off(data: bytearray, chance: random.Random) -> None:
    del data[chance.randrange(len(data)) :]


FLIPS = [partial(flip, most=most) for most in (1 << 30, PAGE, 100)]  # anywhere, in the schema, in the header


@pytest.mark.parametrize("harm", [*FLIPS, spoil_the_schema, replace_a_page, cut_off])
def test_damage_costs_entries_and_changes_none(intact: bytes, harm: Callable[[bytearray, random.Random], None]) -> None:
    for seed in range(12 if harm is replace_a_page else 6):
        data = bytearray(intact)
        harm(data, random.Random(seed))
        with TemporaryDirectory() as folder:
            path = Path(folder) / "x.sqlite"
            path.write_bytes(data)
            cache = SqliteCache(path)
            got = {key: cache.get(key) for key in VALUES}
            assert all(value in (None, VALUES[key]) for key, value in got.items()), seed
            for key, value in got.items():
                if value is None:
                    cache.put(key, VALUES[key])
            again = SqliteCache(path)
            assert {key: again.get(key) for key in VALUES if got[key] is None} == {
                key: value for key, value in VALUES.items() if got[key] is None
            }, (seed, cache.problems)
