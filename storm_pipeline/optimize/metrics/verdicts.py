"""Verdicts on sentences beside passages, by a judge that is a language model."""

import dspy

from storm_pipeline.judges.language_model import read_verdicts
from storm_pipeline.optimize.metrics.base import Examples, Metric, as_metric
from storm_pipeline.references.similarity import Embed


def verdicts_metric(_embed: Embed, _examples: Examples = ()) -> Metric:
    """The metric: the mean of the shares of supported and of other sentences that are told to be such."""

    def score(gold: dspy.Example, pred: dspy.Prediction) -> tuple[float, str]:
        wanted, told = (
            {number: label == "supported" for number, (label, _) in read_verdicts(str(one.verdicts))}
            for one in (gold, pred)
        )
        shares = []
        for kind in set(wanted.values()):
            own = [number for number, supported in wanted.items() if supported == kind]
            shares.append(sum(told.get(number) == kind for number in own) / len(own))
        wrong = [f"{n} is {'supported' if wanted[n] else 'not supported'}" for n in wanted if told.get(n) != wanted[n]]
        return sum(shares) / max(1, len(shares)), f"Sentence {'; '.join(wrong)}." if wrong else "All are told right."

    return as_metric(score)
