"""Texts written from numbered passages (answers, sections, leads): support, entities, length, form."""

from functools import partial

import dspy

from storm_pipeline.optimize.metrics.base import Examples, MakeMetric, Metric, as_metric, names_in, share_of
from storm_pipeline.references.grounding import Claim, Grounding, Judged
from storm_pipeline.references.passages import Passage
from storm_pipeline.references.similarity import Embed
from storm_pipeline.text.words import word_count
from storm_pipeline.writers.drafts import read_draft

_OUT_OF_FORM = 0.5
"""Factor of a text that breaks off, or cites numbers that it was not shown."""
_NAMED = 3


def cited_metric(field: str) -> MakeMetric:
    """The metric of an output field: the mean of three shares, times what wrong length and form leave of it.

    The shares: sentences that cite what supports them, by the check that runs use; citations that stand; and names and
    numbers of the human text that the passages have too. A length from half to twice the human text's costs nothing.
    """
    return partial(_metric, field)


def _metric(field: str, embed: Embed, _: Examples = ()) -> Metric:
    def score(gold: dspy.Example, pred: dspy.Prediction) -> tuple[float, str]:
        text, shown, topic = str(pred[field]), gold.gold.passages, str(gold.get("topic") or gold.get("article"))
        draft = read_draft(text, len(shown), names=(topic,))
        claims = draft.claims()
        if not claims:
            return 0.0, "There is no whole sentence."
        judged = Grounding(shown, known=topic, embed=embed).judge(claims)
        cited = [bool(claim.cited) and not one.problem for claim, one in zip(claims, judged, strict=True)]
        wanted = names_in(gold.gold.text) & names_in(" ".join(one.text for one in shown))
        missed = sorted(wanted - names_in(text))
        words, target = word_count(text), max(1, word_count(gold.gold.text))
        length = min(1.0, 2 * words / target, 2 * target / max(1, words))
        value = (sum(cited) / len(cited) + _precision(claims, judged, shown) + share_of(wanted, names_in(text))) / 3
        said = [
            f"“{claim.text[:90]}”: {one.problem}." for claim, one in zip(claims, judged, strict=True) if one.problem
        ]
        said = said[:_NAMED] + [f"Editors also tell of {', '.join(missed[: 2 * _NAMED])}."] * bool(missed)
        said += [f"It has {words} words, the editors' text {target}."] * (length < 1)
        said += ["It cites passages that do not exist."] * bool(draft.invented)
        said += ["It breaks off."] * bool(draft.broken_off)
        form = _OUT_OF_FORM if draft.invented or draft.broken_off else 1.0
        return value * length * form, " ".join(said) or "Every sentence is supported, and nothing is missing."

    return as_metric(score)


def _precision(claims: list[Claim], judged: list[Judged], shown: tuple[Passage, ...]) -> float:
    """Share of the citations that stand."""
    place = {snippet.id: i for i, passage in enumerate(shown) for snippet in passage.snippets}
    kept = [{place.get(own.snippet_id) for own in one.sentence.citations} for one in judged]
    given = [(number, own) for claim, own in zip(claims, kept, strict=True) for number in claim.cited]
    return sum(number in own for number, own in given) / len(given) if given else 0.0
