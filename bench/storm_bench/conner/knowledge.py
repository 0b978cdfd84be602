"""Acquiring knowledge for a query, and answering with it (sections 3.1 and 4.2, appendices F and G)."""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from storm_bench.conner.evidence_source import LONGEST, EvidenceSource
from storm_bench.datasets.conner import KnowledgeItem
from storm_pipeline.api import opening_of

_KNOWLEDGE_TOKENS = 48
_ANSWER_TOKENS = {False: 12, True: 32}


@dataclass(frozen=True)
class Drawing:
    """How tokens are chosen: greedily where ``top_p`` is None, else sampled from that share of the probability."""

    top_p: float | None = None
    seed: int = 0


class Completing(Protocol):
    """A language model that continues texts, each up to the end of a line: one continuation a prompt, in order."""

    @property
    def name(self) -> str: ...  # noqa: D102

    def complete(self, prompts: Sequence[str], *, tokens: int, drawing: Drawing) -> list[str]: ...  # noqa: D102


def knowledge_example(item: KnowledgeItem) -> str:
    """A worked example of a few-shot prompt for knowledge: query and knowledge."""
    return f"{_asked(item)} {opening_of(item.reference, LONGEST)}\n\n"


def answer_example(item: KnowledgeItem) -> str:
    """A worked example of a few-shot prompt for answers: knowledge, query and answer."""
    return f"{answer_prompt(item, opening_of(item.reference, LONGEST // 2))} {item.answer}\n\n"


def answer_prompt(item: KnowledgeItem, knowledge: str) -> str:
    """What stands before the answer: topic, knowledge and query; the answer follows behind a space."""
    if item.open_ended:
        return f"Topic: {item.topic}\nPassage: {knowledge}\nSpeaker 1: {item.query}\nSpeaker 2:"
    return f"Topic: {item.topic}\nPassage: {knowledge}\nQuestion: {item.query}\nAnswer:"


def query_prompt(item: KnowledgeItem) -> str:
    """What stands before knowledge that is scored by eq. 5: a plain request, and the query."""
    asked = "reply to the remark" if item.open_ended else "answer the question"
    kind = "Remark" if item.open_ended else "Question"
    return f"Topic: {item.topic}\nKnowledge from an encyclopedia to {asked}.\n{kind}: {item.query}\nKnowledge:"


def retrieved(item: KnowledgeItem, evidence: EvidenceSource) -> str:
    """The best passage for the query; empty where nothing is found."""
    return next(iter(evidence.find(item.query, 1)), "")


def generated(
    items: Sequence[KnowledgeItem],
    lm: Completing,
    demonstrations: Sequence[KnowledgeItem] = (),
    drawing: Drawing | None = None,
) -> list[str]:
    """Knowledge that a model writes, one text an item: zero-shot without demonstrations, else few-shot."""
    shown = "".join(map(knowledge_example, demonstrations))
    prompts = [shown + _asked(item) if shown else query_prompt(item) for item in items]
    texts = lm.complete(prompts, tokens=_KNOWLEDGE_TOKENS, drawing=drawing or Drawing())
    return [opening_of(text, LONGEST) for text in texts]


def answered(
    items: Sequence[KnowledgeItem], knowledge: Sequence[str], lm: Completing, demonstrations: Sequence[KnowledgeItem]
) -> list[str]:
    """The answer that a model gives to each item with its knowledge, few-shot and greedily (appendix G)."""
    shown = "".join(map(answer_example, demonstrations))
    prompts = [shown + answer_prompt(item, own) for item, own in zip(items, knowledge, strict=True)]
    open_ended = any(item.open_ended for item in items)
    return lm.complete(prompts, tokens=_ANSWER_TOKENS[open_ended], drawing=Drawing())


def irrelevant(item: KnowledgeItem, others: Sequence[KnowledgeItem], u: int) -> list[str]:
    """k_1-, ..., k_u- of eq. 6: references of other topics, the same ones for an item each time."""
    fit = [other for other in others if other.topic != item.topic]
    chosen = random.Random(item.id).sample(fit, min(u, len(fit)))  # noqa: S311 - a choice to be repeated
    return [opening_of(other.reference, LONGEST) for other in chosen]


def _asked(item: KnowledgeItem) -> str:
    kind = "Remark" if item.open_ended else "Question"
    return f"Topic: {item.topic}\n{kind}: {item.query}\nKnowledge from an encyclopedia:"
