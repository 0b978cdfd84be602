"""True labels of an answer's subclaims in the synthetic world."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from storm_training.world import Item

_SENTENCE = re.compile(r"(\w+) (\w+) (\w+) (\w+)\.")


@dataclass(frozen=True)
class Measures:
    """An answer's measures, as FoRAG's tables name them.

    Attributes:
        coherent: each sentence says something, none twice, in the order that the question's structure wants.
        helpful: each point that the materials hold on the question is there.
        factual: all subclaims are in the materials (Fact/q.).
        sentences: how many there are.
        true_sentences: how many have true subclaims only (their share over all answers is Fact/s.).
    """

    coherent: bool
    helpful: bool
    factual: bool
    sentences: int
    true_sentences: int


def subclaims(item: Item, sentences: Sequence[str]) -> list[list[float]]:
    """Return labels of each sentence's subclaims: 1 if a material supports it, else 0; a 0 without subclaims."""
    stated = {(fact.town, fact.verb, value) for fact in item.materials for value in (fact.count, fact.thing)}
    parts = [_SENTENCE.fullmatch(sentence.strip()) for sentence in sentences]
    return [[float((part[1], part[2], part[at]) in stated) for at in (3, 4)] if part else [0.0] for part in parts]


def measure(item: Item, sentences: Sequence[str]) -> Measures:
    """Return the measures of an answer; without a sentence it is neither coherent, helpful nor factual."""
    true = [min(labels) == 1 for labels in subclaims(item, sentences)]
    parts = [_SENTENCE.fullmatch(sentence.strip()) for sentence in sentences]
    said = [(part[1], part[2]) for part in parts if part]
    wanted = [(item.materials[at].town, item.materials[at].verb) for at in item.points]
    ordered = said == [point for point in wanted if point in said] and len(said) == len(parts)
    return Measures(bool(said) and ordered, set(wanted) <= set(said), bool(true) and all(true), len(true), sum(true))
