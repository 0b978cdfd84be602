"""A run's wall time against the critical path of its calls, and the share of prompts that a prefix cache serves.

    python -m storm_benchmarks.speed [--embedder real|stub] [--perspectives 5] [--turns 5] [--runs 3]
        [--recipe storm-iterative] [--latency 0.25 0.002] [--judge model]

The language model replies after 250 ms + 2 ms per completion token, which is fast, so that our own work shows;
``--latency 0.5 0.01`` (100 tokens a second) is nearer to a hosted one. The search engine replies after 100 ms with four
snippets of 100 words per hit. Both have unlimited concurrency (`bench_server.py`). Prompts are counted in
GPT-4 tokens.
"""

import argparse
import math
import statistics
import tempfile
import time
from collections import Counter
from pathlib import Path

from storm_benchmarks.bench_server import Bench, Call, Latency, Tokenizer, serving
from storm_benchmarks.shared import options
from storm_pipeline import Storm
from storm_pipeline.evidence.retrieval.embedder import HashingEmbedder
from storm_pipeline.run.assets import LEADS, fetch
from storm_pipeline.run.concurrency import tune_process
from storm_pipeline.run.events import CallbackSink, Event, StageFinished
from storm_pipeline.sources.engines.you import SERVICE
from storm_pipeline.sources.search.tables_of_contents import NoContents
from storm_pipeline.sources.search.web_service import WebServiceSearch
from storm_pipeline.types import Article


def main() -> None:
    """Run and print a Markdown table."""
    parser = options(__doc__, "cache")
    parser.add_argument("--embedder", choices=["real", "stub"], action="append")
    parser.add_argument("--perspectives", type=int, default=5)
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--recipe", default="storm-iterative")
    parser.add_argument("--judge", default="screen", help="screen, or model, which here doubts a sentence in ten")
    parser.add_argument("--stages", action="store_true", help="also print the wall time of every stage")
    parser.add_argument("--latency", type=float, nargs=2, default=(0.25, 0.002), help="seconds a reply, and a token")
    args = parser.parse_args()
    tune_process()
    print("| embedder | wall s | longest chain s | ratio (median of runs) | ratios | snippets |")
    print("|---|---|---|---|---|---|")
    calls: list[Call] = []
    for embedder in args.embedder or ["real", "stub"]:
        calls = measure(embedder, args)
    print()
    print_tokens(calls)


def measure(embedder: str, args: argparse.Namespace) -> list[Call]:
    """Run several times, print one row, and return the calls of the last run."""
    leads = fetch(LEADS, args.cache)
    walls, chains = [], []
    with tempfile.TemporaryDirectory() as out, serving(leads, Latency(*args.latency)) as bench:
        stages: list[str] = []
        storm = _storm(bench, embedder, args, out, stages)
        storm.outline("warm-up")  # loads models, opens connections
        for _ in range(args.runs):
            bench.calls()
            stages.clear()
            start = time.monotonic()
            article = storm.write("Silk Road", recipe=args.recipe)
            walls.append(time.monotonic() - start)
            calls = bench.calls()
            chains.append(max(call.chain for call in calls))
            _check(article)
        if args.stages:
            print("\n".join(stages))
    ratios = [wall / chain for wall, chain in zip(walls, chains, strict=True)]
    shown = " ".join(f"{ratio:.2f}" for ratio in ratios)
    snippets = sum(len(source.snippets) for source in article.sources)
    row = (embedder, f"{statistics.median(walls):.1f}", f"{statistics.median(chains):.1f}")
    print(f"| {' | '.join(row)} | {statistics.median(ratios):.2f} | {shown} | {snippets} |", flush=True)
    return calls


def _storm(bench: Bench, embedder: str, args: argparse.Namespace, out: str, stages: list[str]) -> Storm:
    def note(event: Event) -> None:
        if isinstance(event, StageFinished):
            stages.append(f"  {event.stage}: {event.seconds:.2f} s")

    return Storm(
        lm=f"openai/gpt-4o-mini@{bench.url}/v1",  # a model with a known price: for others DSPy searches its whole table
        search=WebServiceSearch(SERVICE, "none", base_url=f"{bench.url}/v1/search", rate=math.inf),
        embedder=HashingEmbedder() if embedder == "stub" else None,
        contents=NoContents(),
        sinks=[CallbackSink(note)],
        perspectives=args.perspectives,
        turns=args.turns,
        judge=args.judge,
        workers=64,
        out=Path(out),
        cache=args.cache,
    )


def _check(article: Article) -> None:
    """Check that the run wrote an article without failures."""
    assert len(article.sections) >= 4 and article.lead, "the run wrote no article"
    failed = [problem for problem in article.report.problems if problem.kind == "failure"]
    assert not failed, failed


def print_tokens(calls: list[Call]) -> None:
    """Print tokens by kind of call, and the share that a prefix cache would serve."""
    tokens = Tokenizer()
    seen: list[list[int]] = []
    number, total, served, out = (Counter[str]() for _ in range(4))
    for call in (call for call in calls if call.kind != "search"):
        prompt = tokens(call.prompt)
        total[call.kind] += len(prompt)
        served[call.kind] += max((_common(prompt, other) for other in seen), default=0)
        seen.append(prompt)
        out[call.kind] += call.tokens_out
        number[call.kind] += 1
    print("| call | number | prompt tokens | from a prefix cache | completion tokens |")
    print("|---|---|---|---|---|")
    for kind in [*total, "all"]:
        n, t, s, o = (c.total() if kind == "all" else c[kind] for c in (number, total, served, out))
        print(f"| {kind} | {n} | {t} | {s / t:.1%} | {o} |")


def _common(a: list[int], b: list[int]) -> int:
    return next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))


if __name__ == "__main__":
    main()
