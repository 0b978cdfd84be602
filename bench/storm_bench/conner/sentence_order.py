"""Stand-in for the discourse model: a small network that learnt to tell sentences in order from shuffled ones.

Jwalapuram et al. train on the same task (a document beside permutations of it), with a large encoder over the whole
text. This one sees the frozen vectors of neighbouring sentences only, so it knows local order and nothing else.
"""

import json
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from storm_bench.errors import MetricError
from storm_pipeline.api import split_sentences
from storm_pipeline.retrieval.embedder import Embedder, Vectors

Floats = npt.NDArray[np.float32]
_HIDDEN = 64
_NAMES = ("inner", "inner_bias", "outer", "outer_bias")


@dataclass(frozen=True)
class OrderWeights:
    """Two layers over the vectors of a pair of sentences of dimension d: (4 d, hidden), (hidden,), (hidden,), (1,)."""

    inner: Floats
    inner_bias: Floats
    outer: Floats
    outer_bias: Floats

    def logits(self, pairs: Floats) -> Floats:
        """Logit that the second sentence of each pair follows the first; features have shape (pairs, 4 d)."""
        hidden = np.maximum(0, pairs @ self.inner + self.inner_bias)
        return np.asarray(hidden @ self.outer + self.outer_bias, dtype=np.float32)


class SentenceOrder:
    """Scores a paragraph by the logistic function of the mean logit of its pairs of neighbours, in [0, 1].

    The first sentence counts as following nothing, so that a single sentence has a score: how well it opens a text.
    """

    def __init__(self, embedder: Embedder, weights: OrderWeights) -> None:
        self.name = f"stand-in:sentence-order:{embedder.name}"
        self._embedder = embedder
        self._weights = weights

    def coherences(self, paragraphs: Sequence[Sequence[str]]) -> list[float]:
        """As :class:`~storm_bench.conner.perspectives.DiscourseModel`."""
        vectors = iter(self._embedder.embed([sentence for paragraph in paragraphs for sentence in paragraph]))
        found = []
        for paragraph in paragraphs:
            own = np.stack([next(vectors) for _ in paragraph])
            logit = float(self._weights.logits(features(own)).mean())
            found.append(1 / (1 + float(np.exp(-logit))))
        return found


def features(vectors: Vectors) -> Floats:
    """The network's input: for each sentence, paired with the one before, a row; (sentences, d) to (sentences, 4 d).

    A row is the sentence before (zeros before the first), the sentence, their product and their difference.
    """
    before = np.vstack([np.zeros_like(vectors[:1]), vectors[:-1]])
    return np.hstack([before, vectors, before * vectors, before - vectors]).astype(np.float32)


def train_order(paragraphs: Sequence[Vectors], *, epochs: int = 30, seed: int = 0) -> OrderWeights:
    """Train on paragraphs beside random orders of them: the logistic loss of both, and of the difference of the two.

    Args:
        paragraphs: vectors of shape (sentences, d), two sentences or more.
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
    width = 4 * fit[0].shape[1]
    shapes = ((width, _HIDDEN), (_HIDDEN,), (_HIDDEN,), (1,))
    parameters = [torch.randn(shape, generator=generator) * (shape[0] ** -0.5) for shape in shapes]
    for parameter in parameters:
        parameter.requires_grad_()
    optimiser = torch.optim.AdamW(parameters, lr=1e-3, weight_decay=0.05)
    for _ in range(epochs):
        for batch in _batches(fit, rng):
            true, mixed = (_scores(parameters, [features(one) for one in side]) for side in batch)
            softplus = torch.nn.functional.softplus
            loss: Any = (softplus(-true) + softplus(mixed) + softplus(mixed - true)).mean()
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
    return OrderWeights(*(parameter.detach().numpy() for parameter in parameters))


def order_accuracy(weights: OrderWeights, paragraphs: Sequence[Vectors], *, seed: int = 1) -> float:
    """Share of paragraphs that score higher than a random other order of theirs, in [0, 1]; chance is 0.5."""
    rng = np.random.default_rng(seed)
    fit = [vectors for vectors in paragraphs if len(vectors) > 1]
    right = [
        weights.logits(features(vectors)).mean() > weights.logits(features(_shuffled(vectors, rng))).mean()
        for vectors in fit
    ]
    return float(np.mean(right))


def save_order(weights: OrderWeights, embedder: str, path: Path) -> None:
    """Write weights with the name of the embedder they belong to."""
    from safetensors.numpy import save_file

    path.parent.mkdir(parents=True, exist_ok=True)
    arrays = {name: np.ascontiguousarray(getattr(weights, name)) for name in _NAMES}
    save_file(arrays, path, metadata={"embedder": embedder})


def load_order(path: Path, embedder: str) -> OrderWeights:
    """Read weights. Raises MetricError: the file is absent or damaged, or its weights belong to another embedder."""
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, framework="numpy") as file:
            trained_with = (file.metadata() or {}).get("embedder", "")
            arrays = [file.get_tensor(name) for name in _NAMES]
    except (OSError, SafetensorError) as error:
        raise MetricError(
            f"{path} holds no model of sentence order ({error}): train it with `storm experiment conner train-order`"
        ) from error
    if trained_with != embedder:
        raise MetricError(f"{path} was trained with {trained_with}, not {embedder}: train it anew, or use that one")
    return OrderWeights(*arrays)


def _scores(parameters: Sequence[Any], paragraphs: Sequence[Floats]) -> Any:
    """Mean logit of each paragraph as a tensor with gradients."""
    import torch

    inner, inner_bias, outer, outer_bias = parameters
    pairs = torch.from_numpy(np.concatenate(paragraphs))
    owners = torch.tensor([place for place, own in enumerate(paragraphs) for _ in range(len(own))])
    logits = (pairs @ inner + inner_bias).relu() @ outer + outer_bias
    lengths = torch.tensor([float(len(own)) for own in paragraphs])
    return torch.zeros(len(paragraphs)).index_add(0, owners, logits) / lengths


def _batches(fit: Sequence[Vectors], rng: np.random.Generator, size: int = 64) -> Iterator[tuple[list[Vectors], ...]]:
    places = rng.permutation(len(fit))
    for start in range(0, len(fit), size):
        some = [fit[place] for place in places[start : start + size]]
        yield some, [_shuffled(vectors, rng) for vectors in some]


def _shuffled(vectors: Vectors, rng: np.random.Generator) -> Vectors:
    """The sentences in another order than their own."""
    order = rng.permutation(len(vectors))
    while (order == np.arange(len(vectors))).all():
        order = rng.permutation(len(vectors))
    return np.asarray(vectors[order])


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

    ``leads``: the pinned file of lead sections, title → ``extract``.
    """
    texts = json.loads(leads.read_text(encoding="utf-8"))
    learn: list[Vectors] = []
    test: list[Vectors] = []
    for title in sorted(texts, key=lambda title: zlib.crc32(title.encode())):
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

    Raises MetricError: the cache's was trained with another embedder.
    """
    path = order_file(cache)
    if not path.exists():
        save_order(train_on_leads(leads, embedder).weights, embedder.name, path)
    return SentenceOrder(embedder, load_order(path, embedder.name))
