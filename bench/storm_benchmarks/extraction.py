"""Precision and recall of main-text extraction: ours against trafilatura's modes.

    python -m storm_benchmarks.extraction [--data ../shared/data] [--shingle 1]

Over the 181 pages of the article-extraction-benchmark. A page's text is a multiset of tokens (runs of letters, digits
and underscores); tp, fp and fn are the sizes of the intersection with the true article body and of both differences,
scaled so that they sum to 1 a page, and summed over the pages, as that benchmark does. ``--shingle 4`` compares
4-grams of tokens instead, which is the benchmark's own measure.
"""

import gzip
import json
import logging
import re
import time
from collections import Counter
from collections.abc import Callable

import trafilatura

from storm_benchmarks.shared import options
from storm_pipeline.pages.extract import main_text

Shingles = Counter[tuple[str, ...]]


def shingles(text: str, size: int) -> Shingles:
    tokens = re.findall(r"\w+", text)
    return Counter(tuple(tokens[i : i + size]) for i in range(max(1, len(tokens) - size + 1)) if tokens)


def score(found: Shingles, true: Shingles) -> tuple[float, float, float]:
    """True positives, false positives and false negatives as shares of their sum."""
    counts = (found & true).total(), (found - true).total(), (true - found).total()
    total = sum(counts) or 1
    return counts[0] / total, counts[1] / total, counts[2] / total


def plain(**options: bool) -> Callable[[str, str], str]:
    def extracted(html: str, url: str) -> str:
        return trafilatura.extract(html, url=url, include_comments=False, **options) or ""

    return extracted


EXTRACTORS = {
    "storm-pipeline": main_text,
    "trafilatura": plain(),
    "trafilatura, favor_precision": plain(favor_precision=True),
    "trafilatura, favor_recall": plain(favor_recall=True),
    "trafilatura, fast": plain(fast=True),
}


def main() -> None:
    parser = options(__doc__, "data")
    parser.add_argument("--shingle", type=int, default=1, help="size of the token n-grams that are compared")
    args = parser.parse_args()
    folder = args.data / "article_extraction"
    logging.disable(logging.ERROR)
    truth = json.loads((folder / "ground-truth.json").read_text(encoding="utf-8"))
    pages = {key: gzip.decompress((folder / "html" / f"{key}.html.gz").read_bytes()).decode() for key in truth}
    print("| extractor | precision | recall | F1 | pages without text | ms a page |\n|---|---|---|---|---|---|")
    for name, extractor in EXTRACTORS.items():
        start = time.monotonic()
        texts = {key: extractor(html, truth[key]["url"]) for key, html in pages.items()}
        ms = (time.monotonic() - start) / len(pages) * 1000
        scores = [
            score(shingles(texts[key], args.shingle), shingles(truth[key]["articleBody"], args.shingle))
            for key in truth
        ]
        tp, fp, fn = (sum(column) for column in zip(*scores, strict=True))
        precision, recall = tp / (tp + fp), tp / (tp + fn)
        f1 = 2 * precision * recall / (precision + recall)
        empty = sum(not text for text in texts.values())
        print(f"| {name} | {precision:.3f} | {recall:.3f} | {f1:.3f} | {empty} | {ms:.0f} |", flush=True)


if __name__ == "__main__":
    main()
