"""Calibrates a judge of the Good Article criteria without labels: human articles against copies of themselves.

    python -m storm_benchmarks.good_article --judge-lm openai/gpt-4o [--topics 5] [--data ../shared/data]

The metric compares the human articles of Wiki Live Challenge with themselves and with damaged copies:

- unchanged: every result should be a tie. Both orders are the same prompt here, so each preference is position bias;
- without the lead;
- sections shuffled: those of each level, within their section;
- sentences cut: every second sentence of the body.

A good judge lets a damaged copy lose on the criteria that the damage concerns, and finds ties on most of the others.
Which criteria those are is an assumption of ours; a missing lead, for example, also removes facts.
"""

import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from storm_bench.articles.data_set import human_article
from storm_bench.datasets.wiki_live import read_wiki_live
from storm_bench.judges.model_judge import open_judge
from storm_bench.metrics.good_article import CriterionResult, GoodArticle, Result, value_of
from storm_bench.types import Case, Topic
from storm_benchmarks.shared import options
from storm_pipeline.settings import Settings
from storm_pipeline.types import Article, Paragraph, Section

CONCERNED: Mapping[str, frozenset[str]] = {
    "unchanged": frozenset(),
    "without the lead": frozenset({"opening", "summary", "lead_balance", "lead_length"}),
    "sections shuffled": frozenset({"order", "cohesion"}),
    "sentences cut": frozenset({"cohesion", "main_aspects", "depth", "context"}),
}
"""Copy → names of the criteria on which it should lose."""


@dataclass(frozen=True)
class Row:
    """Results of one kind of copy over all topics."""

    copy: str  # one of :data:`CONCERNED`
    articles: int  # number of articles compared
    value: float  # mean value, in [0, 1]
    bias: float  # share of criteria on which the two orders disagree
    # shares of wins, ties and losses on the criteria that the damage concerns; None for an unchanged copy
    concerned: tuple[float, float, float] | None
    others: tuple[float, float, float]  # the same on all other criteria


def main(arguments: Sequence[str] | None = None) -> None:
    """Print a Markdown table."""
    parser = options(__doc__, "data", "cache")
    parser.add_argument("--judge-lm", required=True, help="language model, such as openai/gpt-4o")
    parser.add_argument("--topics", type=int, default=5)
    args = parser.parse_args(arguments)
    metric = GoodArticle(open_judge(args.judge_lm, Settings.build({"cache": args.cache})))
    rows = calibrate(metric, read_wiki_live(args.data / "wiki_live").topics[: args.topics])
    print(f"Judge {args.judge_lm}\n\n{to_markdown(rows)}")


def calibrate(metric: GoodArticle, topics: Sequence[Topic]) -> list[Row]:
    """Compare the topics' human articles with their copies, one row per kind of copy.

    Topics whose article a damage does not change or leaves empty are left out of its row, and rows without topics
    altogether. Raises MetricError: the judge cannot be called.
    """
    rows = []
    for name in CONCERNED:
        compared = metric.compare([Case(topic, copy) for topic in topics if (copy := copied(topic, name))])
        if results := [own for own in compared if own]:
            rows.append(_row(name, results))
    return rows


def copied(topic: Topic, name: str) -> Article | None:
    """A copy of a topic's human article, one of :data:`CONCERNED`; None if the damage does not change the article."""
    article = human_article(topic)
    if name == "unchanged":
        return article
    if name == "without the lead":
        copy = replace(article, lead=())
    elif name == "sections shuffled":
        copy = replace(article, sections=_shuffled(article.sections, random.Random(topic.id)))
    else:
        copy = replace(article, sections=tuple(map(_halved, article.sections)))
    return None if copy == article else copy


def to_markdown(rows: Iterable[Row]) -> str:
    """A table; shares are wins / ties / losses of the copy."""
    head = "| copy | articles | value | orders disagree | criteria concerned: win / tie / loss | other criteria |"
    lines = [
        f"| {row.copy} | {row.articles} | {row.value:.3f} | {row.bias:.3f} | {_shares(row.concerned)} "
        f"| {_shares(row.others)} |"
        for row in rows
    ]
    return "\n".join([head, "|---|---:|---:|---:|---|---|", *lines])


def _row(name: str, compared: Sequence[Sequence[CriterionResult]]) -> Row:
    results = [one for own in compared for one in own]
    concerned = [one.result for one in results if one.criterion.name in CONCERNED[name]]
    return Row(
        name,
        len(compared),
        sum(map(value_of, compared)) / len(compared),
        sum(not one.orders_agree for one in results) / len(results),
        _counted(concerned) if concerned else None,
        _counted([one.result for one in results if one.criterion.name not in CONCERNED[name]]),
    )


def _counted(results: Sequence[Result]) -> tuple[float, float, float]:
    wins, ties, losses = (results.count(kind) / len(results) for kind in ("win", "tie", "loss"))
    return wins, ties, losses


def _shares(values: tuple[float, float, float] | None) -> str:
    return " / ".join(f"{value:.2f}" for value in values) if values else "–"


def _shuffled(sections: Sequence[Section], rng: random.Random) -> tuple[Section, ...]:
    """The sections of each level in another order."""
    order = rng.sample(sections, len(sections))
    if order == list(sections):
        order = [*order[1:], *order[:1]]
    return tuple(replace(own, subsections=_shuffled(own.subsections, rng)) for own in order)


def _halved(section: Section) -> Section:
    """A section without every second of its sentences, and likewise its subsections; the first one stays."""
    kept = iter(range(sum(len(paragraph.sentences) for paragraph in section.paragraphs)))
    paragraphs = (tuple(one for one in paragraph.sentences if next(kept) % 2 == 0) for paragraph in section.paragraphs)
    return replace(
        section,
        paragraphs=tuple(map(Paragraph, filter(None, paragraphs))),
        subsections=tuple(map(_halved, section.subsections)),
    )


if __name__ == "__main__":
    main()
