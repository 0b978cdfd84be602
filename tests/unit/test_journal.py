"""Journals copied for a run that goes on from another one."""

import tempfile
from collections import defaultdict
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from storm_pipeline.run.journal import Journal, copy_records

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
