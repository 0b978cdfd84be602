"""What the reliable-source filter excludes, among search results and among sources cited by Wikipedians.

    python -m storm_benchmarks.source_filter [--data ../shared/data]

Over WikiGenBench: the share of web search results that each policy excludes, against the share of pages cited by the
articles' authors. A good filter excludes many times more of the former. Then copies of the article itself: those that
the filter recognises by URL and title alone, and those recognised by text. Over runs of the original STORM: the same,
on what their searches returned.
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from storm_benchmarks.shared import options, print_table
from storm_pipeline.identity import canonical_url
from storm_pipeline.sources.ground_truth import GroundTruth
from storm_pipeline.sources.policies import POLICIES, SourcePolicy

SHARE = 0.2  # of an article's word 8-grams, from which a page is a copy by its text
WIKI = "https://en.wikipedia.org/wiki/"


@dataclass(frozen=True)
class Page:
    url: str
    title: str
    text: str


@dataclass(frozen=True)
class Task:
    """An article, what its authors cited, and what a search found."""

    title: str
    text: str
    cited: tuple[Page, ...]
    found: tuple[Page, ...]


def main() -> None:
    """Print Markdown tables."""
    args = options(__doc__, "data").parse_args()
    tasks = list(wikigenbench(args.data / "wikigenbench"))
    by_policy(tasks)
    list_excluded(page for task in tasks for page in task.cited)
    for name, own in (("WikiGenBench", tasks), ("Runs of the original STORM", storm_runs(args.data))):
        print(f"\n## Copies of the article: {name}\n")
        copies(own)


def wikigenbench(folder: Path) -> Iterator[Task]:
    for file in sorted((folder / "wiki").glob("*.json")):
        article = json.loads(file.read_text("utf-8"))
        google = folder / "google" / file.name
        hits = json.loads(google.read_text("utf-8")) if google.exists() else []
        cited = distinct(Page(url, "", text) for _, url, text in article["reference"])
        yield Task(
            article["key"], article["text"], cited, distinct(Page(h["link"], h["title"], h["text"]) for h in hits)
        )


def storm_runs(data: Path) -> Iterator[Task]:
    """The search results of each run, with the text of its target article if known."""
    for folder in sorted((data / "storm_runs").iterdir()):
        article = data / "freshwiki" / "txt" / f"{folder.name}.txt"
        text = article.read_text("utf-8") if article.exists() else ""
        records = (json.loads(file.read_text("utf-8")) for file in sorted(folder.glob("*.json")))
        yield Task(folder.name.replace("_", " "), text, (), distinct(page for r in records for page in pages_in(r)))


def pages_in(record: Any) -> Iterator[Page]:
    """Every search result, at any depth of a run's record."""
    if isinstance(record, dict):
        if isinstance(record.get("url"), str) and "snippets" in record:
            yield Page(record["url"], record.get("title") or "", "\n".join(record["snippets"]))
        record = list(record.values())
    if isinstance(record, list):
        for value in record:
            yield from pages_in(value)


def distinct(pages: Iterable[Page]) -> tuple[Page, ...]:
    return tuple({canonical_url(page.url): page for page in pages if page.url}.values())


def by_policy(tasks: Sequence[Task]) -> None:
    rows = []
    for policy in POLICIES:
        judge = SourcePolicy(policy)
        found = [not judge.judge(page.url).allowed for task in tasks for page in task.found]
        cited = [not judge.judge(page.url).allowed for task in tasks for page in task.cited]
        shares = sum(found) / len(found), sum(cited) / len(cited)
        cells = [f"{sum(out)} of {len(out)} ({share:.1%})" for out, share in zip((found, cited), shares, strict=True)]
        rows.append((policy, *cells, f"{shares[0] / shares[1]:.1f}" if shares[1] else "-"))
    print_table(("policy", "found by search, excluded", "cited by Wikipedians, excluded", "ratio"), rows)


def list_excluded(pages: Iterable[Page]) -> None:
    verdicts = (SourcePolicy("standard").judge(page.url) for page in pages)
    hosts = Counter((v.rule, v.status.value) for v in verdicts if not v.allowed)
    print("\ncited and excluded by standard: ", end="")
    print(", ".join(f"{rule} ({status}) {n}" for (rule, status), n in hosts.most_common()))


def copies(tasks: Iterable[Task]) -> None:
    """Copies among the found pages, by address or title and by text, and cited pages taken for copies by text."""
    rows = []
    for task in tasks:
        plain = GroundTruth([WIKI + quote(task.title)], [task.title])
        reader = GroundTruth(texts=[task.text], share=SHARE)
        named = {page for page in task.found if plain.recognise(page.url, page.title, "")}
        repeating = {page for page in task.found if reader.recognise(page.url, page.title, page.text)}
        wrong = sum(reader.recognise(page.url, "", page.text) is not None for page in task.cited)
        rows.append((len(task.found), len(named), len(repeating), len(named | repeating), wrong))
    print_table(
        ("found", "by address or title", f"by text, {SHARE:.0%}", "either", "cited"),
        [tuple(map(sum, zip(*rows, strict=True)))],
    )


if __name__ == "__main__":
    main()
