"""Retrieval quality of sparse, dense, fused, and two-stage (lexical, then fused) ranking.

    python -m storm_benchmarks.retrieval [--data ../shared/data] [--topics 20] [--words 150 256]

Cranfield: 225 questions over 1,400 abstracts; grades from 1 up count as relevant. WikiGenBench: pooled pages of many
topics, with the topic's name as query and its own pages as relevant. A page ranks as its best passage does.
``staged-N`` embeds only the top N passages of BM25 for the query.
"""

import json
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import ir_measures
import numpy as np
from ir_measures import RR, R, nDCG

from storm_benchmarks.shared import cranfield, options
from storm_pipeline.documents.chunks import chunks
from storm_pipeline.retrieval.embedder import Embedder, open_embedder
from storm_pipeline.retrieval.lexical import LexicalIndex
from storm_pipeline.retrieval.ranking import fused

MEASURES = [nDCG @ 10, RR, R @ 50]
DEPTHS = (10, 20, 50, 100)
_MIN_WORDS, _MAX_PASSAGES = 50, 40


@dataclass(frozen=True)
class Collection:
    """Pages by id (title and text), queries by id, and for each query the relevant pages."""

    name: str
    pages: dict[str, tuple[str, str]]
    queries: dict[str, str]
    relevant: dict[str, set[str]]


def main() -> None:
    """Print a Markdown table for each collection and passage length."""
    parser = options(__doc__, "data", "cache")
    parser.add_argument("--topics", type=int, default=20, help="topics of WikiGenBench to pool")
    parser.add_argument("--words", type=int, nargs="+", default=[150, 256], help="maximum words per passage")
    parser.add_argument("--embedder", default="all-MiniLM-L6-v2")
    args = parser.parse_args()
    embedder = open_embedder(args.embedder, args.cache)
    print(f"| collection | passages | retriever | {' | '.join(map(str, MEASURES))} | embedded |")
    print("|---|---|---|---|---|---|---|")
    for collection in (
        Collection("Cranfield", *cranfield(args.data / "cranfield")),
        wikigenbench(args.data / "wikigenbench", args.topics),
    ):
        for words in args.words:
            for row in rows(collection, words, embedder):
                print(row, flush=True)


def rows(collection: Collection, words: int, embedder: Embedder) -> Iterator[str]:
    """One table row per retriever."""
    owners, texts = [], []
    for page, (title, text) in collection.pages.items():
        for passage in chunks(text, words)[:_MAX_PASSAGES]:
            owners.append(page)
            texts.append(f"{title}\n{passage}")
    start = time.monotonic()
    passages, queries = embedder.embed(texts), embedder.embed(list(collection.queries.values()))
    seconds = time.monotonic() - start
    sparse = LexicalIndex(([(text, 1)] for text in texts), floor=0.0)
    lexical = {i: [match.position for match in sparse.search(query)] for i, query in collection.queries.items()}
    dense = {
        i: np.argsort(-(passages @ query), kind="stable") for i, query in zip(collection.queries, queries, strict=True)
    }
    name = f"{collection.name} ({len(collection.queries)} queries, {len(collection.pages)} pages)"
    size = f"{len(texts)} of ≤ {words} words"
    variants = {
        "sparse": (lexical, "0%"),
        "dense": ({i: row.tolist() for i, row in dense.items()}, "100%"),
        "fused": ({i: fused([lexical[i][:100], dense[i][:100].tolist()]) for i in lexical}, "100%"),
    }
    for depth in DEPTHS:
        ranked = {i: _staged(lexical[i], dense[i], depth) for i in lexical}
        needed = {i for own in lexical.values() for i in own[:depth]}  # what is embedded for all queries together
        variants[f"staged-{depth}"] = ranked, f"{len(needed) / len(texts):.0%}"
    for retriever, (ranked, embedded) in variants.items():
        yield f"| {name} | {size} | {retriever} | {_scores(collection, owners, ranked)} | {embedded} |"
    took = f"{seconds:.0f} s, {1000 * seconds / len(texts):.1f} ms each"
    yield f"| {name} | {size} | (embedding all took {took}) | | | | |"


def _staged(lexical: list[int], dense: "np.ndarray[tuple[int], np.dtype[np.int64]]", depth: int) -> list[int]:
    near = set(lexical[:depth])
    return fused([lexical[:100], [i for i in dense.tolist() if i in near]])


def _scores(collection: Collection, owners: list[str], ranked: dict[str, list[int]]) -> str:
    judged = [ir_measures.Qrel(i, page, 1) for i, pages in collection.relevant.items() for page in pages]
    run = [
        ir_measures.ScoredDoc(i, page, -rank)
        for i, positions in ranked.items()
        for rank, page in enumerate(dict.fromkeys(owners[position] for position in positions))
    ]
    found = ir_measures.calc_aggregate(MEASURES, judged, run)
    return " | ".join(f"{found[measure]:.3f}" for measure in MEASURES)


def wikigenbench(folder: Path, topics: int) -> Collection:
    """Pages that a search engine found for the first topics, pooled; very short ones are block pages and skipped."""
    pages: dict[str, tuple[str, str]] = {}
    queries: dict[str, str] = {}
    relevant: dict[str, Any] = {}
    for file in sorted((folder / "google").glob("*.json")):
        own = [(hit["title"], hit["text"]) for hit in _read(file) if len(hit["text"].split()) >= _MIN_WORDS]
        if len(own) < 3 or len(queries) == topics:
            continue
        ids = [f"{file.stem}-{n}" for n in range(len(own))]
        pages |= dict(zip(ids, own, strict=True))
        queries[file.stem] = _read(folder / "wiki" / file.name)["key"].replace("_", " ")
        relevant[file.stem] = set(ids)
    return Collection("WikiGenBench", pages, queries, relevant)


def _read(file: Path) -> Any:
    return json.loads(file.read_text(encoding="utf-8"))


if __name__ == "__main__":
    main()
