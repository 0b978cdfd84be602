"""Accuracy of the support judges.

    python -m storm_benchmarks.judges [--judge screen | nli:PATH | true:PATH | lm:NAME] [--claims 120]
    python -m storm_benchmarks.judges --statements

Judged is the half of ExpertQA's questions by which no threshold was chosen: claims against the experts' labels, with
swapped citations, and with changed numbers. `--statements` judges by the screen of statement coverage whether whole
articles of deep-research systems state statements of the human articles, as a reader labelled them
(``experiments/labels/statements.csv``); what is stated in part only is not stated.
"""

import time
from collections.abc import Mapping, Sequence

from pydantic import TypeAdapter

from storm_bench.articles.data_set import system_article
from storm_bench.calibration import Calibration, calibrate
from storm_bench.datasets.expertqa import read_expertqa
from storm_bench.datasets.wiki_live import read_wiki_live
from storm_bench.judges.base import Pair
from storm_bench.judges.open_judge import open_support_judge
from storm_bench.judging_tasks import CalibrationTask, LabelledPair, halves, sampled, tasks
from storm_bench.metrics.statements import STATED, best_scores, find_in_text
from storm_bench.metrics.texts import generated_text
from storm_bench.types import Topic
from storm_benchmarks.labels import Row, labels
from storm_benchmarks.shared import options
from storm_pipeline.judges.base import JudgeWrapper, Question, Verdict, label_of
from storm_pipeline.settings import Settings


class WholeTextJudge(JudgeWrapper):
    """Judges whole texts by the best of a statement's passages, as statement coverage does."""

    def judge(self, questions: Sequence[Question]) -> list[Verdict]:
        """One verdict a question, in order; each distinct text is cut into passages once."""
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
    """Print the calibration as a Markdown table."""
    parser = options(__doc__, "data", "cache")
    parser.add_argument("--statements", action="store_true", help="calibrate the screen of statement coverage")
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
    judge = open_support_judge(args.judge, settings, threshold=STATED if args.statements else args.threshold)
    given: Sequence[CalibrationTask]
    if args.statements:
        judge, given = WholeTextJudge(judge), [labelled_task(read_wiki_live(args.data / "wiki_live").topics)]
    else:
        _, held_out = halves(read_expertqa(args.data / "expertqa"))
        every = tasks(sampled(held_out, args.claims or len(held_out)))
        given = [task for task in every if not args.tasks or task.name in args.tasks]
    start = time.monotonic()
    found = calibrate(judge, given)
    pairs = len({item.pair for task in given for item in task.items})
    print(TypeAdapter(Calibration).dump_json(found).decode() if args.value else found.to_markdown())
    print(f"\n{pairs} pairs, {(time.monotonic() - start) / pairs:.3f} s a pair")


def labelled_task(topics: Sequence[Topic], rows: Sequence[Row] = ()) -> CalibrationTask:
    """Statements against the systems' articles, as labelled; topics that are not at hand are left out."""
    known = {topic.id: topic for topic in topics}
    labelled = [row for row in rows or labels("statements") if row["topic"] in known]
    articles = {(row["topic"], row["system"]) for row in labelled}
    texts = {(topic, system): generated_text(system_article(known[topic], system)) for topic, system in articles}
    return CalibrationTask("systems' articles", tuple(_labelled_pair(row, known, texts) for row in labelled))


def _labelled_pair(row: Row, known: Mapping[str, Topic], texts: Mapping[tuple[str, str], str]) -> LabelledPair:
    article = (row["topic"], row["system"])
    statement = known[row["topic"]].human.statements[int(row["statement"])]
    return LabelledPair(Pair(texts[article], statement), positive=row["label"] == "stated", group=" by ".join(article))


if __name__ == "__main__":
    main()
