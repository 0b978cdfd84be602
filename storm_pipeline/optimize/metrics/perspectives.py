"""Perspectives: whether they differ, and together cover what the human article has."""

import dspy
import numpy as np

from storm_pipeline.optimize.metrics.base import Examples, Metric, as_metric
from storm_pipeline.references.similarity import Embed

_NEAR = 0.5  # cosine of a heading to an editor's focus from which the editor covers it
_NAMED = 3


def perspectives_metric(embed: Embed, _: Examples = ()) -> Metric:
    """The mean of coverage and diversity, times the share of the wanted number that there is.

    Coverage: the mean over human headings of the highest cosine with an editor's focus, 0.5 or more counting as 1.
    Diversity: 1 less the mean cosine of two editors.
    """

    def score(gold: dspy.Example, pred: dspy.Prediction) -> tuple[float, str]:
        plain = [one if isinstance(one, dict) else one.model_dump() for one in pred.editors]
        editors = list(dict.fromkeys(f"{one['name']}. {one['focus']}" for one in plain))[: gold.number]
        if not editors:
            return 0.0, "There is no editor."
        headings = gold.gold.text.splitlines()
        vectors = np.asarray(embed([*editors, *(f"{heading} of {gold.topic}" for heading in headings)]))
        own, wanted = vectors[: len(editors)], vectors[len(editors) :]
        best = np.clip((wanted @ own.T).max(axis=1) / _NEAR, 0.0, 1.0)
        alike = (own @ own.T)[np.triu_indices(len(editors), 1)]
        value = (float(best.mean()) + 1 - (float(alike.mean()) if len(alike) else 1.0)) / 2
        missed = [headings[i] for i in np.argsort(best)[:_NAMED] if best[i] < 1]
        said = [f"{len(editors)} of {gold.number} editors."] if len(editors) < gold.number else []
        said += [f"Nobody looks after: {'; '.join(missed)}."] if missed else []
        said += [f"The mean cosine of two editors is {float(alike.mean()):.2f}."] if len(alike) else []
        return value * len(editors) / gold.number, " ".join(said)

    return as_metric(score)
