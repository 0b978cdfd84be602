"""Accuracy of the support judges, and ablation of the screen's features.

    python -m storm_benchmarks.judges calibrate [--judge screen | small | nli:PATH | lm:NAME] [--claims 120]
    python -m storm_benchmarks.judges learn

`calibrate` judges the held-out half of ExpertQA's questions: claims against the experts' labels, with swapped
citations, and with changed numbers. `learn` fits the screen's weights to the other half and prints them, with an
ablation of each feature on the held-out half.
"""

import time
from collections.abc import Sequence

import numpy as np
from pydantic import TypeAdapter

from storm_bench.calibration import Calibration, auc, calibrate
from storm_bench.datasets.expertqa import LabelledClaim, read_expertqa
from storm_bench.judges.open_judge import open_support_judge
from storm_bench.judging_tasks import CalibrationTask, halves, sampled, tasks
from storm_benchmarks.shared import options
from storm_pipeline.judges.screen import FEATURES, Weights, features
from storm_pipeline.retrieval.embedder import Embedder, open_embedder
from storm_pipeline.settings import Settings


def main() -> None:
    """Print Markdown tables."""
    parser = options(__doc__, "data", "cache")
    parser.add_argument("what", choices=["calibrate", "learn"])
    parser.add_argument("--embedder", default="all-MiniLM-L6-v2")
    parser.add_argument("--judge", default="screen", help="screen, small, nli:FOLDER-OR-NAME, or lm:MODEL")
    parser.add_argument("--claims", type=int, help="maximum number of claims to judge")
    parser.add_argument(
        "--tasks", nargs="+", help="subset of: experts, another question, another source, changed number"
    )
    parser.add_argument("--threshold", type=float, help="minimum score of a supported claim; default: the judge's own")
    parser.add_argument("--probabilities", action="store_true", help="score by a model's token probabilities")
    parser.add_argument("--value", action="store_true", help="print the calibration as JSON")
    args = parser.parse_args()
    if args.what == "learn":
        learn(read_expertqa(args.data / "expertqa"), open_embedder(args.embedder, args.cache))
        return
    settings = Settings.build({"cache": args.cache, "embedder": args.embedder})
    judge = open_support_judge(args.judge, settings, threshold=args.threshold, probabilities=args.probabilities)
    _, held_out = halves(read_expertqa(args.data / "expertqa"))
    chosen = sampled(held_out, args.claims or len(held_out))
    given = [task for task in tasks(chosen) if not args.tasks or task.name in args.tasks]
    start = time.monotonic()
    found = calibrate(judge, given)
    pairs = len({item.pair for task in given for item in task.items})
    print(TypeAdapter(Calibration).dump_json(found).decode() if args.value else found.to_markdown())
    print(f"\n{len(chosen)} claims, {pairs} pairs, {(time.monotonic() - start) / pairs:.3f} s a pair")


def learn(claims: Sequence[LabelledClaim], embedder: Embedder) -> None:
    """Fit the weights to one half of the questions; print them, and AUC on the other half with fewer features."""
    learning, held_out = (tasks(half) for half in halves(claims))
    known = _table([*learning, *held_out], embedder)
    print(f"LEARNT = {_fitted(learning, known, list(FEATURES))}\n")
    print("| features | " + " | ".join(f"AUC, {task.name}" for task in held_out) + " |")
    print("|---" * (len(held_out) + 1) + "|")
    for title, names in _subsets().items():
        weights = _fitted(learning, known, names)
        own = np.array([getattr(weights, name) for name in FEATURES])
        tables = [np.array([known[item.pair] for item in task.items]) for task in held_out]
        positive = [np.array([item.positive for item in task.items]) for task in held_out]
        scores = (auc(table @ own, labels) for table, labels in zip(tables, positive, strict=True))
        print(f"| {title} | " + " | ".join(f"{score:.3f}" for score in scores) + " |")


def _subsets() -> dict[str, list[str]]:
    return (
        {"all": list(FEATURES)}
        | {f"{name} alone": [name] for name in FEATURES}
        | {f"all but {name}": [own for own in FEATURES if own != name] for name in FEATURES}
    )


def _table(given: Sequence[CalibrationTask], embedder: Embedder) -> dict[object, np.ndarray]:
    pairs = list(dict.fromkeys(item.pair for task in given for item in task.items))
    return dict(zip(pairs, features([pair.question for pair in pairs], embedder), strict=True))


def _fitted(given: Sequence[CalibrationTask], known: dict[object, np.ndarray], names: list[str]) -> Weights:
    """Logistic regression; positives and negatives have equal weight, and so have the tasks among the negatives."""
    from sklearn.linear_model import LogisticRegression

    items = {item.pair: item.positive for task in given for item in task.items}
    shares = {
        item.pair: 1 / sum(not other.positive for other in task.items)
        for task in given
        for item in task.items
        if not item.positive
    }
    weight = np.array([shares.get(pair, len(given) / sum(items.values())) for pair in items])
    columns = [FEATURES.index(name) for name in names]
    table = np.array([known[pair][columns] for pair in items])
    model = LogisticRegression(C=1.0).fit(table, list(items.values()), sample_weight=weight / weight.mean())
    found = dict(zip(names, model.coef_[0].round(3).tolist(), strict=True))
    return Weights(round(float(model.intercept_[0]), 3), **{name: found.get(name, 0.0) for name in FEATURES})


if __name__ == "__main__":
    main()
