"""What the screen of statement coverage is worth: how often it misses a statement, and how often it sees one too many.

    python benchmarks/statements.py [--data ../shared/data] [--statements 60]

- stated: a statement in people's own article, from which it was drawn;
- taken out: the same, once every sentence that may state it is taken out of the article: the nearest by words, by
  meaning and by both, and all with a cosine from .75 on. What is left is on the topic and tells other things;
- another topic: the same statement in the article of the next topic;
- WiCE: a sentence of Wikipedia in the page that it cites, by what people said of the support (Kamoi et al. 2023). These
  sentences are twice as long as statements, so the screen misses more of them.
"""

import argparse
import gzip
import json
import os
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from storm_pipeline.evaluation.datasets.wiki_live import read_wiki_live
from storm_pipeline.evaluation.judges.screen import ScreenJudge
from storm_pipeline.evaluation.metrics.statement_coverage import STATED, best_scores
from storm_pipeline.evaluation.statement_passages import find_in_text
from storm_pipeline.evaluation.types import Topic
from storm_pipeline.retrieval.embedder import CachingEmbedder, Embedder, open_embedder
from storm_pipeline.text.index_terms import terms
from storm_pipeline.text.sentences import split_sentences

_THRESHOLDS = (0.5, 0.6, 0.65, 0.7, STATED, 0.8, 0.85, 0.9)
_SAME = 0.75
_WICE = Path("support") / "wice_claim_dev.jsonl.gz"
_LABELS = ("supported", "partially_supported", "not_supported")


def main() -> None:
    """Print a Markdown table: the share that the screen takes for stated, by threshold."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("STORM_DATA", "../shared/data")))
    parser.add_argument("--cache", type=Path, default=Path("cache"))
    parser.add_argument("--statements", type=int, default=60, help="of a topic, evenly drawn")
    options = parser.parse_args()
    embedder = CachingEmbedder(open_embedder("all-MiniLM-L6-v2", options.cache))
    judge = ScreenJudge(embedder)
    columns = _of_articles(read_wiki_live(options.data / "wiki_live").topics, judge, embedder, options.statements)
    columns |= _of_wice(options.data / _WICE, judge)
    print(f"| threshold | {' | '.join(f'{name} ({len(scores):,})' for name, scores in columns.items())} |")
    print("|---" * (len(columns) + 1) + "|")
    for threshold in _THRESHOLDS:
        shares = (np.mean(np.array(scores) >= threshold) for scores in columns.values())
        print(f"| {threshold:g} | {' | '.join(f'{share:.3f}' for share in shares)} |")


def _of_articles(topics: Sequence[Topic], judge: ScreenJudge, embedder: Embedder, most: int) -> dict[str, list[float]]:
    found: dict[str, list[float]] = {"stated": [], "taken out": [], "another topic": []}
    for topic, other in zip(topics, [*topics[1:], topics[0]], strict=True):
        every = max(1, len(topic.human.statements) // most)
        statements = topic.human.statements[::every][:most]
        found["stated"] += _scores(judge, topic.human.text(), statements)
        found["another topic"] += _scores(judge, other.human.text(), statements)
        sentences = split_sentences(topic.human.text())
        vectors = embedder.embed(sentences)
        had = [frozenset(terms(sentence)) for sentence in sentences]
        for statement in statements:
            needed = frozenset(terms(statement))
            shared = np.array([len(needed & own) / max(1, len(needed)) for own in had])
            alike = vectors @ embedder.embed([statement])[0]
            out = {int(own.argmax()) for own in (shared, alike, shared + alike)} | set(np.flatnonzero(alike >= _SAME))
            rest = " ".join(sentence for place, sentence in enumerate(sentences) if place not in out)
            found["taken out"] += _scores(judge, rest, [statement])
    return found


def _of_wice(path: Path, judge: ScreenJudge) -> dict[str, list[float]]:
    rows = [json.loads(line) for line in gzip.decompress(path.read_bytes()).decode().splitlines()]
    return {
        f"WiCE {label.replace('_', ' ')}": [
            score
            for row in rows
            if row["label"] == label
            for score in _scores(judge, "\n\n".join(row["evidence"]), [row["claim"]])
        ]
        for label in _LABELS
    }


def _scores(judge: ScreenJudge, text: str, statements: Iterable[str]) -> list[float]:
    return best_scores(judge, find_in_text(text, statements))


if __name__ == "__main__":
    main()
