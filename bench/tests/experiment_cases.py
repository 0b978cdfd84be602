"""Small experiments whose numbers can be checked by hand."""

import math
from collections.abc import Mapping, Sequence

from storm_bench.metrics.base import Measure
from storm_bench.reporting import ExperimentResults, JudgedMeasures, Result

ROUGE = Measure("rouge_1")
WORDS = Measure("words", high=math.inf, better="neither")
SECONDS = Measure("seconds", high=math.inf, better="lower")
TOKENS = tuple(Measure(name, high=math.inf, better="lower") for name in ("tokens_in", "tokens_out"))

SCORES = {"direct": (0.1, 0.2, 0.3, 0.4), "rr": (0.2, 0.2, 0.2, 0.6), "storm": (0.3, 0.4, 0.6, 0.7)}
"""rouge_1 by method, a value a topic. storm - direct: 0.2, 0.2, 0.3, 0.3; rr - direct: 0.1, 0, -0.1, 0.2."""


def results_of(
    values: Mapping[str, Sequence[Mapping[str, float | None] | str]],
    measures: Sequence[Measure] = (ROUGE,),
    *,
    baseline: str = "direct",
    topics: Sequence[str] = (),
    calibrations: tuple[JudgedMeasures, ...] = (),
    title: str = "An experiment",
) -> ExperimentResults:
    """Results by method, one a topic: its values, or why it failed."""
    rows = tuple(
        Result(method, name, 0, {}, own) if isinstance(own, str) else Result(method, name, 0, own)
        for method, given in values.items()
        for name, own in zip(topics or [f"topic-{n}" for n in range(len(given))], given, strict=True)
    )
    return ExperimentResults(
        title, rows, tuple(measures), baseline, {"model": "none"}, calibrations, ("Invented numbers.",)
    )


def experiment() -> ExperimentResults:
    """Three methods on four topics: one measure of quality, one that describes, and what an article cost."""
    return results_of(
        {
            method: [
                {"rouge_1": score, "words": 100.0, "seconds": 10.0 * place + n, "tokens_in": 100, "tokens_out": 50}
                for n, score in enumerate(scores)
            ]
            for place, (method, scores) in enumerate(SCORES.items(), 1)
        },
        (ROUGE, WORDS, SECONDS, *TOKENS),
    )
