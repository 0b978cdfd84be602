"""How well nearness to the topic tells which sentences an extract should tell, and what sentences of few words are.

    python -m storm_benchmarks.extract_choice [--documents FOLDER]

The sentences are those of ``experiments/labels/embedded-statements.csv``, which name the topic, labelled as off it, on
it, or worth telling. FOLDER: Markdown documents, whose sentences are counted by their words, and by whether they are
headings.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.stats import binomtest

from storm_bench.calibration import auc
from storm_benchmarks.labels import labels
from storm_benchmarks.shared import options, print_table
from storm_pipeline.documents.chunks import chunks, punctuated_blocks
from storm_pipeline.documents.document import Document
from storm_pipeline.documents.reader import read_documents
from storm_pipeline.languages import split_sentences
from storm_pipeline.text.words import word_count
from storm_pipeline.writers.sentences import SHORTEST

_OFF, _WORTH = "off the topic", "worth telling"
_SHARES = (0.75, 0.5, 0.25)  # of the sentences, the best by a score
_DRAWS, _SEED = 2000, 54  # of the bootstrap


@dataclass(frozen=True)
class Labelled:
    """A sentence with its label, and its cosine and that of its page's opening to the topic."""

    label: str
    cosine: float
    opening: float


WAYS: Mapping[str, Callable[[Labelled], float]] = {
    "the sentence's cosine": lambda one: one.cosine,
    "that of its page's opening": lambda one: one.opening,
    "their mean": lambda one: (one.cosine + one.opening) / 2,
}


def main() -> None:
    """Print how well each score tells the sentences apart."""
    parser = options(__doc__)
    parser.add_argument("--documents", type=Path)
    args = parser.parse_args()
    rows = labels("embedded-statements")
    report([Labelled(row["label"], float(row["sentence"]), float(row["opening"])) for row in rows])
    if args.documents:
        print_headings(args.documents)


def report(rows: Sequence[Labelled]) -> None:
    """Print a table: of the best by each score, the share off the topic; of those worth telling, the share kept."""
    on = np.array([one.label != _OFF for one in rows])
    worth = sum(one.label == _WORTH for one in rows)
    print(f"{len(rows)} sentences, {sum(~on)} of them off the topic ({np.mean(~on):.1%}), {worth} worth telling\n")
    table = []
    first = np.array([one.cosine for one in rows])
    for name, way in WAYS.items():
        scores = np.array([way(one) for one in rows])
        low, high = _difference(scores, first, on)
        for share in _SHARES:
            kept = sorted(rows, key=way, reverse=True)[: round(share * len(rows))]
            off = sum(one.label == _OFF for one in kept)
            between = binomtest(off, len(kept)).proportion_ci(method="wilson")
            wrong = f"{off / len(kept):.1%} [{between.low:.1%}, {between.high:.1%}]"
            found = sum(one.label == _WORTH for one in kept) / worth
            better = f"{auc(scores, on):.3f} [{low:+.3f}, {high:+.3f}]"
            table.append((name, better, f"{share:.0%}", len(kept), wrong, f"{found:.0%}"))
    named = ("by", "AUC [over the first]", "best", "sentences", "off the topic [95 %]", "of those worth telling")
    print_table(named, table)


def _difference(scores: np.ndarray, first: np.ndarray, on: np.ndarray) -> tuple[float, float]:
    """Return the 95 % interval of the difference of two scores' AUC, by a paired bootstrap of the sentences."""
    rng = np.random.default_rng(_SEED)
    draws = (rng.integers(0, len(on), len(on)) for _ in range(_DRAWS))
    found = [auc(scores[i], on[i]) - auc(first[i], on[i]) for i in draws if not on[i].all()]
    low, high = np.percentile(found, (2.5, 97.5))
    return float(low), float(high)


def print_headings(folder: Path) -> None:
    """Print how many sentences of Markdown documents are headings, by whether they are long enough to be told."""
    lines = (line for path in folder.rglob("*.md") for line in path.read_text(encoding="utf-8").splitlines())
    headings = {_plain(line) for line in lines if line.startswith("#")}
    documents = [document for document in read_documents(folder) if isinstance(document, Document)]
    passages = (one for document in documents for _, text in document.pages for one in chunks(punctuated_blocks(text)))
    told = (text for passage in passages for text in split_sentences(passage, "en"))
    counted = Counter((word_count(text) >= SHORTEST, _plain(text) in headings) for text in told)
    table = [
        (f"{'at least' if long else 'fewer than'} {SHORTEST} words", counted[long, False] + counted[long, True],
         counted[long, True])
        for long in (False, True)
    ]  # fmt: skip
    print()
    print_table(("sentences of", "number", "headings"), table)


def _plain(text: str) -> str:
    return text.strip("# .").casefold()


if __name__ == "__main__":
    main()
