"""Calibration of the screen of statement coverage: how often it misses a statement, and how often it finds a false one.

    python -m storm_benchmarks.statements [--data ../shared/data] [--statements 60] [--value]

- sentences removed: a statement against the human article it was drawn from, and against the same article after
  removing every sentence that may state it: the nearest by words, by embedding and by both, and all with a cosine of at
  least .75. The rest is on-topic but states other things;
- another article: the same statement against its own article and against that of the next topic;
- WiCE: a Wikipedia sentence against the page it cites, by human label, wholly supported or not (Kamoi et al. 2023).
  These sentences are twice as long as statements, so the screen misses more of them.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from pydantic import TypeAdapter

from storm_bench.calibration import Calibration, calibrate
from storm_bench.datasets.wiki_live import read_wiki_live
from storm_bench.judges.base import CachingJudge, Pair, Parameters, SupportJudge
from storm_bench.judges.screen import ScreenJudge
from storm_bench.judging_tasks import CalibrationTask, LabelledPair
from storm_bench.metrics.statement_coverage import STATED, best_scores
from storm_bench.statement_passages import find_in_text
from storm_bench.types import Topic
from storm_benchmarks.shared import json_lines, options
from storm_pipeline.retrieval.embedder import CachingEmbedder, Embedder, open_embedder
from storm_pipeline.text.index_terms import terms
from storm_pipeline.text.sentences import split_sentences

_THRESHOLDS = (0.5, 0.6, 0.65, 0.7, STATED, 0.8, 0.85, 0.9)
_SAME = 0.75
_WICE = Path("support") / "wice_claim_dev.jsonl.gz"


class WholeTextJudge:
    """A judge of pairs of a whole text and a statement, by the best of the statement's passages, as coverage judges."""

    def __init__(self, judge: SupportJudge) -> None:
        self._judge = judge
        self.name = judge.name
        self.threshold = judge.threshold

    @property
    def parameters(self) -> Parameters:
        """Parameters of the judge of passages."""
        return self._judge.parameters

    def scores(self, pairs: Sequence[Pair]) -> list[float]:
        """One score per pair, in [0, 1], in order; each distinct text is cut into passages once."""
        by_text: dict[str, list[str]] = {}
        for pair in pairs:
            by_text.setdefault(pair.passage, []).append(pair.claim)
        known: dict[Pair, float] = {}
        for text, claims in by_text.items():
            found = best_scores(self._judge, find_in_text(text, claims))
            known |= {Pair(text, claim): score for claim, score in zip(claims, found, strict=True)}
        return [known[pair] for pair in pairs]


def main() -> None:
    """Print two Markdown tables: the calibration, and the share of each task's pairs accepted, by threshold."""
    parser = options(__doc__, "data", "cache")
    parser.add_argument("--statements", type=int, default=60, help="number per topic, evenly spaced")
    parser.add_argument("--value", action="store_true", help="print the calibration as JSON")
    args = parser.parse_args()
    embedder = CachingEmbedder(open_embedder("all-MiniLM-L6-v2", args.cache))
    judge = CachingJudge(WholeTextJudge(ScreenJudge(embedder, threshold=STATED)))
    topics = read_wiki_live(args.data / "wiki_live").topics
    tasks = (*article_tasks(topics, embedder, args.statements), _wice_task(args.data / _WICE))
    found = calibrate(judge, tasks)
    print(TypeAdapter(Calibration).dump_json(found).decode() if args.value else found.to_markdown())
    print(f"\n{_table(judge, tasks)}")


def article_tasks(topics: Sequence[Topic], embedder: Embedder, limit: int) -> tuple[CalibrationTask, CalibrationTask]:
    """The tasks *sentences removed* and *another article*.

    Args:
        embedder: finds the sentences that may state a statement.
        limit: maximum number of statements per topic, >= 1.
    """
    own: list[LabelledPair] = []
    another: list[LabelledPair] = []
    for topic, other in zip(topics, [*topics[1:], topics[0]], strict=True):
        every = max(1, len(topic.human.statements) // limit)
        statements = topic.human.statements[::every][:limit]
        for statement, rest in zip(statements, _without_statements(topic, statements, embedder), strict=True):
            stated = LabelledPair(Pair(topic.human.text(), statement), positive=True, group=topic.id)
            own += [stated, LabelledPair(Pair(rest, statement), positive=False, group=topic.id)]
            another += [stated, LabelledPair(Pair(other.human.text(), statement), positive=False, group=topic.id)]
    return CalibrationTask("sentences removed", tuple(own)), CalibrationTask("another article", tuple(another))


def _without_statements(topic: Topic, statements: Sequence[str], embedder: Embedder) -> Iterator[str]:
    """For each statement, the article without the sentences that may state it."""
    sentences = split_sentences(topic.human.text())
    vectors = embedder.embed(sentences)
    sentence_terms = [frozenset(terms(sentence)) for sentence in sentences]
    for statement in statements:
        needed = frozenset(terms(statement))
        shared = np.array([len(needed & own) / max(1, len(needed)) for own in sentence_terms])
        similarity = vectors @ embedder.embed([statement])[0]
        nearest = {int(own.argmax()) for own in (shared, similarity, shared + similarity)}
        out = nearest | set(np.flatnonzero(similarity >= _SAME))
        yield " ".join(sentence for place, sentence in enumerate(sentences) if place not in out)


def _wice_task(path: Path) -> CalibrationTask:
    return CalibrationTask(
        "WiCE",
        tuple(
            LabelledPair(
                Pair("\n\n".join(row["evidence"]), row["claim"]),
                positive=row["label"] == "supported",
                group=row["meta"]["claim_title"],
            )
            for row in json_lines(path)
        ),
    )


def _table(judge: SupportJudge, tasks: Sequence[CalibrationTask]) -> str:
    columns = {
        f"{task.name}: {'stated' if positive else 'not'}": judge.scores(
            [item.pair for item in task.items if item.positive == positive]
        )
        for task in tasks
        for positive in (True, False)
    }
    head = f"| threshold | {' | '.join(f'{name} ({len(scores):,})' for name, scores in columns.items())} |"
    rows = [
        f"| {threshold:g} | {' | '.join(f'{np.mean(np.array(s) >= threshold):.3f}' for s in columns.values())} |"
        for threshold in _THRESHOLDS
    ]
    return "\n".join([head, "|---" * (len(columns) + 1) + "|", *rows])


if __name__ == "__main__":
    main()
