"""Outlines, headings and perspectives: whether they have the human headings or cover them, and little else."""

from collections.abc import Sequence
from typing import Any

import dspy
import numpy as np

from storm_pipeline.optimize.metrics.base import NAMED, by_itself
from storm_pipeline.optimize.soft_recall import soft_recall
from storm_pipeline.retrieval.embedder import Embed

_MATCHES = 0.6  # cosine from which two headings count as the same
_ROOM = 1.3  # headings of an outline, as a multiple of the human one's, above which more of them cost
_NEAR = 0.5  # cosine of a heading to an editor's focus from which the editor covers it


@by_itself
def outline_metric(embed: Embed, gold: dspy.Example, pred: dspy.Prediction) -> tuple[float, str]:
    """Heading soft recall (Shao et al. 2024, appendix C.1, cosines clipped at 0), times what clutter leaves of it.

    Clutter is what there is beyond 1.3 times the human outline's headings, and headings given twice.
    """
    wanted, made = _headings(gold.sections), _headings(pred.sections)
    recall = min(1.0, max(0.0, soft_recall(wanted, made, embed, clip=True) or 0.0))
    distinct = list(dict.fromkeys(heading.casefold() for heading in made))
    room = min(1.0, _ROOM * len(wanted) / max(1, len(made))) * len(distinct) / max(1, len(made))
    missing, odd = _unmatched(wanted, made, embed), _unmatched(made, wanted, embed)
    said = [
        f"Editors of the article on {gold.topic} also have: {'; '.join(missing[:NAMED])}." if missing else "",
        f"They have nothing like: {'; '.join(odd[:NAMED])}." if odd else "",
        f"They need {len(wanted)} headings, the outline has {len(made)}." if room < 1 else "",
    ]
    return recall * room, " ".join(filter(None, said)) or "Every heading has its like in the editors' outline."


def _headings(sections: Sequence[Any]) -> list[str]:
    """All headings of an outline, of predictions or of examples."""
    return [heading for one in _plain(sections) for heading in (one["title"], *one.get("subsections", ()))]


def _plain(values: Sequence[Any]) -> list[dict[str, Any]]:
    return [one if isinstance(one, dict) else one.model_dump() for one in values]


def _unmatched(headings: Sequence[str], others: Sequence[str], embed: Embed) -> list[str]:
    if not headings or not others:
        return list(headings)
    vectors = embed([*headings, *others])
    best = (vectors[: len(headings)] @ vectors[len(headings) :].T).max(axis=1)
    return [heading for heading, cosine in zip(headings, best, strict=True) if cosine < _MATCHES]


@by_itself
def perspectives_metric(embed: Embed, gold: dspy.Example, pred: dspy.Prediction) -> tuple[float, str]:
    """The mean of coverage and diversity, times the share of the wanted number that there is.

    Coverage: the mean over human headings of the highest cosine with an editor's focus, 0.5 or more counting as 1.
    Diversity: 1 less the mean cosine of two editors.
    """
    editors = list(dict.fromkeys(f"{one['name']}. {one['focus']}" for one in _plain(pred.editors)))[: gold.number]
    if not editors:
        return 0.0, "There is no editor."
    headings = gold.gold.text.splitlines()
    vectors = np.asarray(embed([*editors, *(f"{heading} of {gold.topic}" for heading in headings)]))
    own, wanted = vectors[: len(editors)], vectors[len(editors) :]
    best = np.clip((wanted @ own.T).max(axis=1) / _NEAR, 0.0, 1.0)
    alike = (own @ own.T)[np.triu_indices(len(editors), 1)]
    value = (float(best.mean()) + 1 - (float(alike.mean()) if len(alike) else 1.0)) / 2
    missed = [headings[i] for i in np.argsort(best)[:NAMED] if best[i] < 1]
    said = [f"{len(editors)} of {gold.number} editors."] if len(editors) < gold.number else []
    said += [f"Nobody looks after: {'; '.join(missed)}."] if missed else []
    said += [f"The mean cosine of two editors is {float(alike.mean()):.2f}."] if len(alike) else []
    return value * len(editors) / gold.number, " ".join(said)
