"""A cache file with damage in it: what was stored is got or missed, never another value, and the file can be used."""

import json
import random
import sqlite3
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storm_pipeline.sources.sqlite_cache import SqliteCache

VALUES = {f"key {number}": [f"Text {number} of the cache. " * 60, number] for number in range(20)}
PAGE = 4096


@pytest.fixture(scope="module")
def intact(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("intact") / "x.sqlite"
    cache = SqliteCache(path)
    for key, value in VALUES.items():
        cache.put(key, value)
    return path.read_bytes()


def flip(data: bytearray, chance: random.Random) -> None:
    data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)


def flip_in_the_schema(data: bytearray, chance: random.Random) -> None:
    data[chance.randrange(PAGE)] ^= 1 << chance.randrange(8)


def flip_the_header(data: bytearray, chance: random.Random) -> None:
    data[chance.randrange(100)] ^= 1 << chance.randrange(8)


def spoil_the_schema(data: bytearray, chance: random.Random) -> None:
    data[data.index(b"CREATE TABLE") + chance.randrange(-20, 90)] ^= 0x80


def blank_a_page(data: bytearray, chance: random.Random) -> None:
    start = chance.randrange(len(data) // PAGE) * PAGE
    data[start : start + PAGE] = bytes([chance.choice((0, 255))]) * PAGE


def scramble_a_page(data: bytearray, chance: random.Random) -> None:
    start = chance.randrange(len(data) // PAGE) * PAGE
    data[start : start + PAGE] = chance.randbytes(PAGE)


def cut_off(data: bytearray, chance: random.Random) -> None:
    del data[chance.randrange(len(data)) :]


@pytest.mark.parametrize(
    "harm",
    [flip, flip_in_the_schema, flip_the_header, spoil_the_schema, blank_a_page, scramble_a_page, cut_off],
    ids=lambda harm: harm.__name__,
)
def test_damage_costs_entries_and_changes_none(intact: bytes, harm: Callable[[bytearray, random.Random], None]) -> None:
    for seed in range(12):
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


def test_a_changed_text_is_missed_and_said(tmp_path: Path) -> None:
    cache = SqliteCache(tmp_path / "x.sqlite")
    cache.put("k", "a number: 1234")
    with sqlite3.connect(tmp_path / "x.sqlite") as file:
        file.execute("UPDATE entries SET value = replace(value, '1234', '1235')")
    file.close()
    assert cache.get("k") is None
    assert cache.get("k") is None
    assert cache.problems == (f"an entry of the cache {tmp_path / 'x.sqlite'} is damaged and is not used",)
    cache.put("k", "a number: 1234")
    assert cache.get("k") == "a number: 1234"


@given(st.recursive(st.none() | st.integers() | st.text(), lambda inner: st.lists(inner) | st.text(), max_leaves=5))
def test_entries_of_earlier_versions_are_read(value: Any) -> None:
    with TemporaryDirectory() as folder:
        cache = SqliteCache(Path(folder) / "x.sqlite")
        cache.put("k", "new")
        with sqlite3.connect(Path(folder) / "x.sqlite") as file:
            file.execute("UPDATE entries SET value = ?", (json.dumps(value),))
        file.close()
        assert cache.get("k") == value
        assert cache.problems == ()
