"""A run's folder: its names, its journal copied for another run, and what a cache remembers."""

import dataclasses
import os
import tempfile
from collections import defaultdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import happenings
from work import calls_of

from storm_pipeline import CallFinished
from storm_pipeline.errors import RunError
from storm_pipeline.run.concurrency import parallel_map
from storm_pipeline.run.events import Event
from storm_pipeline.run.folder import slug
from storm_pipeline.run.journal import Journal, copy_records
from storm_pipeline.run.ledger import Ledger
from storm_pipeline.run.locking import lock_folder
from storm_pipeline.run.timeline import timeline
from storm_pipeline.sources.search.edge import with_checks
from storm_pipeline.sources.search.fake import FakeSearch
from storm_pipeline.sources.search.search_cache import SearchCache
from storm_pipeline.types import Snippet

kinds = st.sampled_from(["reply", "search", "piece"])
values = st.recursive(st.none() | st.integers() | st.text(max_size=9), lambda one: st.lists(one, max_size=3))
records = st.lists(st.tuples(kinds, st.sampled_from("abc"), values), max_size=12)


@given(records, st.sampled_from([b"", b'{"kind": "reply", "key": "a", "value": 1, "sum": "none"}\n', b"torn"]))
def test_a_copy_has_every_record_but_those_left_out(told: list[tuple[str, str, Any]], damage: bytes) -> None:
    with tempfile.TemporaryDirectory() as place:
        source, target = Path(place) / "source.jsonl", Path(place) / "target.jsonl"
        with Journal(source) as journal:
            for record in told:
                journal.add(*record)
        source.write_bytes(source.read_bytes() + damage)
        copy_records(source, target, without="piece")
        with Journal(target) as copied:
            assert not copied.damaged
            for kind in ("reply", "search", "piece"):
                wanted: dict[str, list[Any]] = defaultdict(list)
                for own, key, value in told:
                    if own == kind != "piece":
                        wanted[key].append(value)
                assert {key: list(found) for key, found in copied.earlier(kind).items()} == dict(wanted)


@pytest.mark.parametrize("is_full", [False, True])
def test_records_of_many_threads_are_all_kept_or_each_refused(
    is_full: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def add(number: int) -> str:
        try:
            journal.add("reply", str(number), number)
        except RunError as error:
            return str(error)
        return ""

    with Journal(tmp_path / "journal.jsonl") as journal, monkeypatch.context() as patch:
        if is_full:
            patch.setattr(os, "write", lambda *_: os.close(-1))
        assert {bool(said) for said in parallel_map(add, range(40), workers=40)} == {is_full}
    with Journal(tmp_path / "journal.jsonl") as journal:
        assert (len(journal.earlier("reply")), journal.damaged) == (0 if is_full else 40, ())


marks = st.one_of(
    st.tuples(st.just("add"), st.sampled_from("ab"), st.sampled_from("kl"), st.sampled_from("xyz")),
    st.tuples(st.just("reject"), st.sampled_from("ab"), st.sampled_from("kl"), st.sampled_from("xyz")),
    st.tuples(st.just("forget"), st.sampled_from("ab"), st.just(""), st.sampled_from(["", *"xyz"])),
)


@given(st.lists(marks, max_size=20))
def test_what_is_left_is_what_marks_leave_one_after_the_other(told: list[tuple[str, str, str, str]]) -> None:
    left: dict[tuple[str, str], list[dict[str, str]]] = defaultdict(list)
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / "journal.jsonl"
        for what, kind, key, role in told:
            value = {"role": role}
            with Journal(path) as journal:
                if what == "add":
                    journal.add(kind, key, value)
                    left[kind, key].append(value)
                elif what == "reject":
                    journal.reject(kind, key, value)
                    if value in left[kind, key]:
                        left[kind, key].reverse()
                        left[kind, key].remove(value)
                        left[kind, key].reverse()
                else:
                    journal.forget(kind, **({"role": role} if role else {}))
                    for own in [own for own in left if own[0] == kind]:
                        left[own] = [one for one in left[own] if role and one != value]
        with Journal(path, read_only=True) as read:
            for kind in "ab":
                assert read.unused(kind) == sum(len(values) for own, values in left.items() if own[0] == kind)
            for (kind, key), wanted in left.items():
                assert list(read.earlier(kind).get(key, ())) == wanted


@pytest.mark.parametrize("key", ["one", "{}"], ids=["of one key", "of many keys"])
@pytest.mark.parametrize("mark", ["forget all", "forget some", "reject"])
def test_marks_are_read_in_one_pass(tmp_path: Path, key: str, mark: str) -> None:
    """A stranger's journal may forget or reject as often as it has records, with and without a match."""
    with Journal(tmp_path / "journal.jsonl") as journal:
        for number in range(300):
            journal.add("reply", key.format(number), {"role": number})
        for number in range(300):
            if mark == "reject":
                journal.reject("reply", key.format(number), {"role": number if number % 2 else "none"})
            else:
                journal.forget("reply", **({"role": str(number)} if mark == "forget some" else {}))
    assert max(calls_of(lambda: Journal(tmp_path / "journal.jsonl", read_only=True)).values()) < 300 * 200


@given(st.sampled_from(["rejected", "forgotten"]), values)
def test_a_mark_of_unknown_form_is_damage(kind: str, value: Any) -> None:
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / "journal.jsonl"
        with Journal(path) as journal:
            journal.add("reply", "a", 1)
            journal.add(kind, "reply", value)
        with Journal(path) as again:
            assert again.damaged == (2,)
            assert again.take("reply", "a") == 1


LONGEST = 143
"""Bytes of a file name on the file system that allows fewest (eCryptfs)."""

SCRIPTS = ("abz ", "äßœ-", "жщя ", "漢字仮", "𐎠𐎡𐎢", "𠀀𠀁𠀂", "\U0001f9f5 _/.")


@given(st.sampled_from(SCRIPTS).flatmap(lambda letters: st.text(st.sampled_from(letters), max_size=300)))
def test_names_fit_every_file_system(topic: str) -> None:
    name = slug(topic)
    assert name
    assert len(name) <= 60
    assert len(f"{name}-20260102-030405-100".encode()) <= LONGEST
    assert len(f"123-{name}-0a1b2c.json.99.changed".encode()) <= LONGEST
    assert name == slug(name)


def test_short_names_are_kept_whole() -> None:
    assert slug("C++ & Silk/Road: a 'test'") == "c-silk-road-a-test"
    assert slug("Шёлковый путь") == "шёлковый-путь"
    assert slug("x" * 99) == "x" * 60
    assert slug("?!") == "topic"


@pytest.mark.parametrize("name", ["", "sections", "sections/deep"])
def test_a_folder_that_cannot_be_read_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    (tmp_path / "run" / "sections" / "deep").mkdir(parents=True)
    hidden, scandir = tmp_path / "run" / name, os.scandir

    def listed(path: Any = ".") -> Any:
        if os.fspath(path) == os.fspath(hidden):  # of mode 0311; root may look into that too
            raise PermissionError(13, "Permission denied", os.fspath(path))
        return scandir(path)

    monkeypatch.setattr(os, "scandir", listed)
    with pytest.raises(RunError, match=r"cannot look into .*Permission denied"):
        lock_folder(tmp_path / "run", "run.lock")
    assert not (tmp_path / "run" / "run.lock").exists()
    monkeypatch.undo()
    lock_folder(tmp_path / "run", "run.lock").release()
    assert (tmp_path / "run" / "run.lock").stat().st_mode & 0o77 == 0, "who can open a lock can hold it"


def test_what_is_remembered_keeps_the_day_of_access(tmp_path: Path) -> None:
    old = Snippet("https://a.org", "Silk", "Silk was traded.")
    dated = dataclasses.replace(old, text="More.", accessed="2001-02-03")
    engine = FakeSearch({"silk": [old, dated]})
    for _ in range(2):
        found = with_checks(engine, is_remote=True, cache=SearchCache(tmp_path)).search("silk", 3).snippets
        assert [one.accessed for one in found] == [datetime.now(UTC).date().isoformat(), "2001-02-03"]


happenings_of_runs = happenings(st.sampled_from(["conversations", "sections", "outline", "run"]), st.text(max_size=9))
calls = st.builds(
    CallFinished, *map(st.just, ("sections", "writer", "m")), *[st.integers(0, 9)] * 3, st.floats(0, 1e5), st.none()
)
moments = st.floats(0, 2e9)


@given(st.lists(st.tuples(moments, happenings_of_runs), max_size=30), st.booleans())
def test_any_events_in_any_order_give_what_the_ledger_sums_up(events: list[tuple[float, Event]], running: bool) -> None:
    made = timeline(events, running=running)
    ledger = Ledger()
    for _, event in events:
        if isinstance(event, CallFinished):
            ledger.emit(event)
    assert made.usage.rows == ledger.usage(0).rows
    for name in ("calls", "tokens_in", "tokens_cached", "tokens_out"):
        parts = sum(getattr(session.usage, name) for session in made.sessions)
        assert parts == getattr(made.usage, name) == getattr(ledger.usage(0), name)
    costs = [session.usage.cost for session in made.sessions]
    known = [cost for cost in costs if cost is not None]
    assert made.usage.cost == (pytest.approx(sum(known)) if known == costs else None)
    assert all(stage.searches >= 0 and stage.seconds >= 0 for session in made.sessions for stage in session.stages)
