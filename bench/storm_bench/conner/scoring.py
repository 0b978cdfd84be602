"""All perspectives of one piece of knowledge, as a record."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Self

from storm_bench.conner.evidence_source import EvidenceSource
from storm_bench.conner.knowledge import answer_prompt, query_prompt
from storm_bench.conner.knowledge_selection import Intrinsic
from storm_bench.conner.named_models import Models
from storm_bench.conner.perspectives import (
    AGGREGATES,
    SentenceEvidence,
    answer_loss,
    factuality,
    helpfulness,
    informativeness,
    open_validity,
    paragraph_coherence,
    relative_gain,
    relevance,
    sentence_coherence,
    sentence_verdicts,
    span_validity,
)
from storm_bench.datasets.conner import KnowledgeItem
from storm_pipeline.api import split_sentences, words

_ARTICLE = re.compile(r"\b(?:a|an|the)\b")
_MARK = re.compile(r"[^\w\s]")


def exact_match(answer: str, truth: str) -> float:
    """1 where both have the same words in the same order, else 0."""
    return float(_words(answer) == _words(truth))


def word_f1(answer: str, truth: str) -> float:
    """Harmonic mean of precision and recall of words, in [0, 1]; two texts without a word are equal (1)."""
    own, wanted = _words(answer), _words(truth)
    if not own or not wanted:
        return float(own == wanted)
    shared = (Counter(own) & Counter(wanted)).total()
    return 2 * shared / (len(own) + len(wanted))


def _words(text: str) -> list[str]:
    return _ARTICLE.sub(" ", _MARK.sub("", text.lower())).split()


EVIDENCE = 3
"""Passages that a sentence is checked against."""
INTRINSIC = ("fact_consistent", "relevance", "coherence_sentence", "coherence_paragraph", "informativeness")
EXTRINSIC = ("helpfulness", "validity")
Scores = Mapping[str, float | None]


@dataclass(frozen=True)
class Record:
    """Knowledge for an item, the answer given with it, and their scores."""

    kind: str  # where the knowledge comes from
    item: str  # id of the item
    knowledge: str  # the text that was scored
    answer: str | None  # the answer that was given with it; None where none was asked for
    scores: Scores  # name → value; None where it is not defined
    random_losses: tuple[float, ...] = field(default=(), repr=False)  # of the true answer with irrelevant knowledge
    # to how many records the gamma was fitted that chose the demonstrations; None where it chose none
    fit: int | None = None

    @property
    def dataset(self) -> str:
        """Name of the data set."""
        return self.item.rpartition("-")[0]

    def intrinsic(self) -> Intrinsic | None:
        """S of eq. 9; None where a score is missing."""
        names = ("fact_consistent", "relevance", "coherence_paragraph", "informativeness")
        values = [self.scores.get(name) for name in names]
        known = [value for value in values if value is not None]
        return Intrinsic(*known) if len(known) == len(names) else None

    def to_json(self) -> dict[str, Any]:
        """As JSON values."""
        return asdict(self)

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Self:
        """From :meth:`to_json`."""
        return cls(**{**values, "random_losses": tuple(values["random_losses"])})


def intrinsic_scores(query: str, prompt: str, knowledge: str, evidence: EvidenceSource, models: Models) -> Scores:
    """The intrinsic scores, with all three dimensions of factuality by ``min`` and its other aggregates.

    ``prompt``: what stands before the knowledge for informativeness.
    """
    sentences = split_sentences(knowledge)
    checked = [SentenceEvidence(one, tuple(evidence.find(one, EVIDENCE))) for one in sentences]
    verdicts = sentence_verdicts(checked, models.inference)
    strict, mean, lenient = (factuality(verdicts, how) for how in AGGREGATES)
    return {
        "fact_consistent": strict.entailed if strict else None,
        "fact_non_verified": strict.neutral if strict else None,
        "fact_inconsistent": strict.refuted if strict else None,
        "fact_mean": mean.entailed if mean else None,
        "fact_max": lenient.entailed if lenient else None,
        "relevance": relevance(query, knowledge, models.matching),
        "coherence_sentence": sentence_coherence(sentences, models.lm),
        "coherence_paragraph": paragraph_coherence(sentences, models.discourse),
        "informativeness": informativeness(prompt, f" {knowledge}", models.lm),
        "sentences": float(len(sentences)),
        "words": float(len(words(knowledge))),
    }


def record(
    kind: str,
    item: KnowledgeItem,
    knowledge: str,
    random_losses: Sequence[float],
    *,
    evidence: EvidenceSource,
    models: Models,
    fit: int | None = None,
) -> Record:
    """Score knowledge from the five perspectives that need no answer; see :class:`Record` for the arguments."""
    scores = dict(intrinsic_scores(item.query, query_prompt(item), knowledge, evidence, models))
    loss = loss_with(item, knowledge, models)
    if loss is not None:
        scores["loss"] = loss
        scores["gain"] = relative_gain(loss, random_losses)
        scores["helpfulness"] = helpfulness(loss, random_losses)
    return Record(kind, item.id, knowledge, None, scores, tuple(random_losses), fit)


def with_answer(one: Record, item: KnowledgeItem, answer: str, evidence: EvidenceSource, models: Models) -> Record:
    """A record with the answer that was given with its knowledge, scored for validity."""
    return replace(one, answer=answer, scores={**one.scores, **_answer_scores(item, answer, evidence, models)})


def _answer_scores(item: KnowledgeItem, answer: str, evidence: EvidenceSource, models: Models) -> Scores:
    """Validity, and the measures by words that it is compared with."""
    f1 = word_f1(answer, item.answer)
    if item.open_ended:
        return {"validity": open_validity(answer, evidence.find(answer, EVIDENCE), models.inference), "f1": f1}
    validity = span_validity(item.query, item.answer, answer, models.inference)
    return {"validity": validity, "exact_match": exact_match(answer, item.answer), "f1": f1}


def loss_with(item: KnowledgeItem, knowledge: str, models: Models) -> float | None:
    """L(q, k, a) of the true answer under the downstream model, without demonstrations."""
    return answer_loss(answer_prompt(item, knowledge), f" {item.answer}", models.downstream)
