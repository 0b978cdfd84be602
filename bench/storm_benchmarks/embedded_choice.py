"""How well nearness, the embedded model, and both together tell which sentences an extract should tell.

    python -m storm_benchmarks.embedded_choice [--lm embedded] [--sentences 250] [--seed 7] [--cache cache]

The sentences are those of ``experiments/labels/embedded-statements.csv``, labelled as off the topic, on it, or worth
telling. The labels hold no text: each sentence is found in its page of the corpus by its cosine to the topic's
definition, and those that are not found within 0.03 are left out.
"""

import json
import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice

import numpy as np
from scipy.stats import binomtest

from storm_bench.calibration import auc
from storm_benchmarks.labels import labels
from storm_benchmarks.shared import options, print_table
from storm_pipeline.assets import LEADS, fetch
from storm_pipeline.concurrency import parallel_map
from storm_pipeline.languages import split_sentences
from storm_pipeline.models.asking import LanguageModels
from storm_pipeline.models.open_models import open_models
from storm_pipeline.models.probabilities import probabilities
from storm_pipeline.models.programs import Programs
from storm_pipeline.retrieval.embedder import open_embedder
from storm_pipeline.run.events import CallbackSink, Events
from storm_pipeline.settings import Settings

_FOUND = 0.03  # largest difference of a sentence's cosine from that of the labels
_OFF, _WORTH = "off the topic", "worth telling"
_SHARES = (0.75, 0.5, 0.25)  # of the sentences, the best by a score


@dataclass(frozen=True)
class Labelled:
    """A sentence with its label, its nearness to the topic, and the model's probability that it matters."""

    topic: str  # with its definition
    sentence: str  # with its page's title
    label: str
    cosine: float
    certainty: float = 0.0


def main() -> None:
    """Ask the model about the sentences, and print how well each score tells them apart."""
    parser = options(__doc__, "cache")
    parser.add_argument("--lm", default="embedded")
    parser.add_argument("--sentences", type=int, default=250)
    parser.add_argument("--seed", type=int, default=7)
    args = parser.parse_args()
    settings = Settings.build({"lm": args.lm, "cache": args.cache})
    models = LanguageModels.outside_a_run(open_models(settings), settings, Events(CallbackSink(lambda _: None)))
    program = Programs().choose

    def asked(one: Labelled) -> Labelled:
        reply = models.ask("writer", program, topic=one.topic, sentence=one.sentence)
        yes, no = probabilities(reply.get("logprobs"), reply.matters, ("yes", "no")).values()
        return replace(one, certainty=yes / (yes + no) if yes + no else float(reply.matters == "yes"))

    rows = labels("embedded-statements")
    random.Random(args.seed).shuffle(rows)
    found = sentences(rows, json.loads(fetch(LEADS, args.cache).read_bytes()), settings)
    report(parallel_map(asked, list(islice(found, args.sentences)), workers=4))


def sentences(
    rows: Iterable[Mapping[str, str]], pages: Mapping[str, Mapping[str, str]], settings: Settings
) -> Iterator[Labelled]:
    """Yield the labelled sentences that are found in the corpus."""
    embed = open_embedder(settings.embedder, settings.cache).embed
    for row in (row for row in rows if {row["topic"], row["page"]} <= pages.keys()):
        definition = split_sentences(pages[row["topic"]]["extract"], "en")[0]
        topic = f"{row['topic']}: {definition}"
        told = [f"{row['page']}: {one}" for one in split_sentences(pages[row["page"]]["extract"], "en")]
        vectors = embed([topic, *told])
        cosines = [float(cosine) for cosine in vectors[1:] @ vectors[0]]
        off, best = min((abs(cosine - float(row["sentence"])), i) for i, cosine in enumerate(cosines))
        if off < _FOUND:
            yield Labelled(topic, told[best], row["label"], cosines[best])


def report(rows: Sequence[Labelled]) -> None:
    """Print a table: of the best by each score, the share off the topic; of those worth telling, the share kept."""
    ways: dict[str, Callable[[Labelled], float]] = {
        "cosine": lambda one: one.cosine,
        "probability": lambda one: one.certainty,
        "mean of both": lambda one: (one.cosine + one.certainty) / 2,
    }
    off, worth = (sum(one.label == label for one in rows) for label in (_OFF, _WORTH))
    print(f"{len(rows)} sentences, {off} of them off the topic ({off / len(rows):.1%}), {worth} worth telling\n")
    table = []
    for name, score in ways.items():
        area = auc(np.array([score(one) for one in rows]), np.array([one.label != _OFF for one in rows]))
        best = sorted(rows, key=score, reverse=True)
        for share in _SHARES:
            kept = best[: round(share * len(best))]
            off = sum(one.label == _OFF for one in kept)
            between = binomtest(off, len(kept)).proportion_ci(method="wilson")
            wrong = f"{off / len(kept):.1%} [{between.low:.1%}, {between.high:.1%}]"
            found = sum(one.label == _WORTH for one in kept) / worth
            table.append((name, f"{area:.3f}", f"{share:.0%}", len(kept), wrong, f"{found:.0%}"))
    print_table(("by", "AUC", "best", "sentences", "of them off the topic [95 %]", "of those worth telling"), table)


if __name__ == "__main__":
    main()
