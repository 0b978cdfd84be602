"""Calibration of the screen of statement coverage, on labels: how often it misses a statement, or finds a false one.

    python -m storm_benchmarks.statements [--data ../shared/data] [--value]

- WiCE: a Wikipedia sentence against the page it cites, by human label, wholly supported or not (Kamoi et al. 2023).
  These sentences are twice as long as statements, so the screen misses more of them.
- systems' articles: statements of Wiki Live's human articles against whole articles that deep-research systems wrote,
  as a reader labelled them (``experiments/labels/statements.csv``); what is stated in part only is not stated.

Below it, Spearman's correlation of two metrics with how many facts readers found stated in each of twelve articles.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean

import numpy as np
from pydantic import TypeAdapter
from scipy.stats import spearmanr

from storm_bench.articles.data_set import system_article
from storm_bench.calibration import Calibration, calibrate
from storm_bench.datasets.support import json_lines
from storm_bench.datasets.wiki_live import read_wiki_live
from storm_bench.judges.base import Pair, scores_of, supported_by
from storm_bench.judging_tasks import CalibrationTask, LabelledPair
from storm_bench.metrics.statement_coverage import STATED, best_scores
from storm_bench.metrics.texts import generated_text
from storm_bench.statement_passages import find_in_text
from storm_bench.types import Topic
from storm_benchmarks.labels import Row, labels
from storm_benchmarks.shared import ROOT, options, print_table
from storm_pipeline.judges.base import CachingJudge, Judge, Parameters, Question, Verdict, label_of
from storm_pipeline.judges.screen import ScreenJudge
from storm_pipeline.retrieval.embedder import CachingEmbedder, open_embedder

_RESULTS = ROOT / "experiments" / "wiki-live-capable" / "report" / "results.json"
_THRESHOLDS = (0.5, 0.6, 0.65, 0.7, STATED, 0.8, 0.85, 0.9)
_WICE = Path("support") / "wice_claim_dev.jsonl.gz"
_METRICS = ("statement_coverage", "article_entity_recall")


class WholeTextJudge:
    """A judge of pairs of a whole text and a statement, by the best of the statement's passages, as coverage judges."""

    def __init__(self, judge: Judge) -> None:
        self._judge = judge
        self.name = judge.name
        self.threshold = judge.threshold

    @property
    def parameters(self) -> Parameters:
        """Parameters of the judge of passages."""
        return self._judge.parameters

    def judge(self, questions: Sequence[Question]) -> list[Verdict]:
        """One verdict per question, in order; each distinct text is cut into passages once."""
        by_text: dict[str, list[str]] = {}
        for one in questions:
            by_text.setdefault("\n".join(one.passages), []).append(one.claim)
        known: dict[tuple[str, str], float] = {}
        for text, claims in by_text.items():
            found = best_scores(self._judge, find_in_text(text, claims))
            known |= {(text, claim): score for claim, score in zip(claims, found, strict=True)}
        scores = [known["\n".join(one.passages), one.claim] for one in questions]
        return [Verdict(label_of(score, self.threshold), score) for score in scores]


def main() -> None:
    """Print Markdown tables: the calibration, the share of each task's pairs accepted by threshold, correlations."""
    parser = options(__doc__, "data", "cache")
    parser.add_argument("--value", action="store_true", help="print the calibration as JSON")
    args = parser.parse_args()
    embedder = CachingEmbedder(open_embedder("all-MiniLM-L6-v2", args.cache))
    judge = CachingJudge(WholeTextJudge(ScreenJudge(embedder, threshold=STATED)))
    tasks = (
        _wice_task(args.data / _WICE),
        labelled_task(read_wiki_live(args.data / "wiki_live").topics, labels("statements")),
    )
    found = calibrate(judge, tasks)
    print(TypeAdapter(Calibration).dump_json(found).decode() if args.value else found.to_markdown(), end="\n\n")
    _print_thresholds(judge, tasks)
    print(f"\nScreen and reader differ on an article's share by {article_error(judge, tasks[1]):.3f} on average.\n")
    print_table(("topic", "articles", *_METRICS), correlations())


def labelled_task(topics: Sequence[Topic], rows: Sequence[Row]) -> CalibrationTask:
    """Statements against the systems' articles, as labelled; topics that are not at hand are left out."""
    known = {topic.id: topic for topic in topics}
    labelled = [row for row in rows if row["topic"] in known]
    articles = {(row["topic"], row["system"]) for row in labelled}
    texts = {(topic, system): generated_text(system_article(known[topic], system)) for topic, system in articles}
    return CalibrationTask("systems' articles", tuple(_labelled_pair(row, known, texts) for row in labelled))


def _labelled_pair(row: Row, known: Mapping[str, Topic], texts: Mapping[tuple[str, str], str]) -> LabelledPair:
    article = (row["topic"], row["system"])
    statement = known[row["topic"]].human.statements[int(row["statement"])]
    return LabelledPair(Pair(texts[article], statement), positive=row["label"] == "stated", group=" by ".join(article))


def article_error(judge: Judge, task: CalibrationTask) -> float:
    """Mean over articles of how far the share that a judge finds stated is from the labelled share, in [0, 1]."""
    verdicts: dict[str, list[int]] = {}
    for item, stated in zip(task.items, supported_by(judge, [item.pair for item in task.items]), strict=True):
        verdicts.setdefault(item.group, []).append(stated - item.positive)
    return fmean(abs(fmean(own)) for own in verdicts.values())


def correlations() -> list[tuple[object, ...]]:
    """Per topic: number of articles, and each metric's Spearman correlation with the facts that a reader found."""
    results = json.loads(_RESULTS.read_text(encoding="utf-8"))["results"]
    values = {(one["topic"], one["method"]): one["values"] for one in results}
    counted = labels("reader-counts")
    found = []
    for topic in sorted({row["topic"] for row in counted}):
        own = [row for row in counted if row["topic"] == topic]
        facts = [int(row["stated"]) for row in own]
        of = [spearmanr([values[topic, row["system"]][name] for row in own], facts).statistic for name in _METRICS]
        found.append((topic, len(own), *(f"{value:.2f}" for value in of)))
    return found


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


def _print_thresholds(judge: Judge, tasks: Sequence[CalibrationTask]) -> None:
    columns = {
        f"{task.name}: {'stated' if positive else 'not'}": scores_of(
            judge, [item.pair for item in task.items if item.positive == positive]
        )
        for task in tasks
        for positive in (True, False)
    }
    shares = (
        (f"{threshold:g}", *(f"{np.mean(np.array(own) >= threshold):.3f}" for own in columns.values()))
        for threshold in _THRESHOLDS
    )
    print_table(("threshold", *(f"{name} ({len(own):,})" for name, own in columns.items())), shares)


if __name__ == "__main__":
    main()
