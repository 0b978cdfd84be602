"""Journals copied for a run that goes on from another one."""

import tempfile
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storm_pipeline.run import journal as journal_module
from storm_pipeline.run.journal import Journal, copy_records, fingerprint

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


@given(st.lists(st.tuples(st.sampled_from("abc"), values), max_size=12), st.data())
def test_a_rejected_record_is_not_served_again_others_are(told: list[tuple[str, Any]], data: st.DataObject) -> None:
    rejected = data.draw(st.lists(st.sampled_from(told), unique_by=told.index) if told else st.just([]))
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / "journal.jsonl"
        with Journal(path) as journal:
            for key, value in told:
                journal.add("reply", key, value)
            for key, value in rejected:
                journal.reject("reply", key, value)
        wanted = list(told)
        for one in rejected:
            wanted.remove(one)
        with Journal(path) as again:
            assert not again.damaged
            assert again.unused("reply") == len(wanted)
            for key in "abc":
                left = [value for own, value in wanted if own == key]
                assert sorted(map(repr, again.earlier("reply").get(key, ()))) == sorted(map(repr, left))


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


@given(
    st.lists(st.one_of(values, st.builds(lambda call: {"call": call}, values)), max_size=6),
    st.lists(values, max_size=3),
)
def test_own_calls_are_those_of_the_run_itself_taken_ones_included(replies: list[Any], copied: list[Any]) -> None:
    with tempfile.TemporaryDirectory() as place:
        source, path = Path(place) / "source.jsonl", Path(place) / "journal.jsonl"
        with Journal(source) as journal:
            for value in copied:
                journal.add("reply", "a", {"call": value})
        copy_records(source, path, without=())
        with Journal(path) as journal:
            for value in replies:
                journal.add("reply", "a", value)
                journal.add("search", "a", {"call": "none"})
            journal.forget("reply")
            assert list(journal.own_calls) == []
        with Journal(path, read_only=True) as again:
            again.take("reply", "a")
            assert list(again.own_calls) == [
                value.get("call") if isinstance(value, dict) else None for value in replies
            ]


def test_rejections_are_read_in_one_pass(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A stranger's journal may reject as often as it has records, with and without a match."""
    with Journal(tmp_path / "journal.jsonl") as journal:
        for number in range(300):
            journal.add("reply", "key", number)
            journal.reject("reply", "key", number if number % 2 else "none")
    counted: list[object] = []
    monkeypatch.setattr(journal_module, "fingerprint", lambda *parts: (counted.append(parts), fingerprint(*parts))[1])
    with Journal(tmp_path / "journal.jsonl", read_only=True) as read:
        assert [read.take("reply", "key") for _ in range(151)] == [*range(0, 300, 2), None]
    assert len(counted) <= 1000
