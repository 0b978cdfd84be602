"""What the small judge of support is trained on: labelled sentences with their sources, and planted errors."""

import gzip
import json
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from storm_bench.datasets.expertqa import read_expertqa
from storm_bench.datasets.support import read_attribution_bench, read_wice
from storm_bench.judging_tasks import halves
from storm_bench.planting import KINDS, Kind, Supported, plant
from storm_pipeline.judges.base import Question

_WICE = "wice_tokens_train.jsonl.gz"
_DONORS = 50  # sentences of other articles from which a planted error takes names and facts
_KEPT = 0.6  # least share of a sentence's tokens that are left without what its source does not support


@dataclass(frozen=True)
class Example:
    """A claim with its passages, and whether all of the claim follows from them."""

    question: Question
    supported: bool


def examples(data: Path, seed: int, planted: int) -> list[Example]:
    """The training set.

    FactCG's documents with claims; of WiCE the training claims that are partly supported, as they are and without the
    words that are not; of AttributionBench every second question but for ExpertQA's, and of ExpertQA the half from
    which the screen's weights come, the others being left to measure; and planted errors in supported sentences of
    these, each beside the sentence as it was.

    Args:
        data: holds the published files, as ``support/factcg_doc.json.gz`` and ``expertqa/rand_val.jsonl``.
        seed: decides which errors are planted.
        planted: maximum number of planted errors of each kind, >= 0.

    Raises:
        OSError, DatasetError: a file is not there.
    """
    rng = random.Random(seed)  # noqa: S311 - a sample
    support = data / "support"
    people = [*_factcg(support), *_wice(support), *_attribution_bench(support), *_expertqa(data / "expertqa")]
    supported = [one for one in people if one.supported]
    return people + [one for kind in KINDS for one in _errors(supported, kind, planted, rng)]


def _errors(supported: Sequence[Example], kind: Kind, most: int, rng: random.Random) -> Iterator[Example]:
    """Up to ``most`` sentences with an error of a kind, and the same sentences without."""
    pool = [Supported(one.question.claim, "\n".join(one.question.passages)) for one in supported]
    for one in rng.sample(pool, len(pool)):
        if most < 1:
            return
        if found := plant(one, kind, rng.sample(pool, min(_DONORS, len(pool))), rng):
            most -= 1
            yield Example(Question(found.sentence, (found.source,)), supported=False)
            yield Example(Question(one.sentence, (found.source,)), supported=True)


def _factcg(folder: Path) -> Iterator[Example]:
    for row in _rows(folder / "factcg_doc.json.gz"):
        yield Example(Question(row["text_b"][0], (row["text_a"],)), bool(row["orig_label"]))


def _attribution_bench(folder: Path) -> Iterator[Example]:
    for one in read_attribution_bench(folder, trained_on=True):
        yield Example(Question(one.text, one.sources), one.label == "supported")


def _expertqa(folder: Path) -> Iterator[Example]:
    for one in halves(read_expertqa(folder))[0]:
        yield Example(Question(one.claim, tuple(passage.text for passage in one.passages)), one.supported)


def _wice(folder: Path) -> Iterator[Example]:
    for one, row in zip(read_wice(folder, _WICE), _rows(folder / _WICE), strict=True):
        yield Example(Question(one.text, one.sources), one.label == "supported")
        tokens = row["claim_tokens"]
        kept = [token for token, left_out in zip(tokens, row["non_supported_spans"], strict=True) if not left_out]
        if _KEPT * len(tokens) <= len(kept) < len(tokens):
            yield Example(Question(" ".join(kept), one.sources), supported=True)


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)
