"""The fault bench in short: runs that are killed or interrupted."""

import math
import signal
import time

import pytest

from storm_benchmarks.faults.command import Command
from storm_benchmarks.faults.kills import (
    SIGNALS,
    Kill,
    Whole,
    age_of,
    interrupted,
    interrupted_at,
    killed_at,
    moments,
)
from storm_benchmarks.faults.kinds import OK
from storm_benchmarks.faults.lab import Lab
from storm_benchmarks.faults.server import Line
from storm_pipeline.run.concurrency import parallel_map

KILLS = 3


@pytest.mark.parametrize("number", range(KILLS))
def test_a_killed_run_ends_as_if_nothing_had_happened(patient: Lab, whole: Whole, number: int) -> None:
    run = killed_at(patient, f"killed-{number}", [moments(KILLS, whole)[number]], whole)
    assert run.problems == ()
    assert run.repeated <= run.in_flight


@pytest.mark.parametrize("number", SIGNALS)
@pytest.mark.parametrize("share", [0.1, 0.6])
def test_an_interrupted_run_goes_on(patient: Lab, whole: Whole, number: signal.Signals, share: float) -> None:
    run = f"signal-{number}-{share}"
    assert interrupted_at(patient, run, number, share * whole.seconds, whole) == []


def test_ctrl_c_in_each_phase_stops_in_order(patient: Lab, whole: Whole) -> None:
    phases = sorted({line.kind for line in patient.bench.log("undisturbed")})
    read = {"search", "question", "answer", "pages", "notes of pages", "outline", "points", "answers to points"}
    assert read | {"section", "lead"} <= set(phases)

    def problems(phase: str) -> list[str]:
        run = f"during-{phase.replace(' ', '-')}"

        def wait(command: Command) -> None:
            while command.running and not any(line.kind == phase for line in patient.bench.log(run)):
                time.sleep(0.005)

        found = interrupted(patient, run, signal.SIGINT, wait, whole)
        folder = patient.run_folder(run)
        return found if folder and (folder / "run.json").exists() else ["the run made no folder"]

    found = dict(zip(phases, parallel_map(problems, phases, workers=2), strict=True))
    assert not any(found.values()), found


@pytest.mark.parametrize(
    ("received", "ended", "met", "age"),
    [
        (9.0, 9.5, False, 0.5),
        (9.0, 9.9, True, 0.1),
        (9.0, 11.0, True, 0.0),
        (10.1, 10.15, True, 0.0),  # asked while the signal was on its way
        (10.3, 10.4, False, math.inf),
    ],
)
def test_what_a_kill_meets_is_in_flight(received: float, ended: float, met: bool, age: float) -> None:
    line, kill = Line("run", "question", "key", 0, OK, received, ended, whole=True), Kill(10.0, 10.2)
    assert kill.met(line) is met
    assert age_of(line, [kill]) == pytest.approx(age)
