"""Metrics for optimisers: a score in [0, 1], and what to do better, in words."""

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import dspy
import numpy as np

from storm_pipeline.optimize.soft_recall import soft_recall
from storm_pipeline.references.similarity import Embed

_MATCHES = 0.6
"""Cosine from which two headings count as the same."""
_ROOM = 1.3
"""Headings of an outline, as a multiple of the human one's, above which more of them cost."""
_NAMED = 4
"""Headings named in feedback."""


class Metric(Protocol):
    """A metric as DSPy's optimisers call it."""

    def __call__(
        self,
        gold: dspy.Example,
        pred: dspy.Prediction,
        trace: Any = None,
        pred_name: Any = None,
        pred_trace: Any = None,
    ) -> dspy.Prediction:
        """A prediction with ``score`` in [0, 1] and ``feedback``."""
        ...


def outline_metric(embed: Embed) -> Metric:
    """Heading soft recall (Shao et al. 2024, appendix C.1, cosines clipped at 0), times what clutter leaves of it.

    Clutter is what there is beyond 1.3 times the human outline's headings, and headings given twice.
    """

    def score(gold: dspy.Example, pred: dspy.Prediction) -> tuple[float, str]:
        wanted, made = _headings(gold.sections), _headings(pred.sections)
        recall = min(1.0, max(0.0, soft_recall(wanted, made, embed, clip=True) or 0.0))
        distinct = list(dict.fromkeys(heading.casefold() for heading in made))
        room = min(1.0, _ROOM * len(wanted) / max(1, len(made))) * len(distinct) / max(1, len(made))
        missing, odd = _unmatched(wanted, made, embed), _unmatched(made, wanted, embed)
        said = [
            f"Editors of the article on {gold.topic} also have: {'; '.join(missing[:_NAMED])}." if missing else "",
            f"They have nothing like: {'; '.join(odd[:_NAMED])}." if odd else "",
            f"They need {len(wanted)} headings, the outline has {len(made)}." if room < 1 else "",
        ]
        return recall * room, " ".join(filter(None, said)) or "Every heading has its like in the editors' outline."

    return _as_metric(score)


def heading_metric(embed: Embed) -> Metric:
    """Cosine of the heading and the human one, at least 0; a heading of over five words, or the topic alone, has 0."""

    def score(gold: dspy.Example, pred: dspy.Prediction) -> tuple[float, str]:
        heading = " ".join(str(pred.heading).split()).strip(' .#*"“”')
        if not heading or len(heading.split()) > 5 or heading.casefold() == str(gold.topic).casefold():
            return 0.0, f"{heading!r} is no heading: give one to five words that are not the topic alone."
        vectors = embed([heading, str(gold.heading)])
        cosine = min(1.0, max(0.0, float(vectors[0] @ vectors[1])))
        return cosine, f"Editors call this section {gold.heading!r}; the heading given was {heading!r}."

    return _as_metric(score)


def mean_with_interval(differences: Sequence[float], seed: int = 0) -> tuple[float, tuple[float, float]]:
    """The mean of paired differences, and its 95 % interval (bootstrap percentiles, 2,000 resamples).

    Args:
        differences: one a topic; at least one.
        seed: of the resamples.
    """
    values = np.asarray(differences, dtype=np.float64)
    draws = np.random.default_rng(seed).choice(values, size=(2000, len(values))).mean(axis=1)
    low, high = np.percentile(draws, [2.5, 97.5])
    return float(values.mean()), (float(low), float(high))


def _as_metric(score: Callable[[dspy.Example, dspy.Prediction], tuple[float, str]]) -> Metric:
    def metric(
        gold: dspy.Example,
        pred: dspy.Prediction,
        trace: Any = None,  # noqa: ARG001 - what optimisers pass
        pred_name: Any = None,  # noqa: ARG001
        pred_trace: Any = None,  # noqa: ARG001
    ) -> dspy.Prediction:
        value, feedback = score(gold, pred)
        return dspy.Prediction(score=value, feedback=feedback)

    return metric


def _headings(sections: Sequence[Any]) -> list[str]:
    """All headings of an outline, of predictions or of examples."""
    plain = [one if isinstance(one, dict) else one.model_dump() for one in sections]
    return [heading for one in plain for heading in (one["title"], *one.get("subsections", ()))]


def _unmatched(headings: Sequence[str], others: Sequence[str], embed: Embed) -> list[str]:
    """Those of the headings that none of the others is like."""
    if not headings or not others:
        return list(headings)
    vectors = embed([*headings, *others])
    best = (vectors[: len(headings)] @ vectors[len(headings) :].T).max(axis=1)
    return [heading for heading, cosine in zip(headings, best, strict=True) if cosine < _MATCHES]
