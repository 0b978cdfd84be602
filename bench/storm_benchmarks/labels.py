"""Adds up the labels that readers gave, as they are kept in ``experiments/labels``.

    python -m storm_benchmarks.labels

Its README says who read what. Nothing but the labels is needed: neither the articles nor a model.
"""

import csv
from collections import Counter
from collections.abc import Iterable, Sequence

from storm_benchmarks.shared import ROOT, print_table

LABELS = ROOT / "experiments" / "labels"
KEPT = {
    "statements": ("system",),
    "oder-facts": ("article", "held"),
    "oder-citations": ("article",),
    "capable-citations": ("article",),
    "storm-errors": ("run",),
    "own-sentences": ("language",),
    "mended-sentences": ("passages", "was"),
    "judged-article": ("version",),
    "embedded-statements": ("topic_is", "rule"),
    "embedded-extracts": ("headings",),
    "live-facts": ("topic", "article"),
    "frozen-facts": ("topic", "article"),
    "frozen-form": ("topic", "article"),
}
"""File → the columns whose values make a row of its table; the columns of the table are its labels."""
CITATIONS = ("oder-citations", "capable-citations")  # sentences that were read beside what they cite

Row = dict[str, str]


def main() -> None:
    """Print a Markdown table of each file, and citation recall and precision of articles whose sentences were read."""
    for name, keys in KEPT.items():
        print(f"\n{name}\n")
        print_table(*counted(labels(name), keys))
    read = [row for name in CITATIONS for row in labels(name)]
    print()
    print_table(("article", "citation recall", "citation precision"), citations(read))


def labels(name: str) -> list[Row]:
    """Return the rows of a file of labels."""
    with (LABELS / f"{name}.csv").open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))


def counted(rows: Iterable[Row], keys: Sequence[str]) -> tuple[list[str], list[list[object]]]:
    """Return the head and rows of a table: how often each label was given, by the values of ``keys``, with shares."""
    counts = Counter((*(row[key] for key in keys), row["label"]) for row in rows)
    kinds = sorted({label for *_, label in counts})
    table: list[list[object]] = []
    for group in sorted({tuple(group) for *group, _ in counts}):
        own = [counts[*group, kind] for kind in kinds]
        table.append([*group, sum(own), *(f"{count} ({count / sum(own):.1%})" for count in own)])
    return [*keys, "labels", *kinds], table


def citations(rows: Sequence[Row]) -> list[list[object]]:
    """Return per article the share of supported sentences, and of citations that support in part."""
    found: list[list[object]] = []
    for article in sorted({row["article"] for row in rows}):
        own = [row for row in rows if row["article"] == article]
        given, supporting = (sum(int(row[name]) for row in own) for name in ("citations", "supporting"))
        recall = sum(row["label"] == "supported" for row in own) / len(own)
        found.append([article, f"{recall:.1%} of {len(own)}", f"{supporting / given:.1%} of {given}"])
    return found


if __name__ == "__main__":
    main()
