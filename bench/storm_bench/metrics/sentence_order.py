"""Sentence order, the scorer of CONNER's eq. 4: a small network that learnt to tell paragraphs from shuffled ones.

Jwalapuram et al. (Coherence-Momentum, the paper's scorer) train on the same task (a document beside permutations of
it), with a large encoder over the whole text. This one sees the frozen vectors of neighbouring sentences only, so it
knows local order and nothing else.
"""

import json
import zlib
from collections.abc import Iterable, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from storm_bench.errors import MetricError
from storm_pipeline.api import fetch, split_sentences
from storm_pipeline.evidence.retrieval.embedder import Embedder
from storm_pipeline.evidence.retrieval.vectors import Vectors

LEADS = "wikipedia-vital-article-leads-en"
_PARAGRAPHS, _SENTENCES = 3000, 8  # leads, and sentences of each, that are looked at
_HIDDEN, _BATCH = 64, 64


class OrderWeights(NamedTuple):
    """Two layers over the vectors of a pair of sentences of dimension d: (4 d, hidden), (hidden,), (hidden,), (1,)."""

    inner: Any
    inner_bias: Any
    outer: Any
    outer_bias: Any

    def logits(self, pairs: Any) -> Any:
        """Return the logit that each pair's second sentence follows the first, from features of shape (pairs, 4 d)."""
        return (pairs @ self.inner + self.inner_bias).clip(min=0) @ self.outer + self.outer_bias

    def score(self, vectors: Vectors) -> float:
        """Return the logistic function of the mean logit of a paragraph's pairs of neighbours, in [0, 1]."""
        return 1 / (1 + float(np.exp(-float(self.logits(features(vectors)).mean()))))


class SentenceOrder:
    """Scores paragraphs by the weights in the cache, trained (some minutes) when first needed where it has none."""

    def __init__(self, embedder: Embedder, cache: Path) -> None:
        self.name = f"sentence-order:{embedder.name}"
        self._embedder, self._cache = embedder, cache

    @cached_property
    def _weights(self) -> OrderWeights:
        path = order_file(self._cache)
        if not path.exists():
            weights, _ = train_on_leads(fetch(LEADS, self._cache), self._embedder)
            save_order(weights, self._embedder.name, path)
        return load_order(path, self._embedder.name)

    def coherence(self, sentences: Sequence[str]) -> float:
        """Return the score of one sentence or more.

        Raises MetricError: the cache's weights cannot be read, or belong to another embedder.
        """
        return self._weights.score(self._embedder.embed(sentences))


def features(vectors: Vectors) -> npt.NDArray[np.float32]:
    """Return the network's input, a row for each sentence: (sentences, d) to (sentences, 4 d).

    A row is the sentence before (zeros before the first, so that a single sentence has a score: how well it opens a
    text), the sentence, their product and their difference.
    """
    before = np.vstack([np.zeros_like(vectors[:1]), vectors[:-1]])
    return np.hstack([before, vectors, before * vectors, before - vectors]).astype(np.float32)


def train_order(paragraphs: Iterable[Vectors], *, epochs: int = 30, seed: int = 0) -> OrderWeights:
    """Train on paragraphs beside random orders of them: the logistic loss of both, and of the difference of the two.

    Args:
        paragraphs: vectors of shape (sentences, d), of which those with two sentences or more count.
        epochs: passes over all, each with fresh orders.
        seed: of weights and orders; the same seed gives the same weights on one machine.

    Raises:
        ValueError: there is no paragraph of two sentences.
    """
    import torch

    fit = [vectors for vectors in paragraphs if len(vectors) > 1]
    if not fit:
        raise ValueError("no paragraph has two sentences: there is no order to learn")
    rng = np.random.default_rng(seed)
    generator = torch.Generator().manual_seed(seed)
    shapes = ((4 * fit[0].shape[1], _HIDDEN), (_HIDDEN,), (_HIDDEN,), (1,))
    weights = OrderWeights(*(torch.randn(one, generator=generator).mul_(one[0] ** -0.5) for one in shapes))
    optimiser = torch.optim.AdamW([one.requires_grad_() for one in weights], lr=1e-3, weight_decay=0.05)
    softplus = torch.nn.functional.softplus
    for _ in range(epochs):
        order = rng.permutation(len(fit))
        for start in range(0, len(fit), _BATCH):
            batch = [fit[place] for place in order[start : start + _BATCH]]
            true, mixed = _mean_logits(weights, batch), _mean_logits(weights, [_shuffled(one, rng) for one in batch])
            loss: Any = (softplus(-true) + softplus(mixed) + softplus(mixed - true)).mean()
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
    return OrderWeights(*(one.detach().numpy() for one in weights))


def order_accuracy(weights: OrderWeights, paragraphs: Iterable[Vectors], *, seed: int = 1) -> float:
    """Return the share of paragraphs that score higher than a random other order, in [0, 1]; chance is 0.5."""
    rng = np.random.default_rng(seed)
    fit = [vectors for vectors in paragraphs if len(vectors) > 1]
    return float(np.mean([weights.score(vectors) > weights.score(_shuffled(vectors, rng)) for vectors in fit]))


def train_on_leads(leads: Path, embedder: Embedder) -> tuple[OrderWeights, float]:
    """Train on four fifths of the leads with three sentences or more; return weights, and the accuracy on the rest.

    ``leads``: the pinned file of lead sections, title → ``extract``.
    """
    texts = json.loads(leads.read_text(encoding="utf-8"))
    learn: list[Vectors] = []
    held_out: list[Vectors] = []
    for title in sorted(texts, key=lambda title: zlib.crc32(title.encode())):
        sentences = split_sentences(texts[title]["extract"])[:_SENTENCES]
        if len(sentences) < 3:
            continue
        (held_out if len(held_out) * 4 < len(learn) else learn).append(embedder.embed(sentences))
        if len(learn) + len(held_out) == _PARAGRAPHS:
            break
    weights = train_order(learn)
    return weights, order_accuracy(weights, held_out)


def order_file(cache: Path) -> Path:
    """Return where the trained weights lie."""
    return cache / "models" / "sentence-order.safetensors"


def save_order(weights: OrderWeights, embedder: str, path: Path) -> None:
    """Write weights with the name of the embedder they belong to."""
    from safetensors.numpy import save_file

    path.parent.mkdir(parents=True, exist_ok=True)
    arrays = {name: np.ascontiguousarray(array) for name, array in weights._asdict().items()}
    save_file(arrays, path, metadata={"embedder": embedder})


def load_order(path: Path, embedder: str) -> OrderWeights:
    """Read weights. Raises MetricError: the file is absent or damaged, or its weights belong to another embedder."""
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, framework="numpy") as file:
            trained_with = (file.metadata() or {}).get("embedder", "")
            weights = OrderWeights(*(file.get_tensor(name) for name in OrderWeights._fields))
    except (OSError, SafetensorError) as error:
        raise MetricError(f"{path} holds no model of sentence order ({error}): delete it to train it anew") from error
    if trained_with != embedder:
        raise MetricError(f"{path} was trained with {trained_with}, not {embedder}: delete it, or use that one")
    return weights


def _mean_logits(weights: OrderWeights, paragraphs: Sequence[Vectors]) -> Any:
    """Return the mean logit of each paragraph as a tensor with gradients."""
    import torch

    logits = weights.logits(torch.from_numpy(np.concatenate([features(one) for one in paragraphs])))
    return torch.stack([one.mean() for one in logits.split([len(one) for one in paragraphs])])


def _shuffled(vectors: Vectors, rng: np.random.Generator) -> Vectors:
    """Return the sentences in another order than their own."""
    order = rng.permutation(len(vectors))
    while (order == np.arange(len(vectors))).all():
        order = rng.permutation(len(vectors))
    return np.asarray(vectors[order])
