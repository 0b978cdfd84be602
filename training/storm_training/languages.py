"""How the share of a second language in the training data acts on each (FoRAG 6.4, Figure 2), in the synthetic world.

Departures from the paper: the second language has the same facts and grammar, and words of its own: those of the first
spelt backwards. Neither was learnt before, whereas the paper's model knew more English than Chinese. Models are trained
from nothing, on as many demonstrations in all whatever the share.
"""

import random
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from storm_training.evaluation import Scores, answers_of, score
from storm_training.laboratory import TESTS, TRAINING, Row, tuned
from storm_training.segments import ANSWER
from storm_training.settings import RunSettings
from storm_training.world import Item, demonstrate, items

SHARES = {"1:10": 1 / 11, "1:3": 1 / 4, "1:1": 1 / 2, "3:1": 3 / 4, "10:1": 10 / 11}
"""Ratio of the second language to the first, and its share of the demonstrations."""


def translate(text: str) -> str:
    """Return a text in the other language, from either; the mark before an answer stays."""
    return re.sub(r"\w+", lambda found: _turned(found[0]), text)


def _turned(word: str) -> str:
    if word == ANSWER.rstrip(":"):
        return word
    turned = word[::-1].lower()
    return turned.capitalize() if word[0].isupper() else turned


def bilingual(settings: RunSettings, folder: Path, ratio: str, seed: int) -> Row:
    """Train a model on demonstrations in both languages; its measures in the first, and as ``second_…`` in the other.

    Args:
        settings: of the run; the model is tuned as others are.
        folder: of its checkpoint and curve.
        ratio: one of :data:`SHARES`.
        seed: of the weights, the errors, which questions are in which language, and the samples.
    """
    world, rng = settings.world, random.Random(f"{ratio} {seed}")  # noqa: S311 - the same at each call
    questions = items(world.questions, TRAINING, anew=world.anew)
    pairs = [(item.prompt, demonstrate(item, "outlined", world.error_rate, rng)) for item in questions]
    mixed = [
        (translate(prompt), translate(text)) if rng.random() < SHARES[ratio] else (prompt, text)
        for prompt, text in pairs
    ]
    texts_shown = [prompt + text for prompt, text in pairs[:500]]
    texts = [*texts_shown, *map(translate, texts_shown)]
    model, tokenizer = tuned(settings, texts, mixed, folder / f"bilingual-{ratio.replace(':', '-')}-{seed}", seed)
    tests = items(world.tests, TESTS, anew=world.anew)
    first, second = (_scores(model, tokenizer, tests, world.most_tokens, seed, other=other) for other in (False, True))
    seconds = {f"second_{name}": value for name, value in second.row().items()}
    return {"model": ratio, "style": "bilingual", "seed": float(seed), **first.row(), **seconds}


def _scores(model: Any, tokenizer: Any, tests: Sequence[Item], most: int, seed: int, *, other: bool) -> Scores:
    """Return the measures in a language: answers are translated back, so that the truth is the same."""
    prompts = [translate(item.prompt) if other else item.prompt for item in tests]
    said = [answer.sentences for answer in answers_of(model, tokenizer, prompts, most=most, seed=seed)]
    return score(tests, [tuple(map(translate, one)) for one in said] if other else said)
