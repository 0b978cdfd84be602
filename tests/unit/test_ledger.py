"""What a run's ledger and timeline tell, and that neither depends on which thread was first."""

import itertools
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import happenings

from storm_pipeline import CallbackSink, CallFinished, StageAdvanced, StageFinished, StageStarted
from storm_pipeline.run.events import (
    COUNTED,
    Counted,
    Degraded,
    Event,
    Events,
    Failed,
    Noted,
    Retried,
    RunFinished,
    RunStarted,
    Searched,
)
from storm_pipeline.run.ledger import Ledger
from storm_pipeline.run.timeline import timeline
from storm_pipeline.types import Problem

stages = st.sampled_from(["conversations", "lead", "sections"])
costs = st.lists(st.floats(0, 100), min_size=1, max_size=12)


def after(events: Sequence[Event]) -> Ledger:
    ledger = Ledger()
    for event in events:
        ledger.emit(event)
    return ledger


def call(cost: float | None) -> CallFinished:
    return CallFinished("sections", "writer", "m", 100, 40, 10, 2.0, cost)


def test_problems_are_told_by_stage_kind_and_detail() -> None:
    told = [
        *(Failed("sections", "section 'B': no reply"), Degraded("sections", "section 'C' left out")),
        *(Degraded("sections", "section 'A' left out"), Failed("lead", "no lead")),
    ]
    assert after(told).report().problems == (
        Problem("lead", "failure", "no lead"),
        Problem("sections", "degradation", "section 'A' left out"),
        Problem("sections", "degradation", "section 'C' left out"),
        Problem("sections", "failure", "section 'B': no reply"),
    )
    assert after(told).failure_summary() == "section 'B': no reply; no lead", "reasons are given as they came"


def test_a_misspelt_count_is_refused_at_once() -> None:
    told: list[Event] = []
    with pytest.raises(TypeError, match="dropped_unsuported"):
        Events(CallbackSink(told.append)).count(dropped_unsuported=1)
    assert not told


@given(st.lists(st.tuples(st.sampled_from([*sorted(COUNTED), "of another version"]), st.integers(0, 9))))
def test_counts_add_up_and_unknown_ones_never_end_a_run(counts: list[tuple[str, int]]) -> None:
    report = after([Counted("sections", name, number) for name, number in counts]).report()
    for name in COUNTED:
        assert getattr(report, name) == sum(number for own, number in counts if own == name)


happenings_of_runs = happenings(st.sampled_from(["conversations", "sections", "outline", "run"]), st.text(max_size=9))
calls = st.builds(
    CallFinished, *map(st.just, ("sections", "writer", "m")), *[st.integers(0, 9)] * 3, st.floats(0, 1e5), st.none()
)
moments = st.floats(0, 2e9)
CALL = CallFinished("sections", "writer", "m", 100, 40, 10, 2.0, 0.5)


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


@given(st.lists(st.tuples(moments, calls), max_size=10), st.lists(moments, min_size=1, max_size=3))
def test_the_time_is_what_the_ledger_restores(told: list[tuple[float, Event]], starts: list[float]) -> None:
    begun = [(at, RunStarted("run", "T", "", number)) for number, at in enumerate(sorted(starts), 1)]
    events = sorted([*begun, *((begun[0][0] + at, call) for at, call in told)], key=lambda pair: pair[0])
    assert timeline(events).usage.seconds == pytest.approx(Ledger().restore(events).seconds, abs=0.06)


def at_once(*events: Event) -> list[tuple[float, Event]]:
    """The events, a second apart."""
    return list(zip(itertools.count(1000.0), events, strict=False))


def test_stages_are_told_in_order_with_what_they_took() -> None:
    made = timeline(
        at_once(
            RunStarted("run", "Silk Road", "runs/x"),
            StageStarted("conversations", 2),
            StageStarted("perspectives"),
            StageFinished("perspectives", 0.9),
            Searched("conversations", "wiki", "q", 3, 3, 0.1),
            Retried("conversations", "m", "busy", 1.0),
            StageAdvanced("conversations", "a"),
            StageFinished("conversations", 5.1),
            StageStarted("sections"),
            CALL,
            CALL,
            Degraded("sections", "a page was not read"),
            Failed("sections", "section 'B': no reply"),
            Noted("sections", "as you like it"),
            StageFinished("sections", 6.0),
            RunFinished("run", 15.0, "runs/x"),
        )
    )
    (session,) = made.sessions
    assert (made.topic, session.ending, session.seconds, made.usage.seconds) == ("Silk Road", "finished", 15.0, 15.0)
    talk, perspectives, sections = session.stages
    assert [(s.name, s.started, s.seconds) for s in session.stages] == [
        ("conversations", 1001.0, 5.1),
        ("perspectives", 1002.0, 0.9),
        ("sections", 1008.0, 6.0),
    ]
    assert (talk.searches, talk.retries, talk.steps, talk.ended, perspectives.rows) == (1, 1, 1, True, ())
    assert (sections.usage.calls, sections.usage.cost, sections.usage.tokens_cached) == (2, 1.0, 80)
    assert sections.notes == ("as you like it",)
    assert sections.problems == (
        Problem("sections", "degradation", "a page was not read"),
        Problem("sections", "failure", "section 'B': no reply"),
    )
