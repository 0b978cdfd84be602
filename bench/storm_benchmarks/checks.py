"""What ``storm check`` finds in the articles of Wiki Live Challenge: eleven systems' and the human ones.

    python -m storm_benchmarks.checks --data ../shared/data/wiki_live [--topics 3] [--sentences 15] [--judge screen]

A system's sentence is judged by the three best passages of each page that it cites and the data set holds, copies of
the human article left out. The human articles are published without citations: their sentences are judged by the three
best passages of all pages, which says how much these pages can support at all. Of each article a sample of the
sentences that cite something is judged. Intervals are bootstrapped over sentences.
"""

import argparse
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

import numpy as np

from storm_bench.articles.data_set import human_article, system_article
from storm_bench.calibration import known_calibration
from storm_bench.datasets.leakage import without_copies
from storm_bench.datasets.wiki_live import read_wiki_live
from storm_bench.types import Topic
from storm_pipeline import Article, Settings
from storm_pipeline.check import Checked, check_article
from storm_pipeline.check.reading import PASSAGES
from storm_pipeline.documents.articles.pages import AvailablePages, Reference, with_citations
from storm_pipeline.judges.base import Judge
from storm_pipeline.judges.opening import open_judge

HUMAN = "human (all pages)"
_HEAD = "system,articles,sentences,cited,judged,supported,partly,not,contradicted,citations not held".split(",")


@dataclass(frozen=True)
class Row:
    """What was found in the articles of one system."""

    system: str
    checked: tuple[Checked, ...]

    @property
    def supported(self) -> list[bool]:
        """Whether each judged sentence is supported."""
        sentences = (own for one in self.checked for own in one.sentences)
        return [own.status == "supported" for own in sentences if own.probability is not None]

    def cells(self) -> tuple[str, ...]:
        """The row of the table; shares are of the judged sentences."""
        counts: Counter[str] = sum((Counter(one.counts) for one in self.checked), Counter())
        judged = len(self.supported)
        rest = [f"{counts[name] / judged:.0%}" if judged else "–" for name in ("partly", "not", "contradicted")]
        lost = sum(one.article.report.unavailable_citations for one in self.checked)
        sentences = [own for one in self.checked for own in one.article.sentences()]
        sizes = (len(self.checked), len(sentences), sum(bool(own.citations) for own in sentences), judged)
        return (self.system, *map(str, sizes), _share(self.supported), *rest, str(lost))


def check_topics(topics: Iterable[Topic], judge: Judge, most: int | None = None) -> list[Row]:
    """A row for each system, those with the largest share of supported sentences first, and one for the human articles.

    A topic on which a system wrote nothing is left out of its row. ``most``: sentences of an article that are judged.
    """
    found: dict[str, list[Checked]] = {}
    for topic in map(without_copies, topics):
        for own in topic.system_articles:
            article = system_article(topic, own.system, PASSAGES)
            found.setdefault(own.system, []).append(check_article(article, judge, only=_sample(article, most)))
        article = _with_any_page(topic)
        found.setdefault(HUMAN, []).append(check_article(article, judge, only=_sample(article, most)))
    rows = [Row(name, tuple(own)) for name, own in found.items()]
    return sorted(rows, key=lambda row: (row.system == HUMAN, -float(np.mean(row.supported or [False]))))


def _sample(article: Article, most: int | None) -> list[int]:
    """The places of so many sentences that cite something, drawn with a fixed seed; of all without a limit."""
    cited = [place for place, own in enumerate(article.sentences()) if own.citations]
    return cited if most is None else sorted(Random(0).sample(cited, min(most, len(cited))))


def _with_any_page(topic: Topic) -> Article:
    """The human article whose sentences cite the best passages of all pages together."""
    article = human_article(topic)
    whole = Reference("pages:all", "", "\n\n".join(own.text for own in topic.documents))
    pages = AvailablePages(most=PASSAGES)
    return with_citations(article, {i: pages.passages(own.text, whole) for i, own in enumerate(article.sentences())})


def table(rows: Sequence[Row], judge: Judge) -> str:
    """The rows in Markdown, under the judge's calibration where one is shipped."""
    calibration = known_calibration(judge)
    lines = [f"| {' | '.join(_HEAD)} |", "|---" * len(_HEAD) + "|", *(f"| {' | '.join(r.cells())} |" for r in rows)]
    return "\n".join(
        [calibration.to_markdown() if calibration else f"Judge `{judge.name}`, not calibrated.", "", *lines]
    )


def _share(values: Sequence[bool]) -> str:
    """A share with its bootstrapped 95 % interval."""
    if not values:
        return "–"
    draws = np.random.default_rng(0).choice(np.array(values, float), (1000, len(values))).mean(axis=1)
    low, high = np.percentile(draws, [2.5, 97.5])
    return f"{np.mean(values):.0%} [{low:.0%}, {high:.0%}]"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", type=Path, default=Path("../shared/data/wiki_live"), help="folder of the data set")
    parser.add_argument("--topics", type=int, default=3, help="the first so many topics")
    parser.add_argument("--sentences", type=int, default=15, help="sentences of an article that are judged, at most")
    parser.add_argument("--judge", default="screen", help="name of the judge")
    parser.add_argument("--cache", type=Path, default=Path("cache"), help="folder of downloads")
    chosen = parser.parse_args()
    topics = read_wiki_live(chosen.data).topics[: chosen.topics]
    judge = open_judge(chosen.judge, Settings(cache=chosen.cache))
    print(f"Topics: {', '.join(own.title for own in topics)}.", end="\n\n")
    print(table(check_topics(topics, judge, chosen.sentences), judge))


if __name__ == "__main__":
    main()
