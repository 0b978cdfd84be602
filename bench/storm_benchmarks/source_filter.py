"""What the reliable-source filter excludes, among search results and among sources cited by Wikipedians.

    python -m storm_benchmarks.source_filter [--data ../shared/data] [--show cited|found|leaks]

Over WikiGenBench: the share of web search results that each policy excludes, against the share of pages cited by the
articles' authors. A good filter excludes many times more of the former. Then copies of the article itself: those that
the filter recognises by URL and title alone, and those recognised by text (shared word 8-grams, for several
thresholds). Over runs of the original STORM: the same, on what their searches returned.
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from storm_benchmarks.shared import options
from storm_pipeline.identity import canonical_url
from storm_pipeline.sources.ground_truth import GroundTruth
from storm_pipeline.sources.policies import POLICIES, Policy, SourcePolicy
from storm_pipeline.sources.site_patterns import pattern_of

BOUNDS = (0.1, 0.2, 0.3, 0.5)
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
    parser = options(__doc__, "data")
    parser.add_argument("--show", choices=("cited", "found", "leaks"), help="list pages: excluded ones, or copies")
    args = parser.parse_args()
    tasks = list(wikigenbench(args.data / "wikigenbench"))
    by_policy(tasks)
    by_status(tasks)
    if args.show in {"cited", "found"}:
        list_excluded(page for task in tasks for page in getattr(task, args.show))
    print("\n## Copies of the article in WikiGenBench\n")
    copies(tasks, show=args.show == "leaks")
    print("\n## Copies of the article in runs of the original STORM\n")
    copies(list(storm_runs(args.data)), show=True)


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


def by_policy(tasks: list[Task]) -> None:
    print("| policy | found by search, excluded | cited by Wikipedians, excluded | ratio |")
    print("|---|---|---|---|")
    for policy in POLICIES:
        judge = SourcePolicy(policy)
        found = [not judge.judge(page.url).allowed for task in tasks for page in task.found]
        cited = [not judge.judge(page.url).allowed for task in tasks for page in task.cited]
        shares = sum(found) / len(found), sum(cited) / len(cited)
        ratio = f"{shares[0] / shares[1]:.1f}" if shares[1] else "-"
        cells = [f"{sum(out)} of {len(out)} ({share:.1%})" for out, share in zip((found, cited), shares, strict=True)]
        print(f"| {policy} | {' | '.join(cells)} | {ratio} |")


def by_status(tasks: list[Task]) -> None:
    judge = SourcePolicy("standard")
    counts: dict[str, Counter[str]] = {"found": Counter(), "cited": Counter()}
    for kind, counter in counts.items():
        counter.update(judge.judge(page.url).status for task in tasks for page in getattr(task, kind))
    totals = {kind: sum(counter.values()) for kind, counter in counts.items()}
    print("\n| status | found by search | cited by Wikipedians |")
    print("|---|---|---|")
    for status, _ in (counts["found"] + counts["cited"]).most_common():
        print(f"| {status} | " + " | ".join(f"{c[status] / totals[kind]:.1%}" for kind, c in counts.items()) + " |")


def list_excluded(pages: Iterable[Page], policy: Policy = "standard") -> None:
    judge = SourcePolicy(policy)
    verdicts = [judge.judge(page.url) for page in pages]
    hosts = Counter((v.rule, v.status.value) for v in verdicts if not v.allowed)
    print(
        f"\nexcluded by {policy}: " + ", ".join(f"{rule} ({status}) {n}" for (rule, status), n in hosts.most_common())
    )
    places = filter(None, (pattern_of(v.url) for v in verdicts if v.allowed))
    print(f"\nkept: {', '.join(f'{host} {n}' for host, n in Counter(p.host for p in places).most_common(150))}")


def copies(tasks: list[Task], *, show: bool) -> None:
    """Print found pages recognised by URL or title, and by text (in brackets: those not recognised by name)."""
    print("| article | found | by address or title | " + " | ".join(f"text, {b:.0%}" for b in BOUNDS) + " | missed |")
    print("|---|---|---|" + "---|" * len(BOUNDS) + "---|")
    total: Counter[str] = Counter()
    missed: list[str] = []
    cited: Counter[float] = Counter()
    for task in tasks:
        plain = GroundTruth([WIKI + quote(task.title)], [task.title])
        named = {page for page in task.found if plain.recognise(page.url, page.title, "")}
        row: Counter[str] = Counter(found=len(task.found), named=len(named))
        for bound in BOUNDS:
            reader = GroundTruth(texts=[task.text], share=bound)
            repeats = {p: reason for p in task.found if (reason := reader.recognise(p.url, p.title, p.text))}
            row[str(bound)], row[f"new {bound}"] = len(repeats), len(repeats.keys() - named)
            cited[bound] += sum(reader.recognise(p.url, "", p.text) is not None for p in task.cited)
            if bound == BOUNDS[0]:
                missed += [f"- {task.title}: {p.url} ({repeats[p]})" for p in repeats.keys() - named]
        missing = [p for p in task.found if p not in named and names(p, task.title)]
        row["missing"] = len(missing)
        missed += [f"- {task.title}: {page.url} ({page.title}) has its name on a wiki" for page in missing]
        total += row
        if show:
            print(line(task.title, row))
    print(line("all", total))
    if show:
        print("\nNot recognised by address or title:\n\n" + ("\n".join(missed) or "none"))
    if any(task.cited for task in tasks):
        print("\nCited pages that would be taken for copies: " + ", ".join(f"{cited[b]} at {b:.0%}" for b in BOUNDS))


def names(page: Page, title: str) -> bool:
    """Whether a page looks like a copy at a glance: the title is in URL and heading, on some wiki."""
    folded = "/" + title.casefold()
    address = canonical_url(page.url).casefold().replace("_", " ").replace("%20", " ")
    return folded in address and folded[1:] in page.title.casefold() and "wiki" in address + page.title.casefold()


def line(name: str, row: Counter[str]) -> str:
    bounds = " | ".join(f"{row[str(bound)]} ({row[f'new {bound}']})" for bound in BOUNDS)
    return f"| {name} | {row['found']} | {row['named']} | {bounds} | {row['missing']} |"


if __name__ == "__main__":
    main()
