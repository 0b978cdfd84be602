"""Metrics for optimisers: a score in [0, 1] and feedback in words."""

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial
from itertools import islice
from typing import Any

import dspy
import numpy as np
import numpy.typing as npt

from storm_pipeline.evidence.judges.language_model import read_verdicts
from storm_pipeline.evidence.passages import Passage
from storm_pipeline.evidence.retrieval import Embed
from storm_pipeline.evidence.screen import Screen
from storm_pipeline.method.writers.drafts import read_draft
from storm_pipeline.text.lexical import LexicalIndex, rank_scores
from storm_pipeline.text.words import numbers, word_count

Examples = Sequence[dspy.Example]
Metric = Callable[..., dspy.Prediction]
"""A metric as DSPy's optimisers call it: example and prediction → ``score`` in [0, 1] and ``feedback``."""
MakeMetric = Callable[[Embed, Examples], Metric]
"""An encoder (texts to unit vectors) and all examples of a job → the metric."""
_MOST = 4  # maximum items of a kind named in feedback
_WORD = re.compile(r"[^\W\d_][\w'’-]+")
_MIN_COSINE = 0.6  # minimum cosine of two equal headings
_FREE_LENGTH = 1.3  # multiple of the human outline's headings that costs nothing
_RANKING_DEPTH = 50
_TOP_RESULTS = 5  # results that count per query
_FORM_PENALTY = 0.5  # factor for a text that breaks off or cites unknown numbers


def soft_recall(truth: Sequence[str], produced: Sequence[str], embed: Embed, *, clip: bool = False) -> float | None:
    """Return the soft recall of a set of headings (Shao et al. 2024, appendix C.1, equations 1 to 4).

    A heading counts 1 / (the sum of its cosines with all headings of its set, itself included), so that synonymous
    headings together count as one; a set's cardinality is the sum of its counts; the recall is (card(G) + card(P) -
    card(G ∪ P)) / card(G). Duplicates and order do not matter. The recall is unbounded: it can be greater than 1
    where human headings are similar to several produced ones, and negative cosines can make it negative.

    Args:
        truth: G, the human headings, without marks.
        produced: P, the outline's headings.
        clip: set negative cosines to 0, as Fränti and Mariescu-Istodor do, unlike the paper; the recall is then at
            least 0.

    Returns:
        The recall; 0.0 if nothing was produced; None without human headings, or if the cosines of a heading sum to 0 or
            less, so that its count is undefined.
    """
    wanted, made = _distinct(truth), _distinct(produced)
    if not wanted or not made:
        return 0.0 if wanted else None
    together = list(dict.fromkeys([*wanted, *made]))
    vectors = np.asarray(embed(together), dtype=np.float64)
    similar = (vectors @ vectors.T).clip(0.0 if clip else -math.inf)
    place = {heading: i for i, heading in enumerate(together)}
    sizes = [_cardinality(similar, [place[h] for h in part]) for part in (wanted, made, together)]
    return None if any(map(math.isnan, sizes)) else float((sizes[0] + sizes[1] - sizes[2]) / sizes[0])


def _distinct(headings: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(tidy for heading in headings if (tidy := " ".join(heading.split()))))


def _cardinality(similar: npt.NDArray[np.float64], members: Sequence[int]) -> float:
    """Return the sum of the soft counts of some headings (equation 2); NaN if a count is undefined."""
    sums = similar[np.ix_(members, members)].sum(axis=1)
    return float((1.0 / sums).sum()) if (sums > 0.0).all() else math.nan


@dataclass(frozen=True)
class Gold:
    """Reference data that a metric compares a reply with; never shown in prompts, sets or summaries of examples."""

    text: str = field(default="", repr=False)
    # the sources of the text, in the order of their numbers in the prompt
    passages: tuple[Passage, ...] = field(default=(), repr=False)
    other_passages: tuple[str, ...] = field(default=(), repr=False)  # of other sections


def as_metric(score: Callable[[dspy.Example, dspy.Prediction], tuple[float, str]]) -> Metric:
    """Return a metric from a function that returns score and feedback; scores are clipped to [0, 1]."""

    def metric(gold: dspy.Example, pred: dspy.Prediction, *_: Any) -> dspy.Prediction:
        value, feedback = score(gold, pred)
        return dspy.Prediction(score=min(1.0, max(0.0, float(value))), feedback=feedback)

    return metric


def _of_score(score: Callable[[Embed, dspy.Example, dspy.Prediction], tuple[float, str]]) -> MakeMetric:
    """Return a metric factory from a function of an encoder, an example and a prediction."""

    def make(embed: Embed, _: Examples = ()) -> Metric:
        return as_metric(partial(score, embed))

    return make


@_of_score
def outline_metric(embed: Embed, gold: dspy.Example, pred: dspy.Prediction) -> tuple[float, str]:
    """Return heading soft recall (Shao et al. 2024, C.1, cosines clipped at 0), reduced for clutter.

    Clutter is headings beyond 1.3 times the human outline's, and repeated headings.
    """
    wanted, made = _headings(gold.sections), _headings(pred.sections)
    recall = min(1.0, max(0.0, soft_recall(wanted, made, embed, clip=True) or 0.0))
    distinct = {heading.casefold() for heading in made}
    room = min(1.0, _FREE_LENGTH * len(wanted) / max(1, len(made))) * len(distinct) / max(1, len(made))
    missing, odd = _headings_without_match(wanted, made, embed), _headings_without_match(made, wanted, embed)
    feedback = [f"Editors of the article on {gold.topic} also have: {'; '.join(missing[:_MOST])}."] * bool(missing)
    feedback += [f"They have nothing like: {'; '.join(odd[:_MOST])}."] * bool(odd)
    feedback += [f"They need {len(wanted)} headings, the outline has {len(made)}."] * (room < 1)
    return recall * room, " ".join(feedback) or "Every heading has a similar one in the editors' outline."


def _headings(sections: Sequence[Any]) -> list[str]:
    """Return all headings of a prediction's or example's outline."""
    plain = (section if isinstance(section, dict) else section.model_dump() for section in sections)
    return [heading for section in plain for heading in (section["title"], *section.get("subsections", ()))]


def _headings_without_match(headings: Sequence[str], others: Sequence[str], embed: Embed) -> list[str]:
    if not headings or not others:
        return list(headings)
    vectors = embed([*headings, *others])
    best = (vectors[: len(headings)] @ vectors[len(headings) :].T).max(axis=1)
    return [heading for heading, cosine in zip(headings, best, strict=True) if cosine < _MIN_COSINE]


def queries_metric(embed: Embed, examples: Examples) -> Metric:
    """Return a metric: the mean of recall and reciprocal rank of a section's passages among those of all topics.

    The ranking fuses BM25 and cosine. Recall is over the first five results of each query and at most five relevant
    passages; the reciprocal rank is that of the first relevant passage, averaged over the queries.
    """
    pool = list(dict.fromkeys(t for e in examples for t in (*map(with_title, e.gold.passages), *e.gold.other_passages)))
    index, vectors = LexicalIndex([((text, 1),) for text in pool], floor=0.0), np.asarray(embed(pool))

    @lru_cache(maxsize=4096)
    def ranked(query: str) -> Sequence[str]:
        lexical = [match.position for match in islice(index.search(query), _RANKING_DEPTH)]
        dense = [int(i) for i in np.argsort(-(vectors @ embed([query])[0]), kind="stable")[:_RANKING_DEPTH]]
        fused = rank_scores([lexical, dense])
        return [pool[i] for i in sorted(fused, key=lambda i: -fused[i])]

    def score(gold: dspy.Example, pred: dspy.Prediction) -> tuple[float, str]:
        queries = list(dict.fromkeys(" ".join(str(query).split()) for query in pred.queries))[: gold.number]
        if not any(queries):
            return 0.0, "There is no query."
        relevant = dict.fromkeys(map(with_title, gold.gold.passages))
        ranks = [next((rank for rank, text in enumerate(ranked(q), 1) if text in relevant), 0) for q in queries]
        hits = {text for query in queries for text in ranked(query)[:_TOP_RESULTS]} & set(relevant)
        recall = len(hits) / min(_TOP_RESULTS, len(relevant))
        first = (f"the first wanted passage at rank {r}" if r else "none of the wanted passages" for r in ranks)
        feedback = [f"“{query}” finds {what}." for query, what in zip(queries, first, strict=True)]
        feedback += [f"Never among the first {_TOP_RESULTS}: {text[:160]}" for text in relevant if text not in hits][:1]
        return (min(1.0, recall) + sum(1 / r for r in ranks if r) / len(ranks)) / 2, " ".join(feedback)

    return as_metric(score)


def cited_metric(field: str) -> MakeMetric:
    """Return a metric factory for an output field: the mean of three shares, reduced for wrong length and form.

    The shares: sentences supported by their citations, by the check that runs use; correct citations; and covered names
    and numbers among those in both the human text and the passages. A length from half to twice the human text's costs
    nothing.
    """
    return _of_score(partial(_cited_score, field))


def _cited_score(field: str, embed: Embed, gold: dspy.Example, pred: dspy.Prediction) -> tuple[float, str]:
    text, shown, topic = str(pred[field]), gold.gold.passages, str(gold.get("topic") or gold.get("article"))
    draft = read_draft(text, len(shown), names=(topic,))
    claims = draft.claims()
    if not claims:
        return 0.0, "There is no complete sentence."
    both = list(zip(claims, Screen(shown, known=topic, embed=embed).judge(claims), strict=True))
    supported = [bool(claim.cited) and not judgement.problem for claim, judgement in both]
    place = {snippet.id: i for i, passage in enumerate(shown) for snippet in passage.snippets}
    correct_citations = [
        number in {place.get(citation.snippet_id) for citation in judgement.sentence.citations}
        for claim, judgement in both
        for number in claim.cited
    ]
    wanted = names_in(gold.gold.text) & names_in(" ".join(passage.text for passage in shown))
    missed = sorted(wanted - names_in(text))
    coverage = 1 - len(missed) / len(wanted) if wanted else 1.0
    words, target = word_count(text), max(1, word_count(gold.gold.text))
    length = min(1.0, 2 * words / target, 2 * target / max(1, words))
    value = (sum(supported) / len(supported) + sum(correct_citations) / max(1, len(correct_citations)) + coverage) / 3
    feedback = [f"“{claim.text[:90]}”: {judgement.problem}." for claim, judgement in both if judgement.problem][:_MOST]
    feedback += [f"Editors also tell of {', '.join(missed[: 2 * _MOST])}."] * bool(missed)
    feedback += [f"It has {words} words, the editors' text {target}."] * (length < 1)
    feedback += ["It cites passages that do not exist."] * bool(draft.invented)
    feedback += ["It breaks off."] * bool(draft.broken_off)
    form = _FORM_PENALTY if draft.invented or draft.broken_off else 1.0
    return value * length * form, " ".join(feedback) or "Every sentence is supported, and nothing is missing."


@_of_score
def verdicts_metric(_: Embed, gold: dspy.Example, pred: dspy.Prediction) -> tuple[float, str]:
    """Return the mean of the shares of supported and of other sentences that are judged correctly."""
    wanted, given = (
        {number: label == "supported" for number, (label, _) in read_verdicts(str(example.verdicts))}
        for example in (gold, pred)
    )
    shares = []
    for kind in set(wanted.values()):
        numbers = [number for number, supported in wanted.items() if supported == kind]
        shares.append(sum(given.get(number) == kind for number in numbers) / len(numbers))
    wrong = [f"{n} is {'supported' if wanted[n] else 'not supported'}" for n in wanted if given.get(n) != wanted[n]]
    return sum(shares) / max(1, len(shares)), f"Sentence {'; '.join(wrong)}." if wrong else "All are judged correctly."


def names_in(text: str) -> frozenset[str]:
    """Return the numbers of a text, and the words that are always capitalised in it, as its entities."""
    words = _WORD.findall(text)
    plain = {word for word in words if word[0].islower()}
    names = {word.casefold() for word in words if word[0].isupper() and word.lower() not in plain}
    return frozenset(names | numbers(text))


def with_title(passage: Passage) -> str:
    """Return the title and the text of a passage as one searchable text."""
    return f"{passage.title}. {passage.text}"
