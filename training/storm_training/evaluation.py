"""A writer's measures on questions of the world, as FoRAG's Tables 3 to 6 name them."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from storm_training.loop import slices
from storm_training.sampling import sample
from storm_training.segments import Segmented, segment
from storm_training.truth import measure
from storm_training.world import Item

_AT_ONCE = 200
"""Answers that are sampled side by side."""


@dataclass(frozen=True)
class Scores:
    """Measures over answers; shares in [0, 1].

    Attributes:
        coherence: share of coherent answers (Cohr.).
        helpfulness: share of helpful ones (Help.).
        by_query: share of factual ones (Fact/q.).
        by_sentence: share of true sentences (Fact/s.).
        length: mean words of an answer, its outline left aside.
    """

    coherence: float
    helpfulness: float
    by_query: float
    by_sentence: float
    length: float

    def row(self) -> dict[str, float]:
        """By name."""
        return asdict(self)


def encoded(tokenizer: Any, prompts: Sequence[str]) -> list[tuple[int, ...]]:
    """Return the prompts as token ids."""
    return [tuple(tokenizer(prompt, add_special_tokens=False)["input_ids"]) for prompt in prompts]


def answers_of(model: Any, tokenizer: Any, prompts: Sequence[str], *, most: int, seed: int) -> list[Segmented]:
    """Return one sampled answer per prompt, at temperature 1 (the paper: beams of 3, which hide uncertainty)."""
    asked, end = encoded(tokenizer, prompts), tokenizer.eos_token_id
    parts = [
        sample(model, asked[part], ending=end, most=most, seed=seed + 1_000_003 * number)
        for number, part in enumerate(slices(len(asked), _AT_ONCE))
    ]
    return [segment(tokenizer, example) for part in parts for example in part]


def score(questions: Sequence[Item], answers: Sequence[Sequence[str]]) -> Scores:
    """Return the measures of answers to these questions, given as their sentences, by the world's truth."""
    found = [measure(item, sentences) for item, sentences in zip(questions, answers, strict=True)]
    sentences = sum(one.sentences for one in found)
    words = sum(len(" ".join(said).split()) for said in answers)
    return Scores(
        coherence=sum(one.coherent for one in found) / len(found),
        helpfulness=sum(one.helpful for one in found) / len(found),
        by_query=sum(one.factual for one in found) / len(found),
        by_sentence=sum(one.true_sentences for one in found) / sentences if sentences else 0.0,
        length=words / len(found),
    )
