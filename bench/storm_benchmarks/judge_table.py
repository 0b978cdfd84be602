"""Judges of support beside one another: people's labels, and errors planted by kind.

    python -m storm_benchmarks.judge_table labels  [--judge check screen FOLDER …]
    python -m storm_benchmarks.judge_table planted [--judge check screen FOLDER …] [--each 60] [--articles]
    python -m storm_benchmarks.judge_table sheet --each 6
    python -m storm_benchmarks.judge_table planted --each 6 --answers FILE

`labels`: WiCE dev, the half of AttributionBench dev that the small judge is not trained on, and the held-out half of
ExpertQA: AUC, balanced accuracy at the judge's own threshold and with a threshold chosen by cross-validation over
topics, with bootstrap intervals over topics, and milliseconds a sentence. `planted`: errors in WiCE's supported
sentences and in AttributionBench's, with `--articles` in statements of real articles first (:mod:`.real_statements`):
how many planted ones a judge doubts, and how many of the same sentences as they were. `sheet` prints the planted
sentences and their originals, shuffled, with the evidence that fits 100 words, to be answered by a reader in a file
with lines of id and label; `--answers` reads it.

Judges: check, the citation check that runs use; screen; small; model; probability, the embedded model's of yes; or a
folder with an entailment model.
"""

import hashlib
import random
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from storm_bench.calibration import MetricInterval, auc, balanced_accuracy, cross_validated, over_groups
from storm_bench.datasets.expertqa import read_expertqa
from storm_bench.datasets.support import LabelledSentence, read_attribution_bench, read_wice
from storm_bench.judges.open_judge import open_support_judge
from storm_bench.judging_tasks import halves
from storm_bench.planting import KINDS, Planted, Supported, plant
from storm_benchmarks.real_statements import supported_statements
from storm_benchmarks.shared import options, print_table
from storm_pipeline.judges.base import Judge, Parameters, Question, Verdict
from storm_pipeline.judges.excerpts import excerpt
from storm_pipeline.judges.opening import open_judge
from storm_pipeline.references.passages import Passage
from storm_pipeline.references.screen import Claim, Screen
from storm_pipeline.retrieval.embedder import CachingEmbedder, Embedder, shared_embedder
from storm_pipeline.settings import Settings
from storm_pipeline.types import Snippet

_DONORS = 80  # sentences of other articles from which names and facts are taken
_WORDS = 100  # of evidence on the sheet


class CheckJudge:
    """The citation check of runs (``references/grounding.py``): what it hands back is unsupported."""

    name, threshold = "check", 0.5

    def __init__(self, embedder: Embedder) -> None:
        self.parameters: Parameters = {}
        self._embedder = embedder

    def judge(self, questions: Sequence[Question]) -> list[Verdict]:
        """As :class:`~storm_pipeline.judges.base.Judge`; the probability is 1 or 0."""
        return [self._verdict(one) for one in questions]

    def _verdict(self, question: Question) -> Verdict:
        texts = enumerate(question.passages)
        shown = [Passage(text, (Snippet(f"https://example.org/{i}", "", text),)) for i, text in texts]
        grounding = Screen(shown, known="", embed=self._embedder.embed)
        (judged,) = grounding.judge([Claim(question.claim, tuple(range(len(shown))))])
        passes = not judged.problem or judged.is_only_copied
        return Verdict("supported" if passes else "not", float(passes), reason=judged.problem)


class Reader:
    """Answers that a reader wrote down, by the ids of the questions."""

    name, threshold = "reader", 0.5

    def __init__(self, file: Path) -> None:
        self.parameters: Parameters = {}
        self._said = dict(line.split()[:2] for line in file.read_text("utf-8").splitlines() if line.strip())

    def judge(self, questions: Sequence[Question]) -> list[Verdict]:
        """As :class:`~storm_pipeline.judges.base.Judge`."""
        yes = [self._said[_id(one)] == "supported" for one in questions]
        return [Verdict("supported" if one else "not", float(one)) for one in yes]


def main() -> None:
    """Print Markdown tables."""
    parser = options(__doc__, "data", "cache")
    parser.add_argument("what", choices=["labels", "planted", "sheet"])
    parser.add_argument("--judge", nargs="+", default=["check", "screen", "small"])
    parser.add_argument("--each", type=int, default=60, help="planted errors of a kind, at most")
    parser.add_argument("--answers", type=Path, help="a reader's answers to the sheet")
    parser.add_argument("--sentences", type=int, help="of each set of labels, at most, evenly spaced")
    parser.add_argument("--articles", action="store_true", help="plant errors in statements of real articles first")
    args = parser.parse_args()
    if args.what == "sheet":
        _print_sheet(_planted(_pools(args.data, articles=args.articles), args.each))
        return
    settings = Settings.build({"cache": args.cache})
    judges = [Reader(args.answers)] if args.answers else [_opened(name, settings) for name in args.judge]
    if args.what == "labels":
        _print_labels(_sets(args.data), judges, args.sentences)
    else:
        _print_planted(_planted(_pools(args.data, articles=args.articles), args.each), judges)


def _opened(name: str, settings: Settings) -> Judge:
    embedder = CachingEmbedder(shared_embedder(settings.embedder, settings.cache), size=1 << 16)
    if name == "probability":
        return open_support_judge("lm:embedded", settings, probabilities=True)
    return CheckJudge(embedder) if name == "check" else open_judge(name, settings, embedder=embedder)


def _sets(data: Path) -> dict[str, Sequence[LabelledSentence]]:
    _, held_out = halves(read_expertqa(data / "expertqa"))
    return {
        "WiCE dev": read_wice(data / "support"),
        "AttributionBench dev, held out": read_attribution_bench(data / "support", trained_on=False),
        "ExpertQA, held out": [
            LabelledSentence(
                one.claim, tuple(p.text for p in one.passages), "supported" if one.supported else "not", one.question
            )
            for one in held_out
        ],
    }


def _print_labels(sets: dict[str, Sequence[LabelledSentence]], judges: Sequence[Judge], most: int | None) -> None:
    head = ["labels", "sentences", "supported", "judge", "AUC", "balanced accuracy", "threshold by topics", "ms"]
    rows = (_label_row(name, _some(own, most), judge) for name, own in sets.items() for judge in judges)
    print_table(head, rows, marks="<>><>>>>")
    print("\nAlways yes has AUC and balanced accuracy 0.50. Milliseconds a sentence on this machine, as busy as it is.")


def _some(every: Sequence[LabelledSentence], most: int | None) -> Sequence[LabelledSentence]:
    return every[:: max(1, len(every) // most)][:most] if most else every


def _label_row(name: str, given: Sequence[LabelledSentence], judge: Judge) -> list[object]:
    yes, topics = np.array([one.label == "supported" for one in given]), [one.topic for one in given]
    start = time.monotonic()
    verdicts = judge.judge([Question(one.text, one.sources) for one in given])
    spent = 1000 * (time.monotonic() - start) / len(given)
    scores = np.array([verdict.probability for verdict in verdicts])
    found: list[MetricInterval] = [
        over_groups(lambda at: auc(scores[at], yes[at]), topics),
        over_groups(lambda at: balanced_accuracy(scores[at] >= judge.threshold, yes[at]), topics),
        cross_validated(scores, yes, topics),
    ]
    return [name, len(given), f"{yes.mean():.0%}", judge.name, *map(str, found), f"{spent:.0f}"]


def _pools(data: Path, *, articles: bool = False) -> list[list[Supported]]:
    """Supported sentences; those of an earlier list are preferred."""
    support = data / "support"
    labelled = [*read_wice(support), *read_attribution_bench(support, trained_on=False)]
    people = [Supported(one.text, "\n".join(one.sources)) for one in labelled if one.label == "supported"]
    return [supported_statements(data / "wiki_live"), people] if articles else [people]


def _planted(pools: Sequence[Sequence[Supported]], each: int) -> list[tuple[Planted, Supported]]:
    """Planted errors, up to ``each`` of a kind, with the sentences as they were."""
    rng = random.Random(0)
    found = []
    for kind in KINDS:
        own: list[tuple[Planted, Supported]] = []
        for sentences in pools:
            for one in rng.sample(sentences, len(sentences)):
                drawn = rng.sample(sentences, min(_DONORS, len(sentences)))
                donors = [other for other in drawn if other.source != one.source]
                if len(own) < each and (planted := plant(one, kind, donors, rng)):
                    own.append((planted, one))
        found += own
    return found


def _print_planted(planted: Sequence[tuple[Planted, Supported]], judges: Sequence[Judge]) -> None:
    rows: list[list[object]] = []
    doubted = [_doubts(judge, planted) for judge in judges]
    for kind in (*KINDS, None):
        own = [i for i, (one, _) in enumerate(planted) if kind in (one.kind, None)]
        if own:
            shares = (f"{np.mean([d[i][j] for i in own]):.0%}" for d in doubted for j in (0, 1))
            rows.append([kind or "all", len(own), *shares])
    head = [f"{judge.name}: {what}" for judge in judges for what in ("caught", "clean ones flagged")]
    print_table(["kind", "planted", *head], rows, marks="<" + ">" * (1 + len(head)))


def _doubts(judge: Judge, planted: Sequence[tuple[Planted, Supported]]) -> list[tuple[bool, bool]]:
    """Whether a judge doubts each planted sentence, and the sentence as it was."""
    asked = list(dict.fromkeys(_question(one) for pair in planted for one in pair))
    said = {q: v.label != "supported" for q, v in zip(asked, judge.judge(asked), strict=True)}
    return [(said[_question(wrong)], said[_question(right)]) for wrong, right in planted]


def _print_sheet(planted: Sequence[tuple[Planted, Supported]]) -> None:
    asked = list(dict.fromkeys(_question(one) for pair in planted for one in pair))
    for one in sorted(asked, key=_id):
        print(f"{_id(one)}\n  SENTENCE {one.claim}\n  EVIDENCE {excerpt(one, _WORDS)}\n")


def _question(one: Planted | Supported) -> Question:
    return Question(one.sentence, (one.source,))


def _id(question: Question) -> str:
    return hashlib.sha256("\n".join((question.claim, *question.passages)).encode()).hexdigest()[:8]


if __name__ == "__main__":
    main()
