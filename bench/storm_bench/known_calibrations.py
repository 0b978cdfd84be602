"""Calibrations shipped with the package, so that reports can print them without the data.

Values are the rounded output of ``python -m benchmarks.judges calibrate --value`` and, for the screen of statements, of
``python -m benchmarks.statements --statements 20 --value``; a judge with other parameters has no known calibration.
"""

from dataclasses import asdict

from storm_bench.calibration import Calibration, CalibrationRow, MetricInterval
from storm_bench.judges.base import SupportJudge
from storm_bench.judges.screen import LEARNT
from storm_bench.metrics.statement_coverage import STATED

_SCREEN = Calibration(
    judge="screen:all-MiniLM-L6-v2",
    parameters={"threshold": 0.5, **asdict(LEARNT)},
    rows=(
        CalibrationRow(
            "experts",
            pairs=383,
            positives=0.739,
            auc=MetricInterval(0.664, 0.592, 0.730),
            balanced_accuracy=MetricInterval(0.599, 0.546, 0.646),
            f1=MetricInterval(0.821, 0.771, 0.863),
            always_yes=0.850,
        ),
        CalibrationRow(
            "another question",
            pairs=566,
            positives=0.5,
            auc=MetricInterval(0.977, 0.956, 0.993),
            balanced_accuracy=MetricInterval(0.929, 0.900, 0.954),
            f1=MetricInterval(0.924, 0.889, 0.952),
            always_yes=0.667,
        ),
        CalibrationRow(
            "another source",
            pairs=520,
            positives=0.5,
            auc=MetricInterval(0.855, 0.813, 0.895),
            balanced_accuracy=MetricInterval(0.787, 0.744, 0.826),
            f1=MetricInterval(0.799, 0.761, 0.835),
            always_yes=0.667,
        ),
        CalibrationRow(
            "changed number",
            pairs=48,
            positives=0.5,
            auc=MetricInterval(0.778, 0.651, 0.896),
            balanced_accuracy=MetricInterval(0.792, 0.700, 0.875),
            f1=MetricInterval(0.773, 0.634, 0.869),
            always_yes=0.667,
        ),
    ),
)

_STATEMENTS = Calibration(
    judge="screen:all-MiniLM-L6-v2",
    parameters={"threshold": STATED, **asdict(LEARNT)},
    rows=(
        CalibrationRow(
            "sentences removed",
            pairs=840,
            positives=0.5,
            auc=MetricInterval(0.964, 0.943, 0.981),
            balanced_accuracy=MetricInterval(0.894, 0.861, 0.926),
            f1=MetricInterval(0.896, 0.863, 0.927),
            always_yes=0.667,
        ),
        CalibrationRow(
            "another article",
            pairs=840,
            positives=0.5,
            auc=MetricInterval(1.000, 1.000, 1.000),
            balanced_accuracy=MetricInterval(0.955, 0.933, 0.973),
            f1=MetricInterval(0.953, 0.929, 0.972),
            always_yes=0.667,
        ),
        CalibrationRow(
            "WiCE",
            pairs=349,
            positives=0.33,
            auc=MetricInterval(0.771, 0.711, 0.821),
            balanced_accuracy=MetricInterval(0.657, 0.611, 0.706),
            f1=MetricInterval(0.506, 0.411, 0.591),
            always_yes=0.496,
        ),
    ),
)

KNOWN = (_SCREEN, _STATEMENTS)
"""All shipped calibrations."""


def known_calibration(judge: SupportJudge) -> Calibration | None:
    """The shipped calibration of a judge with this name and these parameters, or None.

    An int8 embedder counts as its float32 original: their vectors are nearly equal.
    """
    name = judge.name.removesuffix("+int8")
    return next((own for own in KNOWN if own.judge == name and own.parameters == dict(judge.parameters)), None)
