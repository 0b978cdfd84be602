"""Texts written from numbered passages (support, entities, length, form), and verdicts on their sentences."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import dspy

from storm_pipeline.judges.language_model import read_verdicts
from storm_pipeline.optimize.metrics.base import NAMED, MakeMetric, by_itself, names_in, share_of
from storm_pipeline.references.passages import Passage
from storm_pipeline.references.screen import Screen
from storm_pipeline.retrieval.embedder import Embed
from storm_pipeline.text.words import word_count
from storm_pipeline.writers.drafts import Draft, read_draft

_OUT_OF_FORM = 0.5  # factor of a text that breaks off, or cites numbers that it was not shown


def cited_metric(field: str) -> MakeMetric:
    """The metric of an output field: the mean of three shares, times what wrong length and form leave of it.

    The shares: sentences that cite what supports them, by the check that runs use; citations that stand; and names and
    numbers of the human text that the passages have too. A length from half to twice the human text's costs nothing.
    """
    return by_itself(partial(_score, field))


@dataclass(frozen=True)
class Checked:
    """What the check that runs use says of a text."""

    draft: Draft
    problems: tuple[tuple[str, str], ...] = ()  # faulty sentences, and what is wrong with each
    recall: float = 0.0  # share of sentences that cite what supports them; 0.0 of no sentence
    precision: float = 0.0  # share of citations that stand; 0.0 of none


def checked(text: str, shown: Sequence[Passage], topic: str, embed: Embed) -> Checked:
    """Check the sentences of a text against the passages that its numbers mean."""
    draft = read_draft(text, len(shown), names=(topic,))
    claims = draft.claims()
    if not claims:
        return Checked(draft)
    judged = Screen(shown, known=topic, embed=embed).judge(claims)
    both = list(zip(claims, judged, strict=True))
    cited = [bool(claim.cited) and not one.problem for claim, one in both]
    place = {snippet.id: i for i, passage in enumerate(shown) for snippet in passage.snippets}
    stands = [
        number in {place.get(own.snippet_id) for own in one.sentence.citations}
        for claim, one in both
        for number in claim.cited
    ]
    problems = tuple((claim.text, one.problem) for claim, one in both if one.problem)
    return Checked(draft, problems, sum(cited) / len(cited), sum(stands) / max(1, len(stands)))


def _score(field: str, embed: Embed, gold: dspy.Example, pred: dspy.Prediction) -> tuple[float, str]:
    text, shown = str(pred[field]), gold.gold.passages
    found = checked(text, shown, str(gold.get("topic") or gold.get("article")), embed)
    if not found.draft.claims():
        return 0.0, "There is no whole sentence."
    wanted = names_in(gold.gold.text) & names_in(" ".join(one.text for one in shown))
    missed = sorted(wanted - names_in(text))
    words, target = word_count(text), max(1, word_count(gold.gold.text))
    length = min(1.0, 2 * words / target, 2 * target / max(1, words))
    value = (found.recall + found.precision + share_of(wanted, names_in(text))) / 3
    said = [f"“{sentence[:90]}”: {problem}." for sentence, problem in found.problems[:NAMED]]
    said += [f"Editors also tell of {', '.join(missed[: 2 * NAMED])}."] * bool(missed)
    said += [f"It has {words} words, the editors' text {target}."] * (length < 1)
    said += ["It cites passages that do not exist."] * bool(found.draft.invented)
    said += ["It breaks off."] * bool(found.draft.broken_off)
    form = _OUT_OF_FORM if found.draft.invented or found.draft.broken_off else 1.0
    return value * length * form, " ".join(said) or "Every sentence is supported, and nothing is missing."


@by_itself
def verdicts_metric(_embed: Embed, gold: dspy.Example, pred: dspy.Prediction) -> tuple[float, str]:
    """The mean of the shares of supported and of other sentences that are told to be such."""
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
