"""Headings of sections: whether they mean what the human ones do."""

import dspy

from storm_pipeline.optimize.metrics.base import Examples, Metric, as_metric
from storm_pipeline.references.similarity import Embed


def heading_metric(embed: Embed, _: Examples = ()) -> Metric:
    """Cosine of the heading and the human one, at least 0; a heading of over five words, or the topic alone, has 0."""

    def score(gold: dspy.Example, pred: dspy.Prediction) -> tuple[float, str]:
        heading = " ".join(str(pred.heading).split()).strip(' .#*"“”')
        if not heading or len(heading.split()) > 5 or heading.casefold() == str(gold.topic).casefold():
            return 0.0, f"{heading!r} is no heading: give one to five words that are not the topic alone."
        vectors = embed([heading, str(gold.heading)])
        return float(vectors[0] @ vectors[1]), f"Editors call this section {gold.heading!r}, not {heading!r}."

    return as_metric(score)
