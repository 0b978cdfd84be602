"""Cost of the reference store against its alternatives. Prints Markdown tables.

    python -m storm_benchmarks.store embedders --model FOLDER --cranfield FOLDER
    python -m storm_benchmarks.store scale --model FOLDER --leads FILE

Reports CPU time (all threads) and wall time; on a shared machine trust CPU time.
"""

import argparse
import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import ir_measures
import numpy as np
from ir_measures import nDCG

from storm_benchmarks.shared import cranfield, options, print_table
from storm_pipeline.references.store import ReferenceStore
from storm_pipeline.retrieval.embedder import SentenceTransformerEmbedder, Vectors
from storm_pipeline.retrieval.int8_bert import Int8BertEmbedder
from storm_pipeline.retrieval.lexical import LexicalIndex
from storm_pipeline.retrieval.ranking import fused
from storm_pipeline.types import Snippet

Embed = Callable[[Sequence[str]], Vectors]
DEPTH = 100


@contextmanager
def timed(into: dict[str, tuple[float, float]], name: str) -> Iterator[None]:
    """Record wall and CPU seconds of a block."""
    wall, processor = time.perf_counter(), time.process_time()
    yield
    into[name] = (time.perf_counter() - wall, time.process_time() - processor)


def float32(model: Path, longest: int = 256) -> Embed:
    """Unmodified sentence-transformers; texts are truncated to ``longest`` tokens."""
    from sentence_transformers import SentenceTransformer

    network = SentenceTransformer(str(model), device="cpu", local_files_only=True)
    network.max_seq_length = longest
    return lambda texts: network.encode(list(texts), normalize_embeddings=True, show_progress_bar=False)


def static(model: Path) -> Embed:
    """The mean of the model's input embeddings, without running the network."""
    from safetensors.numpy import load_file
    from tokenizers import Tokenizer

    words = load_file(model / "model.safetensors")["embeddings.word_embeddings.weight"]
    tokenizer = Tokenizer.from_file(str(model / "tokenizer.json"))
    tokenizer.no_padding()

    def embed(texts: Sequence[str]) -> Vectors:
        means = np.stack([words[encoding.ids].mean(axis=0) for encoding in tokenizer.encode_batch(list(texts))])
        unit: Vectors = means / np.linalg.norm(means, axis=1, keepdims=True)
        return unit

    return embed


def questions_on(folder: Path, documents: int) -> tuple[list[str], list[str], list[set[int]]]:
    """Cranfield's first documents, the questions that some of them answer, and the indices of the answers to each."""
    pages, queries, relevant = cranfield(folder)
    places = {page: place for place, page in enumerate(list(pages)[:documents])}
    answers = {question: {places[page] for page in own if page in places} for question, own in relevant.items()}
    kept = [question for question in queries if answers.get(question)]
    return [pages[page][1] for page in places], [queries[one] for one in kept], [answers[one] for one in kept]


def ndcg(rankings: Sequence[Sequence[int]], answers: Sequence[set[int]]) -> float:
    """Mean nDCG@10 with binary gains, in [0, 1]."""
    judged = [ir_measures.Qrel(str(i), str(page), 1) for i, own in enumerate(answers) for page in own]
    run = [ir_measures.ScoredDoc(str(i), str(page), -n) for i, own in enumerate(rankings) for n, page in enumerate(own)]
    return float(ir_measures.calc_aggregate([nDCG @ 10], judged, run)[nDCG @ 10])


def embedders(args: argparse.Namespace) -> None:
    """Cost and retrieval quality of the embedders."""
    import torch

    torch.set_num_threads(args.threads)
    texts, questions, answers = questions_on(args.cranfield, args.documents)
    short = [" ".join(text.split()[:100]) for text in texts if len(text.split()) >= 100][: args.timed]
    ways: dict[str, Embed] = {
        "float32, 256 tokens": float32(args.model),
        "float32, 128 tokens": float32(args.model, 128),
        "**int8 per token (ours)**": Int8BertEmbedder(args.model, threads=args.threads).embed,
        "static token embeddings": static(args.model),
    }
    costs: dict[str, list[tuple[float, float]]] = {name: [] for name in ways}
    for _ in range(args.rounds):
        for name, embed in ways.items():
            spent: dict[str, tuple[float, float]] = {}
            with timed(spent, name):
                embed(short)
            costs[name].append(spent[name])
    index = LexicalIndex(([(text, 1)] for text in texts), floor=0.0)
    lexical = [[match.position for match in index.search(question)][:DEPTH] for question in questions]
    reference = ways["float32, 256 tokens"](texts)
    rows = [["BM25 alone", "", "", "", "", "", f"{ndcg(lexical, answers):.3f}", ""]]
    base = min(processor for _, processor in costs["float32, 256 tokens"])
    for name, embed in ways.items():
        vectors = reference if name == "float32, 256 tokens" else embed(texts)
        scores = embed(questions) @ vectors.T
        dense = np.argsort(-scores, axis=1, kind="stable")[:, :DEPTH].tolist()
        hybrid = [fused(pair) for pair in zip(dense, lexical, strict=True)]
        again = [sorted(found, key=(-row).__getitem__) for found, row in zip(lexical, scores, strict=True)]
        first = [fused(pair) for pair in zip(again, lexical, strict=True)]
        wall, processor = (min(costs) / len(short) * 1e3 for costs in zip(*costs[name], strict=True))
        cosine = (reference * vectors).sum(axis=1)
        cells = (
            f"{processor:.1f}",
            f"{wall:.1f}",
            f"{base / len(short) * 1e3 / processor:.2f}×",
            f"{cosine.mean():.4f}",
        )
        rows.append([name, *cells, *(f"{ndcg(own, answers):.3f}" for own in (dense, hybrid, first))])
    print(
        f"{len(short)} texts of 100 words, {args.threads} threads, best of {args.rounds} alternating rounds; "
        f"nDCG@10 over {len(texts)} Cranfield documents and {len(questions)} questions.\n"
    )
    header = ["way", "CPU ms a text", "wall ms", "speed", "cosine to float32", "dense", "fused", "BM25 top 100 only"]
    print_table(header, rows)


def lead_texts(path: Path, count: int) -> list[Snippet]:
    """Leads of Wikipedia articles as snippets."""
    leads = json.loads(path.read_text("utf-8")).values()
    found = [
        Snippet(f"https://en.wikipedia.org/wiki/{lead['title']}", lead["title"], lead["extract"]) for lead in leads
    ]
    return [snippet for snippet in found if snippet.text][:count]


def query_batches(snippets: Sequence[Snippet]) -> list[list[str]]:
    """50 information needs with three queries each."""
    titles = [snippet.title for snippet in snippets[:: max(1, len(snippets) // 50)]][:50]
    return [[title, f"History of {title}", f"{title}: importance and influence"] for title in titles]


def plain(snippets: Sequence[Snippet], embed: Embed) -> dict[str, tuple[float, float]]:
    """A baseline of embedder and FAISS only: no deduplication, no BM25, no checks."""
    import faiss

    spent: dict[str, tuple[float, float]] = {}
    with timed(spent, "add and embed"):
        index = faiss.IndexFlatIP(384)
        index.add(embed([snippet.text for snippet in snippets]))
    faiss.omp_set_num_threads(1)
    batches = [embed(queries) for queries in query_batches(snippets)]
    index.search(batches[0], 10)
    with timed(spent, "query batch"):
        for vectors in batches:
            index.search(vectors, 10)
    return spent


def through_store(snippets: Sequence[Snippet], embedder: Int8BertEmbedder) -> dict[str, tuple[float, float]]:
    """The same operations with the reference store."""
    spent: dict[str, tuple[float, float]] = {}
    with ReferenceStore(embedder) as store:
        with timed(spent, "add and embed"):
            store.add(snippets)
            store.search(["first"], 1)
        batches = query_batches(snippets)
        for queries in batches:
            store.embed(queries)
        with timed(spent, "query batch"):
            for queries in batches:
                store.search_fused(queries, 10)
    return spent


def measure(args: argparse.Namespace) -> None:
    """Measure one system in this process; prints JSON for :func:`scale`."""
    snippets = lead_texts(args.leads, args.snippets)
    embedder = Int8BertEmbedder(args.model, threads=args.threads)
    if args.system == "store":
        embedder.embed(["warm"])
        spent = through_store(snippets, embedder)
    else:
        exact = SentenceTransformerEmbedder(args.model, threads=args.threads)
        embed = embedder.embed if args.system == "plain int8" else exact.embed
        embed(["warm"])
        spent = plain(snippets, embed)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({"spent": spent, "peak": peak, "snippets": len(snippets)}))


def scale(args: argparse.Namespace) -> None:
    """Compare the systems, each in a separate process."""
    systems = [*(["plain float32"] if args.float32 else []), "plain int8", "store"]
    results = {}
    for system in systems:
        command = [sys.executable, __file__, *sys.argv[1:], "--system", system]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        results[system] = json.loads(done.stdout.splitlines()[-1])
    print(f"{results['store']['snippets']} snippets, {args.threads} threads; processor seconds (wall seconds).\n")
    rows = []
    for step in results["store"]["spent"]:
        many = 50 if step == "query batch" else 1
        cells = []
        for system in systems:
            wall, processor = results[system]["spent"].get(step, (None, None))
            cells.append("" if wall is None else f"{processor / many:.4g} ({wall / many:.4g})")
        rows.append([step, *cells])
    rows.append(["peak memory, MiB", *(f"{results[system]['peak']:.0f}" for system in systems)])
    print_table(["step", *systems], rows)


def main() -> None:
    """Parse the command line and run."""
    parser = options(__doc__)
    commands = parser.add_subparsers(required=True)
    for command, run in (("embedders", embedders), ("scale", scale)):
        sub = commands.add_parser(command, help=run.__doc__)
        sub.set_defaults(run=run)
        sub.add_argument("--model", type=Path, required=True, help="folder of all-MiniLM-L6-v2")
        sub.add_argument("--threads", type=int, default=2)
        if run is embedders:
            sub.add_argument("--cranfield", type=Path, required=True, help="folder of the Cranfield collection")
            sub.add_argument("--documents", type=int, default=1400)
            sub.add_argument("--timed", type=int, default=100, help="texts to time")
            sub.add_argument("--rounds", type=int, default=3)
        else:
            sub.add_argument("--leads", type=Path, required=True, help="JSON of Wikipedia leads")
            sub.add_argument("--snippets", type=int, default=10_000)
            sub.add_argument("--float32", action="store_true", help="also measure plain float32, which takes longest")
            sub.add_argument("--system", help=argparse.SUPPRESS)
    args = parser.parse_args()
    (measure if getattr(args, "system", None) else args.run)(args)


if __name__ == "__main__":
    main()
