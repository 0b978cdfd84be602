"""The measurement: knowledge of several kinds for the same items, acquired, answered with and scored, resumably."""

import random
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from storm_bench.conner.evidence_source import LONGEST, EvidenceSource
from storm_bench.conner.knowledge import (
    Completing,
    Drawing,
    answer_example,
    answered,
    generated,
    irrelevant,
    knowledge_example,
    query_prompt,
    retrieved,
)
from storm_bench.conner.knowledge_selection import choose_demonstrations
from storm_bench.conner.named_models import Models
from storm_bench.conner.scoring import EVIDENCE, Record, loss_with, record, with_answer
from storm_bench.conner.study_records import (
    CHOICES,
    KINDS,
    SAMPLES,
    SELECTED,
    StudySetup,
    append_records,
    fingerprint,
    fit_size,
    fitted,
    read_records,
    require_setup,
)
from storm_bench.datasets.conner import KnowledgeItem
from storm_pipeline import DatasetError
from storm_pipeline.api import opening_of

_M, _N, _U = 30, 8, 3
"""m samples of which n demonstrations are chosen (section 5), and u pieces of irrelevant knowledge (eq. 6)."""
_ANSWER_SHOTS = 2
_TOP_P = 0.9
_POOL = 100  # the last rows of a data set, which no item that is measured belongs to: demonstrations come from them
_BATCH = 8


@dataclass(frozen=True)
class Study:
    """What is measured on."""

    datasets: tuple[tuple[KnowledgeItem, ...], ...]  # rows of each data set
    evidence: EvidenceSource  # what knowledge is retrieved from and checked against
    models: Models  # of the perspectives
    lm: Completing  # writes knowledge and answers
    file: Path  # where the records lie, one JSON object a line
    items: int = 100  # of each data set and kind
    answers: int = 100  # of those, the first that are answered too; validity is not defined for the others
    choices: int = 30  # items of knowledge selection, of the first data set
    _losses: dict[str, tuple[float, ...]] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        room = min(map(len, self.datasets)) - _POOL
        if self.items > room or CHOICES + self.choices > len(self.datasets[0]) - _POOL:
            raise DatasetError(f"{self.items} items and {self.choices} choices do not fit: at most {room} items")

    def run(self, minutes: float, tell: Callable[[str], None]) -> bool:
        """Measure what is missing until the time is up; returns whether nothing is missing any more.

        Raises:
            ExperimentError: the records that are there were measured with another setup, or cannot be read or written.
        """
        require_setup(self.file, self.setup)
        end = time.monotonic() + 60 * minutes
        for kind, items in self._tasks():
            known = {one.item: one for one in self.records() if one.kind == kind}
            missing = [
                item
                for item in items
                if (own := known.get(item.id)) is None or (own.answer is None and self._is_answered(kind, item))
            ]
            for start in range(0, len(missing), _BATCH):
                if time.monotonic() >= end:
                    return False
                self._measure(kind, missing[start : start + _BATCH])
                tell(f"{kind}, {_name(items[0])}: {len(missing) - start} were missing")
        return True

    @property
    def setup(self) -> StudySetup:
        """What all records of the study have in common."""
        rows = [repr(row) for own in self.datasets for row in own]
        shown = [own[0] for own in self.datasets]
        prompts = [query_prompt(one) + knowledge_example(one) + answer_example(one) for one in shown]
        return StudySetup(
            writer=self.lm.name,
            inference=self.models.inference.name,
            evidence=self.evidence.name,
            matching=self.models.matching.name,
            discourse=self.models.discourse.name,
            lm=self.models.lm.name,
            downstream=self.models.downstream.name,
            words=LONGEST,
            passages=EVIDENCE,
            demonstrations=_N,
            candidates=_M,
            answer_demonstrations=_ANSWER_SHOTS,
            random_knowledge=_U,
            samples=len(SAMPLES),
            top_p=_TOP_P,
            texts=fingerprint([*rows, *prompts]),
        )

    def records(self) -> tuple[Record, ...]:
        """What was measured so far; see :func:`read_records`."""
        return read_records(self.file) if self.file.exists() else ()

    @cached_property
    def _examples(self) -> dict[str, tuple[KnowledgeItem, ...]]:
        """The m rows of each data set from which demonstrations are taken."""
        drawn = random.Random(0)  # noqa: S311 - a choice to be repeated
        return {_name(own[0]): tuple(drawn.sample(own[-_POOL:], _M)) for own in self.datasets}

    def _tasks(self) -> Iterator[tuple[str, tuple[KnowledgeItem, ...]]]:
        """All items with the kind of knowledge that they want, in an order in which each finds what it rests on."""
        for start in range(0, self.items, _BATCH):
            for own in self.datasets:
                for kind in KINDS:
                    yield kind, own[start : min(start + _BATCH, self.items)]
        first = self.datasets[0]
        for kind in SAMPLES:
            yield kind, first[CHOICES : CHOICES + self.choices]
        yield "reference", self._examples[_name(first[0])]
        yield SELECTED, first[: self.items]

    def _measure(self, kind: str, items: Sequence[KnowledgeItem]) -> None:
        """Record what is missing of some items: knowledge and answer, or the answer alone."""
        known = {one.item: one for one in self.records() if one.kind == kind}
        known |= {one.item: one for one in self._scored(kind, [item for item in items if item.id not in known])}
        wanted = [item for item in items if self._is_answered(kind, item)]
        known |= {one.item: one for one in self._answered(wanted, [known[item.id] for item in wanted])}
        append_records(self.file, [known[item.id] for item in items])

    def _scored(self, kind: str, items: Sequence[KnowledgeItem]) -> list[Record]:
        """New knowledge of the items, without answers."""
        fit = fit_size(self.records()) if kind == SELECTED else None
        texts = self._acquired(kind, items) if items else ()
        return [
            record(kind, item, text, self._random_losses(item), evidence=self.evidence, models=self.models, fit=fit)
            for item, text in zip(items, texts, strict=True)
        ]

    def _answered(self, items: Sequence[KnowledgeItem], known: Sequence[Record]) -> list[Record]:
        """The records with the writer's answers."""
        if not items:
            return []
        shots = self._examples[_name(items[0])][:_ANSWER_SHOTS]
        answers = answered(items, [one.knowledge for one in known], self.lm, shots)
        return [
            with_answer(one, item, answer, self.evidence, self.models)
            for one, item, answer in zip(known, items, answers, strict=True)
        ]

    def _is_answered(self, kind: str, item: KnowledgeItem) -> bool:
        number = int(item.id.rpartition("-")[2])
        return kind in SAMPLES or (number < self.answers and number < self.items)

    def _acquired(self, kind: str, items: Sequence[KnowledgeItem]) -> list[str]:
        if kind == "reference":
            return [opening_of(item.reference, LONGEST) for item in items]
        if kind == "retrieved":
            return [opening_of(retrieved(item, self.evidence), LONGEST) for item in items]
        if kind in SAMPLES:
            return generated(items, self.lm, drawing=Drawing(_TOP_P, SAMPLES.index(kind) + 1))
        if kind == "zero-shot":
            return generated(items, self.lm)
        examples = self._examples[_name(items[0])]
        chosen = self._chosen(examples) if kind == SELECTED else examples[:_N]
        return generated(items, self.lm, chosen)

    def _chosen(self, examples: Sequence[KnowledgeItem]) -> tuple[KnowledgeItem, ...]:
        """The n of the m demonstrations with the best references by Q."""
        known = self.records()
        quality = fitted(known)
        scores = {one.item: one.intrinsic() for one in known if one.kind == "reference"}
        return choose_demonstrations(
            examples, lambda item: quality.of(own) if (own := scores.get(item.id)) else float("-inf"), _N
        )

    def _random_losses(self, item: KnowledgeItem) -> tuple[float, ...]:
        if not self._losses:
            self._losses.update({one.item: one.random_losses for one in self.records()})
        if item.id not in self._losses:
            rows = next(own for own in self.datasets if _name(own[0]) == _name(item))
            losses = (loss_with(item, text, self.models) for text in irrelevant(item, rows[-_POOL:], _U))
            self._losses[item.id] = tuple(loss for loss in losses if loss is not None)
        return self._losses[item.id]


def _name(item: KnowledgeItem) -> str:
    return item.id.rpartition("-")[0]
