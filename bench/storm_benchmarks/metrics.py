"""The judge-free metrics over articles and outlines of the original STORM, against human articles.

    python -m storm_benchmarks.metrics --tagger spacy:FOLDER [--wordnet FOLDER] [--heading-embedder NAME]

Outlines: the draft, the refined one and the final headings. Articles: STORM's, and as a lower bound the human article
about the next topic of FreshWiki, well written but off-topic. Taggers: entities found in human articles against those
published by FreshWiki's authors (FLAIR's). Last, seconds per article.
"""

import time
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from statistics import median

from storm_bench.articles.data_set import human_article
from storm_bench.datasets.freshwiki import read_freshwiki
from storm_bench.datasets.storm_runs import read_storm_run
from storm_bench.metrics.base import Metric
from storm_bench.metrics.heading_soft_recall import heading_soft_recall
from storm_bench.metrics.registry import open_metric
from storm_bench.metrics.resources import Resources
from storm_bench.metrics.taggers import entities_of
from storm_bench.types import Case, Topic
from storm_benchmarks.shared import ROOT, options, print_table
from storm_pipeline.text.sentences import split_sentences
from storm_pipeline.types import Article, Heading, Outline

OUTLINES = ("draft_outline.txt", "refine_outline.txt", "storm_gen_article.txt")
TEXTS = ("article_entity_recall", "rouge", "rouge_body", "bleu", "shape", "density")
SHOWN = (
    "rouge_1 rouge_l rouge_1_body rouge_l_body rouge_l_wikigenbench bleu_1 bleu_4 meteor article_entity_recall "
    "repeated_4grams knowledge_density distinct_facts"
).split()


def main() -> None:
    """Print Markdown tables."""
    parser = options(__doc__, "data")
    parser.add_argument("--tagger", default=Resources.tagger, help="spacy:FOLDER, flair:FILE …")
    parser.add_argument("--wordnet", type=Path, help="folder of WordNet's files, for METEOR")
    parser.add_argument("--heading-embedder", default=Resources.heading_embedder)
    args = parser.parse_args()
    resources = Resources(ROOT / "cache", args.heading_embedder, tagger=args.tagger, wordnet=args.wordnet)
    topics = read_freshwiki(args.data / "freshwiki").topics
    runs = {topic: folder for topic in topics if (folder := args.data / "storm_runs" / topic.id).is_dir()}
    outlines(runs, resources)
    metrics = [open_metric(name, resources) for name in (*TEXTS, *(["meteor"] if args.wordnet else []))]
    articles(topics, runs, metrics)
    facts_of_people(topics, next(metric for metric in metrics if metric.name == "density"))
    tagger(topics, resources)


def outlines(runs: Mapping[Topic, Path], resources: Resources) -> None:
    names = ("heading_soft_recall", "heading_entity_recall")
    metrics: list[Metric] = [
        *(open_metric(name, resources) for name in names),
        heading_soft_recall(resources.heading_vectors, clip=True),
    ]
    rows = []
    for topic, folder in runs.items():
        for file in OUTLINES:
            lines = (folder / file).read_text("utf-8").splitlines()
            titles = tuple(Heading(line.strip("# ")) for line in lines if line.startswith("#"))
            case = Case(topic, Article(topic.title, outline=Outline(topic.title, titles)))
            soft, entity, clipped = (metric.score([case])[0] for metric in metrics)
            recalls = (soft[names[0]], clipped[names[0]], entity[names[1]])
            rows.append((topic.title, file, len(titles), *map(shown, recalls)))
    print_table(("topic", "outline", "headings", "soft recall", "cosines clipped", "entity recall"), rows)


def articles(topics: Sequence[Topic], runs: Mapping[Topic, Path], metrics: Sequence[Metric]) -> None:
    """The recorded articles, each above the human article on the next topic, and what a metric takes."""
    spent: dict[str, float] = defaultdict(float)
    rows = []
    for topic, folder in runs.items():
        other = topics[(topics.index(topic) + 1) % len(topics)]
        for label, article in (
            ("STORM", read_storm_run(folder, polished=True).article),
            ("floor", human_article(other)),
        ):
            found: dict[str, float | None] = {}
            for metric in metrics:
                start = time.perf_counter()
                found |= metric.score([Case(topic, article)])[0]
                spent[metric.name] += time.perf_counter() - start
            rows.append((topic.title, label, *(shown(found[name]) for name in SHOWN if name in found)))
    print()
    print_table(("topic", "text", *(name for name in SHOWN if name in found)), rows)
    print("\nSeconds an article: " + ", ".join(f"{name} {s / len(rows):.2f}" for name, s in spent.items()))


def facts_of_people(topics: Sequence[Topic], density: Metric) -> None:
    scores = density.score([Case(topic, human_article(topic)) for topic in topics])
    for name in ("knowledge_density", "distinct_facts"):
        values = [value for score in scores if (value := score[name]) is not None]
        spread = f"median {median(values):.3f}, from {min(values):.3f} to {max(values):.3f}"
        print(f"\n{name} of {len(values)} articles by people: {spread}")


def tagger(topics: Iterable[Topic], resources: Resources) -> None:
    both = found = known = 0
    for topic in topics:
        ours = entities_of(resources.entity_tagger, split_sentences(topic.human.text()))
        theirs = set(topic.human.entities)
        both, found, known = both + len(ours & theirs), found + len(ours), known + len(theirs)
    print(f"\n{resources.entity_tagger.name} beside the published entities: ", end="")
    print(f"precision {both / found:.3f}, recall {both / known:.3f}, F1 {2 * both / (found + known):.3f}")


def shown(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"


if __name__ == "__main__":
    main()
