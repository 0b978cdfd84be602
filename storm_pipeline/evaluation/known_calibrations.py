"""Calibrations that were measured once and ship with the package, so that a report can print them without the data.

Each value is what ``python benchmarks/judges.py calibrate --value`` printed, rounded; a judge with other parameters has
no known calibration.
"""

from dataclasses import asdict

from storm_pipeline.evaluation.calibration import Calibration, CalibrationRow, Interval
from storm_pipeline.evaluation.judges.base import SupportJudge
from storm_pipeline.evaluation.judges.screen import LEARNT

_SCREEN = Calibration(
    judge="screen:all-MiniLM-L6-v2",
    parameters={"threshold": 0.5, **asdict(LEARNT)},
    rows=(
        CalibrationRow(
            "experts",
            pairs=383,
            positives=0.739,
            auc=Interval(0.664, 0.592, 0.730),
            balanced_accuracy=Interval(0.599, 0.546, 0.646),
            f1=Interval(0.821, 0.771, 0.863),
            always_yes=0.850,
        ),
        CalibrationRow(
            "another question",
            pairs=566,
            positives=0.5,
            auc=Interval(0.977, 0.956, 0.993),
            balanced_accuracy=Interval(0.929, 0.900, 0.954),
            f1=Interval(0.924, 0.889, 0.952),
            always_yes=0.667,
        ),
        CalibrationRow(
            "another source",
            pairs=520,
            positives=0.5,
            auc=Interval(0.855, 0.813, 0.895),
            balanced_accuracy=Interval(0.787, 0.744, 0.826),
            f1=Interval(0.799, 0.761, 0.835),
            always_yes=0.667,
        ),
        CalibrationRow(
            "changed number",
            pairs=48,
            positives=0.5,
            auc=Interval(0.778, 0.651, 0.896),
            balanced_accuracy=Interval(0.792, 0.700, 0.875),
            f1=Interval(0.773, 0.634, 0.869),
            always_yes=0.667,
        ),
    ),
)

KNOWN = (_SCREEN,)
"""All of them."""


def known_calibration(judge: SupportJudge) -> Calibration | None:
    """The shipped calibration of a judge of this name and these parameters, or None.

    The 8-bit form of an embedder is taken for the embedder itself: their vectors point the same way.
    """
    name = judge.name.removesuffix("+int8")
    return next((own for own in KNOWN if own.judge == name and own.parameters == dict(judge.parameters)), None)
