"""Calibrations shipped with the package, so that reports can print them without the data.

``known_calibrations.json`` holds the rounded output of ``python -m storm_benchmarks.judges calibrate --value`` and, for
the screen of statements, of ``python -m storm_benchmarks.statements --statements 20 --value``; a judge with other
parameters has no known calibration.
"""

from functools import cache
from importlib.resources import files

from pydantic import TypeAdapter

from storm_bench.calibration import Calibration
from storm_bench.judges.base import SupportJudge


@cache
def known_calibrations() -> tuple[Calibration, ...]:
    """All shipped calibrations."""
    shipped = files("storm_bench").joinpath("known_calibrations.json").read_bytes()
    return TypeAdapter(tuple[Calibration, ...]).validate_json(shipped)


def known_calibration(judge: SupportJudge) -> Calibration | None:
    """The shipped calibration of a judge with this name and these parameters, or None.

    An int8 embedder counts as its float32 original: their vectors are nearly equal.
    """
    name, parameters = judge.name.removesuffix("+int8"), dict(judge.parameters)
    return next((own for own in known_calibrations() if own.judge == name and own.parameters == parameters), None)
