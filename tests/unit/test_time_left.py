"""The time left that is shown during a run, replayed from runs recorded with a server that
replies after 1 s and 20 ms a token (``storm_benchmarks.bench_server``)."""

import functools
import json
import math
import statistics
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from storm_pipeline.interfaces.progress.phases import Phase, expected_phases
from storm_pipeline.interfaces.progress.run_progress import ProgressSink
from storm_pipeline.run.events import CallFinished, Event, RunFinished, StageAdvanced, StageFinished, StageStarted
from storm_pipeline.settings import Settings

pytestmark = pytest.mark.slow
RUNS: list[dict[str, Any]] = json.loads((Path(__file__).parents[1] / "recorded" / "progress.json").read_text("utf-8"))
SHARES = (0.2, 0.4, 0.6, 0.8, 0.95)


def event(kind: str, stage: str = "", *facts: Any) -> Event:
    match kind:
        case "started":
            return StageStarted(stage, *facts)
        case "finished":
            return StageFinished(stage, *facts)
        case "advanced":
            return StageAdvanced(stage)
        case "call":
            tokens_in, cached, tokens_out, seconds = facts
            return CallFinished(stage, "writer", "m", tokens_in, cached, tokens_out, seconds, None)
        case _:
            return RunFinished("run", 0.0, "")


@functools.cache
def phases_of(name: str) -> tuple[Phase, ...]:
    run = next(run for run in RUNS if run["name"] == name)
    return expected_phases(Settings.build(run["settings"]), run["topic"])


def shown(run: dict[str, Any]) -> Iterator[tuple[float, float, float | None]]:
    """Share of the run, seconds left, and seconds shown."""
    time = 0.0
    board = ProgressSink(now=lambda: time)
    board.expect(phases_of(run["name"]))
    events, end = iter(run["events"]), run["events"][-1][0]
    ahead = next(events)
    for share in SHARES:
        while ahead[0] <= share * end:
            time = ahead[0]
            board.emit(event(*ahead[1:]))
            ahead = next(events)
        time = share * end
        yield share, end - time, board.seconds_left()


def test_the_time_left_is_about_right() -> None:
    factors = []
    for run in RUNS:
        for share, left, guess in shown(run):
            if guess is None:
                assert share <= 0.4, run["name"]  # the first reply has not come
                continue
            factor = abs(math.log2(max(guess, 1) / max(left, 1)))
            factors.append(factor)
            assert factor <= math.log2(2.5) or abs(guess - left) <= 15, (
                f"{run['name']} at {share:.0%}: {guess:.0f} s, not {left:.0f}"
            )
    assert len(factors) == len(RUNS) * len(SHARES)
    assert statistics.median(factors) <= 0.4
    assert statistics.mean(factor > 1 for factor in factors) <= 0.2, "more than two times wrong"


@pytest.mark.parametrize("run", RUNS, ids=lambda run: run["name"])
def test_what_is_shown_does_not_end_before_the_run_does(run: dict[str, Any]) -> None:
    assert all(guess is None or guess > 0 for _, _, guess in shown(run))
