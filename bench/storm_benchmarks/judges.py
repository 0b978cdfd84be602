"""Accuracy of the support judges.

    python -m storm_benchmarks.judges [--judge screen | nli:PATH | true:PATH | lm:NAME] [--claims 120]

Judged is the half of ExpertQA's questions by which no threshold was chosen: claims against the experts' labels, with
swapped citations, and with changed numbers.
"""

import time

from pydantic import TypeAdapter

from storm_bench.calibration import COLUMNS, Calibration, calibrate
from storm_bench.datasets.expertqa import read_expertqa
from storm_bench.judges.open_judge import open_support_judge
from storm_bench.judging_tasks import halves, sampled, tasks
from storm_benchmarks.shared import options, print_table
from storm_pipeline.settings import Settings


def main() -> None:
    """Print the calibration as a Markdown table."""
    parser = options(__doc__, "data", "cache")
    parser.add_argument("--embedder", default="all-MiniLM-L6-v2")
    parser.add_argument(
        "--judge", default="screen", help="screen, nli:FOLDER-OR-NAME, true:FOLDER-OR-NAME, or lm:MODEL"
    )
    parser.add_argument("--claims", type=int, help="maximum number of claims to judge")
    parser.add_argument(
        "--tasks", nargs="+", help="subset of: experts, another question, another source, changed number"
    )
    parser.add_argument("--threshold", type=float, help="minimum score of a supported claim; default: the judge's own")
    parser.add_argument("--value", action="store_true", help="print the calibration as JSON")
    args = parser.parse_args()
    settings = Settings.build({"cache": args.cache, "embedder": args.embedder})
    judge = open_support_judge(args.judge, settings, threshold=args.threshold)
    _, held_out = halves(read_expertqa(args.data / "expertqa"))
    every = tasks(sampled(held_out, args.claims or len(held_out)))
    given = [task for task in every if not args.tasks or task.name in args.tasks]
    start = time.monotonic()
    found = calibrate(judge, given)
    pairs = len({item.pair for task in given for item in task.items})
    if args.value:
        print(TypeAdapter(Calibration).dump_json(found).decode())
    else:
        print(f"Judge `{found.judge}` {dict(found.parameters)}. Always yes has AUC and balanced accuracy 0.50.\n")
        print_table(COLUMNS, found.cells)
    print(f"\n{pairs} pairs, {(time.monotonic() - start) / pairs:.3f} s a pair")


if __name__ == "__main__":
    main()
