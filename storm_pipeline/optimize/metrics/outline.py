"""Outlines and headings: whether they have the human headings or mean the same, and little else."""

from collections.abc import Sequence
from typing import Any

import dspy

from storm_pipeline.optimize.metrics.base import Examples, Metric, as_metric
from storm_pipeline.optimize.soft_recall import soft_recall
from storm_pipeline.references.similarity import Embed

_MATCHES = 0.6  # cosine from which two headings count as the same
_ROOM = 1.3  # headings of an outline, as a multiple of the human one's, above which more of them cost
_NAMED = 4  # headings named in feedback


def outline_metric(embed: Embed, _: Examples = ()) -> Metric:
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

    return as_metric(score)


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


def heading_metric(embed: Embed, _: Examples = ()) -> Metric:
    """Cosine of the heading and the human one, at least 0; a heading of over five words, or the topic alone, has 0."""

    def score(gold: dspy.Example, pred: dspy.Prediction) -> tuple[float, str]:
        heading = " ".join(str(pred.heading).split()).strip(' .#*"“”')
        if not heading or len(heading.split()) > 5 or heading.casefold() == str(gold.topic).casefold():
            return 0.0, f"{heading!r} is no heading: give one to five words that are not the topic alone."
        vectors = embed([heading, str(gold.heading)])
        return float(vectors[0] @ vectors[1]), f"Editors call this section {gold.heading!r}, not {heading!r}."

    return as_metric(score)
