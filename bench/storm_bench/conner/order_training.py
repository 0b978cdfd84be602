"""Training the stand-in for the discourse model on the leads of Wikipedia articles."""

import json
import zlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from storm_bench.conner.sentence_order import (
    OrderWeights,
    SentenceOrder,
    load_order,
    order_accuracy,
    save_order,
    train_order,
)
from storm_bench.vectors import Vectors
from storm_pipeline.api import Embedder, split_sentences

_PARAGRAPHS = 3000
_LONGEST = 8  # sentences of a lead that are learnt from


@dataclass(frozen=True)
class OrderTraining:
    """What came of the training."""

    weights: OrderWeights  # of the model
    paragraphs: int  # leads that it learnt from
    held_out: int  # leads that it was measured on
    accuracy: float  # share of those that score higher than a random order of theirs; chance is 0.5


def train_on_leads(leads: Path, embedder: Embedder, *, paragraphs: int = _PARAGRAPHS) -> OrderTraining:
    """Learn from four fifths of the leads with three sentences or more, and measure on the rest.

    Args:
        leads: the pinned file of lead sections, title → ``extract``.
        embedder: of the sentences.
        paragraphs: leads in all, the same ones each time.
    """
    texts = json.loads(leads.read_text(encoding="utf-8"))
    learn: list[Vectors] = []
    test: list[Vectors] = []
    for title in sorted(texts, key=_chance):
        sentences = split_sentences(texts[title]["extract"])[:_LONGEST]
        if len(sentences) < 3:
            continue
        (test if len(test) * 4 < len(learn) else learn).append(np.asarray(embedder.embed(sentences)))
        if len(learn) + len(test) == paragraphs:
            break
    weights = train_order(learn)
    return OrderTraining(weights, len(learn), len(test), order_accuracy(weights, test))


def order_file(cache: Path) -> Path:
    """Where the trained model lies."""
    return cache / "models" / "sentence-order.safetensors"


def trained_order(cache: Path, embedder: Embedder, leads: Path) -> SentenceOrder:
    """The stand-in, trained now (some minutes) where the cache does not hold it.

    Raises:
        MetricError: the cache's was trained with another embedder.
    """
    path = order_file(cache)
    if not path.exists():
        save_order(train_on_leads(leads, embedder).weights, embedder.name, path)
    return SentenceOrder(embedder, load_order(path, embedder.name))


def _chance(title: str) -> int:
    return zlib.crc32(title.encode())
