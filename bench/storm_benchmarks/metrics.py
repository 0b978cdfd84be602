"""The judge-free metrics over articles and outlines of the original STORM, against human articles.

    python -m storm_benchmarks.metrics --tagger spacy:FOLDER [--wordnet FOLDER] [--heading-embedder NAME]

Outlines: the draft, the refined one and the final headings. Articles: STORM's, and as a lower bound the human article
about the next topic of FreshWiki, well written but off-topic. Taggers: entities found in human articles against those
published by FreshWiki's authors (FLAIR's). Last, seconds per article.
"""

import json
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from storm_bench.datasets.storm_runs import read_storm_run
from storm_bench.metrics.base import Metric
from storm_bench.metrics.density import density
from storm_bench.metrics.heading_soft_recall import heading_soft_recall
from storm_bench.metrics.registry import open_metric
from storm_bench.metrics.resources import Resources
from storm_bench.metrics.taggers import entities_of
from storm_bench.types import Case, HumanArticle, HumanSection, Topic
from storm_benchmarks.shared import ROOT, options
from storm_pipeline.text.sentences import split_sentences
from storm_pipeline.types import Article, Heading, Outline, Paragraph, Section, Sentence

BACK = set(
    "references,see also,notes,external links,further reading,citations,bibliography,sources,footnotes".split(",")
)
OUTLINES = ("draft_outline.txt", "refine_outline.txt", "storm_gen_article.txt")
TEXTS = ("article_entity_recall", "rouge", "bleu", "meteor", "shape", "density")
SHOWN = (
    "rouge_1 rouge_2 rouge_l rouge_l_wikigenbench bleu_1 bleu_4 meteor article_entity_recall words references "
    "bibliography_cited repeated_4grams knowledge_density cited_density distinct_facts"
).split()


def main() -> None:
    """Print Markdown tables."""
    parser = options(__doc__, "data")
    parser.add_argument("--tagger", default=Resources.tagger, help="spacy:FOLDER, flair:FILE …")
    parser.add_argument("--wordnet", type=Path, help="folder of WordNet's files")
    parser.add_argument("--heading-embedder", default=Resources.heading_embedder)
    args = parser.parse_args()
    resources = Resources(ROOT / "cache", args.heading_embedder, tagger=args.tagger, wordnet=args.wordnet)
    pages = {path.stem: json.loads(path.read_text("utf-8")) for path in (args.data / "freshwiki/json").glob("*.json")}
    topics = {name: Topic(name, name.replace("_", " "), human(page)) for name, page in sorted(pages.items())}
    runs = [folder for folder in sorted((args.data / "storm_runs").iterdir()) if folder.name in topics]
    spent: dict[str, float] = defaultdict(float)
    outlines(runs, topics, resources)
    articles(runs, topics, resources, spent)
    tagger({name: (topics[name], page["flair_entities"]) for name, page in pages.items()}, resources)
    print("\nSeconds an article: " + ", ".join(f"{name} {s / 2 / len(runs):.2f}" for name, s in spent.items()))


def outlines(runs: Sequence[Path], topics: Mapping[str, Topic], resources: Resources) -> None:
    metrics = [open_metric(name, resources) for name in ("heading_soft_recall", "heading_entity_recall")]
    clipped = heading_soft_recall(resources.heading_vectors, clip=True)
    print("\n| topic | outline | headings | soft recall | cosines clipped | entity recall | entities |")
    print("|---|---|---:|---:|---:|---:|---:|")
    for folder in runs:
        for file in OUTLINES:
            titles = [line.strip("# ") for line in lines(folder / file) if line.startswith("#")]
            planned = Outline(folder.name, tuple(map(Heading, titles)))
            one = [Case(topics[folder.name], Article(folder.name, outline=planned))]
            found = {k: v for metric in metrics for k, v in metric.score(one)[0].items()}
            cells = [found["heading_soft_recall"], clipped.score(one)[0]["heading_soft_recall"]]
            cells += [found["heading_entity_recall"], found["heading_entities"]]
            print(f"| {folder.name} | {file} | {len(titles)} | {row(cells)} |")


def articles(runs: Sequence[Path], topics: Mapping[str, Topic], resources: Resources, spent: dict[str, float]) -> None:
    metrics: list[Metric] = [open_metric(name, resources) for name in TEXTS]
    names = list(topics)
    print(f"\n| topic | article | {' | '.join(SHOWN)} |\n|---|---|{'---:|' * len(SHOWN)}")
    for folder in runs:
        other = topics[names[(names.index(folder.name) + 1) % len(names)]]
        for label, article in (
            ("STORM", read_storm_run(folder, polished=True).article),
            (f"people's {other.title}", as_generated(other.human)),
        ):
            found: dict[str, float | None] = {}
            for metric in metrics:
                start = time.perf_counter()
                found |= metric.score([Case(topics[folder.name], article)])[0]
                spent[metric.name] += time.perf_counter() - start
            print(f"| {folder.name} | {label} | {row(found[name] for name in SHOWN)} |")
    by_density = density(resources.vectors)
    scores = by_density.score([Case(topic, as_generated(topic.human)) for topic in topics.values()])
    for name in ("knowledge_density", "distinct_facts"):
        values = sorted(v for score in scores if (v := score[name]) is not None)
        print(f"\n{name} of {len(values)} articles by people: median {values[len(values) // 2]:.3f}", end="")
        print(f", from {values[0]:.3f} to {values[-1]:.3f}")


def tagger(published: Mapping[str, tuple[Topic, Sequence[str]]], resources: Resources) -> None:
    both = found = known = 0
    for topic, theirs in published.values():
        ours = entities_of(resources.entity_tagger, split_sentences(topic.human.text()))
        both, found, known = both + len(ours & set(theirs)), found + len(ours), known + len(set(theirs))
    print(f"\n{resources.entity_tagger.name} beside the published entities of {len(published)} articles: ", end="")
    print(f"precision {both / found:.3f}, recall {both / known:.3f}, F1 {2 * both / (found + known):.3f}")


def row(values: Iterable[float | None]) -> str:
    return " | ".join("" if v is None else str(v) if isinstance(v, int) else f"{v:.3f}" for v in values)


def human(page: Mapping[str, Any]) -> HumanArticle:
    """An article of FreshWiki; restores the full stops that its sentences lost."""
    return HumanArticle(page["title"], page["url"], page["summary"], tuple(sections(page["content"])))


def sections(raw: Sequence[Mapping[str, Any]]) -> Iterator[HumanSection]:
    for part in raw:
        if part["section_title"].lower() not in BACK:
            text = " ".join(s["sentence"].rstrip(". ") + "." for s in part["section_content"])
            yield HumanSection(part["section_title"], text, tuple(sections(part["subsections"])))


def as_generated(article: HumanArticle) -> Article:
    def section(part: HumanSection) -> Section:
        return Section(part.heading, paragraphs(part.text), tuple(map(section, part.subsections)))

    return Article(article.title, paragraphs(article.lead), tuple(map(section, article.sections)))


def paragraphs(text: str) -> tuple[Paragraph, ...]:
    blocks = [block for block in text.split("\n\n") if block.strip()]
    return tuple(Paragraph(tuple(map(Sentence, split_sentences(block)))) for block in blocks)


def lines(file: Path) -> list[str]:
    return file.read_text("utf-8").splitlines()


if __name__ == "__main__":
    main()
