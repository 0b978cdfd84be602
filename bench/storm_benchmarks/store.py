"""Costs of the index of a large corpus: building, changing, opening, searching.

    python -m storm_benchmarks.store --size 200k

Up to 200,000 passages are text of the Wiki Live pages (at most 50 words, none twice) with vectors of the pinned
embedder, which are encoded once, in hours, and kept; more are made up. Corpus and index are in ``cache/bench-store``.
Queries are statements of the articles. Opening and searching are measured in a process of their own; times of searches
are without the encoding of the query, each the best of three; recall is that of the ten nearest vectors.
"""

import json
import random
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from shutil import rmtree

import numpy as np

from storm_bench.datasets.wiki_live import read_wiki_live
from storm_benchmarks.shared import options, print_table, resident
from storm_pipeline.evidence.retrieval import Vectors
from storm_pipeline.evidence.retrieval.embedder import open_embedder
from storm_pipeline.run.assets import EMBEDDER
from storm_pipeline.sources.engines.corpus import CorpusSearch
from storm_pipeline.text.chunks import chunks
from storm_pipeline.text.plain import plain_text

_REAL, _IN_A_FILE, _DIMENSION, _CENTRES = 200_000, 2_000, 384, 5_000


class Kept:
    """An embedder whose vectors of the corpus are kept in a file; those of a made-up corpus are made up, too."""

    name, dimension = "kept", _DIMENSION

    def __init__(self, folder: Path, texts: Sequence[str], *, is_real: bool, cache: Path) -> None:
        self._places = {text: place for place, text in enumerate(texts)}
        self._vectors, self._embedder = folder / "vectors.npy", open_embedder(EMBEDDER, cache) if is_real else None
        if not self._vectors.exists():
            unfinished = folder / "unfinished.npy"
            np.save(unfinished, self._embedder.embed(texts) if self._embedder else made(len(texts)))
            unfinished.rename(self._vectors)
        self._kept = np.load(self._vectors, mmap_mode="r")

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return the kept vectors; another text is encoded, or gets a vector near that of a passage."""
        if self._embedder and not all(text in self._places for text in texts):
            return self._embedder.embed(texts)
        places = [self._places.get(text, len(text) * 997 % len(self._kept)) for text in texts]
        return np.asarray(self._kept[places])


def made(size: int) -> Vectors:
    """Return unit vectors around random centres."""
    random_numbers = np.random.default_rng(1)
    centres = random_numbers.normal(size=(_CENTRES, _DIMENSION)).astype(np.float32)
    vectors = np.empty((size, _DIMENSION), np.float32)
    for block in np.array_split(np.arange(size), size // 50_000 + 1):
        noise = random_numbers.standard_normal((len(block), _DIMENSION), np.float32)
        vectors[block] = centres[random_numbers.integers(0, _CENTRES, len(block))] + noise
        vectors[block] /= np.linalg.norm(vectors[block], axis=1, keepdims=True)
    return vectors


def passages(size: int, data: Path) -> Iterator[dict[str, str]]:
    """Yield the passages of a corpus, none twice."""
    if size > _REAL:
        words = np.random.default_rng(5).zipf(1.25, (size, 45)) % 300_000
        texts = (" ".join(f"w{word}" for word in row) for row in words)
        yield from ({"url": f"p:{n}", "title": "", "text": text} for n, text in enumerate(texts))
        return
    pages = [page for topic in read_wiki_live(data / "wiki_live").topics for page in topic.documents]
    found = {plain_text(text): page for page in pages for text in chunks(page.text, 50) if len(text.split()) > 7}
    for text in random.Random(7).sample(list(found), size):
        yield {"url": found[text].url, "title": found[text].title, "text": text}


def write_corpus(size: int, data: Path, folder: Path) -> None:
    """Write the passages as JSON lines, unless they are there."""
    if not (folder / "queries.json").exists():
        (folder / "corpus").mkdir(parents=True, exist_ok=True)
        lines = [json.dumps(passage) for passage in passages(size, data)]
        for first in range(0, size, _IN_A_FILE):
            (folder / "corpus" / f"{first:07}.jsonl").write_text("\n".join(lines[first : first + _IN_A_FILE]))
        topics = read_wiki_live(data / "wiki_live").topics if size <= _REAL else ()
        statements = [statement for topic in topics for statement in topic.human.statements] or [
            " ".join(json.loads(line)["text"].split()[:10]) for line in lines[:300]
        ]
        queries = random.Random(3).sample(statements, min(300, len(statements)))
        (folder / "queries.json").write_text(json.dumps(queries))


def build_costs(folder: Path, embedder: Kept) -> Sequence[str]:
    """Build the index, change one file of the corpus, and return the costs."""
    rmtree(folder / "corpora", ignore_errors=True)
    memory = [0.0]
    index = partial(CorpusSearch, folder / "corpus", cache=folder, embedder=embedder)
    start, cpu = time.monotonic(), time.process_time()
    index(check=lambda: memory.append(resident(mapped=False)))
    built, used = time.monotonic() - start, time.process_time() - cpu
    size = sum(path.stat().st_size for path in (folder / "corpora").rglob("*"))
    file = min((folder / "corpus").iterdir())
    first, *others = file.read_text().split("\n")
    file.write_text("\n".join([*others, first]))
    start = time.monotonic()
    index()
    changed = time.monotonic() - start
    return f"{built:.0f}", f"{used:.0f}", f"{changed:.1f}", f"{size / 1e6:,.0f}", f"{max(memory):,.0f}"


def search_costs(folder: Path, embedder: Kept) -> Sequence[str]:
    """Open the index, search, and return the costs and the recall."""
    queries = json.loads((folder / "queries.json").read_text())
    vectors = embedder.embed(queries)
    before = resident()
    start = time.monotonic()
    engine = CorpusSearch(folder / "corpus", cache=folder, embedder=Asked(vectors, queries))
    engine.search(queries[0], 10)
    opened = time.monotonic() - start
    seconds = [min(_seconds(partial(engine.search, query, 10)) for _ in range(3)) for query in queries]
    memory, store = resident() - before, engine._store
    cosines = np.concatenate([block @ vectors.T for block in np.array_split(store.vectors, len(store) // 50_000 + 1)])
    exact = np.argsort(-cosines, axis=0, kind="stable")[:10].T.tolist()
    recall = np.mean(
        [len({*best} & {*store.near(vector)[:10]}) / 10 for best, vector in zip(exact, vectors, strict=True)]
    )
    times = [f"{1000 * np.quantile(seconds, share):.0f}" for share in (0.5, 0.95)]
    return f"{opened:.2f}", f"{memory:.0f}", *times, f"{recall:.3f}"


class Asked:
    """An embedder that has encoded the queries already."""

    name, dimension = Kept.name, _DIMENSION

    def __init__(self, vectors: Vectors, queries: Sequence[str]) -> None:
        self._vectors = dict(zip(queries, vectors, strict=True))

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return the vectors of queries."""
        return np.stack([self._vectors[text] for text in texts])


def _seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def main() -> None:
    """Measure and print a Markdown table."""
    parser = options(__doc__, "data", "cache")
    parser.add_argument("--size", default="200k", help="number of passages, such as 200k or 1m")
    parser.add_argument("--opened", action="store_true", help="open and search only, and print the costs as JSON")
    args = parser.parse_args()
    size = int(args.size.lower().replace("k", "000").replace("m", "000000"))
    folder = args.cache / "bench-store" / str(size)
    if args.opened:
        print(json.dumps(search_costs(folder, Kept(folder, [], is_real=size <= _REAL, cache=args.cache))))
        return
    write_corpus(size, args.data, folder)
    lines = (line for path in sorted((folder / "corpus").iterdir()) for line in path.read_text().split("\n"))
    embedder = Kept(folder, [json.loads(line)["text"] for line in lines], is_real=size <= _REAL, cache=args.cache)
    built = build_costs(folder, embedder)
    program = [sys.executable, "-m", "storm_benchmarks.store"]
    command = [*program, "--size", args.size, "--cache", str(args.cache), "--opened"]
    opened = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    head = (
        "passages|built s|of these CPU|a file changed s|MB on disk|MB to build|opened s|MB open|p50 ms|p95 ms|recall@10"
    )
    print_table(head.split("|"), [[f"{size:,}", *built, *opened]])


if __name__ == "__main__":
    main()
