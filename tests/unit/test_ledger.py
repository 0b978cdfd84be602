"""What a run's ledger and timeline tell, and that neither depends on which thread was first."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import happenings

from storm_pipeline import CallbackSink, CallFinished
from storm_pipeline.run.events import (
    Event,
    Events,
)
from storm_pipeline.run.ledger import Ledger
from storm_pipeline.run.timeline import timeline

stages = st.sampled_from(["conversations", "lead", "sections"])
costs = st.lists(st.floats(0, 100), min_size=1, max_size=12)


def test_a_misspelt_count_is_refused_at_once() -> None:
    told: list[Event] = []
    with pytest.raises(TypeError, match="dropped_unsuported"):
        Events(CallbackSink(told.append)).count(dropped_unsuported=1)
    assert not told


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
