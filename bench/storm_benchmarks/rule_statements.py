"""Whether statements that rules take from an article measure what the published ones of Wiki Live Challenge measure.

    python -m storm_benchmarks.rule_statements [--data ../shared/data] [--every 3] [--statements 40]

The first table counts statements and their words in the bodies of the published articles; the second gives each
system's coverage by both kinds of statements, judged by the screen, and the rank correlation between them.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from statistics import mean

from storm_bench.articles.data_set import system_article
from storm_bench.datasets.wiki_live import read_wiki_live
from storm_bench.datasets.wiki_live_statements import spread, statements_of
from storm_bench.metrics.statement_coverage import STATED, best_scores
from storm_bench.statement_passages import find_in_article
from storm_bench.types import HumanArticle, HumanSection, HumanSentence, Topic
from storm_benchmarks.shared import options
from storm_pipeline.judges.screen import ScreenJudge
from storm_pipeline.retrieval.embedder import CachingEmbedder, open_embedder
from storm_pipeline.text.sentences import split_sentences
from storm_pipeline.text.words import word_count

Statements = dict[str, tuple[str, ...]]


def main() -> None:
    """Print both tables as Markdown."""
    parser = options(__doc__, "data", "cache")
    parser.add_argument("--every", type=int, default=3, help="coverage on every Nth topic")
    parser.add_argument("--statements", type=int, default=40, help="number per topic, evenly spaced, for coverage")
    args = parser.parse_args()
    topics = read_wiki_live(args.data / "wiki_live").topics
    kinds = {topic.id: _statements(topic.human) for topic in topics}
    _print_sizes(topics, kinds)
    judge = ScreenJudge(CachingEmbedder(open_embedder("all-MiniLM-L6-v2", args.cache)), threshold=STATED)
    _print_coverage(topics[:: args.every], kinds, judge, args.statements)


def _statements(human: HumanArticle) -> Statements:
    split = replace(human, sections=tuple(map(_with_sentences, human.sections)))
    return {"published": human.statements, "rules": statements_of(split)}


def _with_sentences(section: HumanSection) -> HumanSection:
    sentences = (HumanSentence(text) for line in section.text.splitlines() for text in split_sentences(line))
    return replace(section, sentences=tuple(sentences), subsections=tuple(map(_with_sentences, section.subsections)))


def _print_sizes(topics: Sequence[Topic], kinds: dict[str, Statements]) -> None:
    print("| statements | number | words | with titles in front |\n|---|---|---|---|")
    for kind in ("published", "rules"):
        held = [(topic.title, one) for topic in topics for one in kinds[topic.id][kind]]
        titled = sum(one.startswith(f"{title}, ") for title, one in held) if kind == "rules" else 0
        print(f"| {kind} | {len(held):,} | {mean(word_count(one) for _, one in held):.1f} | {titled:,} |")


def _print_coverage(topics: Sequence[Topic], kinds: dict[str, Statements], judge: ScreenJudge, most: int) -> None:
    from scipy.stats import spearmanr

    found: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for topic in topics:
        for own in topic.system_articles:
            article = system_article(topic, own.system)
            both = (find_in_article(article, spread(kinds[topic.id][kind], most)) for kind in ("published", "rules"))
            published, rules = (mean(score >= judge.threshold for score in best_scores(judge, one)) for one in both)
            found[own.system].append((published, rules))
    print(f"\n| system ({len(topics)} topics) | published | rules |\n|---|---|---|")
    means = {system: tuple(map(mean, zip(*values, strict=True))) for system, values in found.items()}
    for system, (published, rules) in sorted(means.items(), key=lambda row: -row[1][0]):
        print(f"| {system} | {published:.3f} | {rules:.3f} |")
    pairs = [pair for values in found.values() for pair in values]
    of_systems, of_articles = (spearmanr(rows).statistic for rows in (list(means.values()), pairs))
    print(f"\nrank correlation: {of_systems:.2f} over systems, {of_articles:.2f} over {len(pairs)} articles")


if __name__ == "__main__":
    main()
