"""The scorer of CONNER's eq. 4: what it learns, what it keeps, and how it scores."""

import json
from pathlib import Path

import numpy as np
import pytest

from storm_bench.errors import MetricError
from storm_bench.metrics.sentence_order import (
    SentenceOrder,
    load_order,
    order_accuracy,
    order_file,
    save_order,
    train_on_leads,
    train_order,
)
from storm_pipeline.evidence.retrieval.embedder import HashingEmbedder
from storm_pipeline.evidence.retrieval.vectors import Vectors


def ordered(seed: int, number: int) -> list[Vectors]:
    """Paragraphs whose sentences turn by one step each."""
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(number):
        angles = rng.uniform(0, 0.3) + 0.4 * np.arange(rng.integers(3, 7))
        noise = rng.normal(scale=0.02, size=(len(angles), 2))
        found.append((np.stack([np.cos(angles), np.sin(angles)], axis=1) + noise).astype(np.float32))
    return found


def test_sentence_order_is_learnt_and_kept(tmp_path: Path) -> None:
    weights = train_order(ordered(0, 300), epochs=20)
    assert order_accuracy(weights, ordered(1, 200)) > 0.9
    again = train_order(ordered(0, 300), epochs=20)
    assert np.array_equal(weights.inner, again.inner)
    save_order(weights, "circle", tmp_path / "new" / "order.safetensors")
    assert np.array_equal(load_order(tmp_path / "new" / "order.safetensors", "circle").outer, weights.outer)
    with pytest.raises(MetricError, match="was trained with circle, not square"):
        load_order(tmp_path / "new" / "order.safetensors", "square")
    with pytest.raises(MetricError, match="holds no model of sentence order"):
        load_order(tmp_path / "none", "circle")
    with pytest.raises(ValueError, match="no paragraph has two sentences"):
        train_order([ordered(0, 1)[0][:1]])


def test_paragraphs_are_scored_by_what_leads_taught(tmp_path: Path) -> None:
    leads = {str(number): {"extract": f"Rome has {number} hills. It fell. Trade went on."} for number in range(40)}
    (tmp_path / "leads.json").write_text(json.dumps(leads))
    embedder = HashingEmbedder()
    weights, accuracy = train_on_leads(tmp_path / "leads.json", embedder)
    assert accuracy == 1
    save_order(weights, embedder.name, order_file(tmp_path))
    model = SentenceOrder(embedder, tmp_path)
    sentences = ["Rome has 50 hills.", "It fell.", "Trade went on."]
    assert 0 <= model.coherence(sentences[::-1]) < model.coherence(sentences) <= 1
    assert 0 <= model.coherence(sentences[:1]) <= 1
