"""A run's wall time against the critical path of its calls, and the share of prompts that a prefix cache serves.

    python -m storm_benchmarks.speed [--embedder real|stub] [--perspectives 5] [--turns 5] [--runs 3]
        [--recipe storm-iterative] [--latency 0.25 0.002] [--judge model]

The language model replies after 250 ms + 2 ms per completion token, which is fast, so that our own work shows;
``--latency 0.5 0.01`` (100 tokens a second) is nearer to a hosted one. The search engine replies after 100 ms with four
snippets of 100 words per hit. Both are functions of this process, without HTTP, and as many as ask are answered at
once. Every reply and result carries a mark (a made-up word), and a call depends on those whose marks are in its prompt
or query: so the critical path is known whatever the pipeline does. Prompts are counted in GPT-4 tokens.
"""

import argparse
import json
import os
import statistics
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path

import tiktoken

from storm_benchmarks.scripted import MARK, mark_of, pages, scripted_reply
from storm_benchmarks.scripted_lm import scripted_lm
from storm_benchmarks.shared import options, print_table
from storm_pipeline import Snippet, Storm
from storm_pipeline.evidence.retrieval.embedder import HashingEmbedder
from storm_pipeline.run.assets import LEADS, fetch
from storm_pipeline.run.concurrency import tune_process
from storm_pipeline.sources.search.base import NoContents
from storm_pipeline.types import Article

SEARCH_SECONDS = 0.1
_WORDS = 78  # words of encyclopedia text per snippet; about 100 words in total


@dataclass(frozen=True)
class Call:
    """A completed call: kind, prompt, completion tokens, and length of the dependency chain that it ends (seconds)."""

    kind: str
    prompt: str
    tokens_out: int
    chain: float


class Tokenizer:
    """GPT-4's tokenizer, from the file shipped with LiteLLM; no download."""

    def __init__(self) -> None:
        spec = find_spec("litellm")
        assert spec is not None and spec.origin is not None
        os.environ["TIKTOKEN_CACHE_DIR"] = str(Path(spec.origin).parent / "litellm_core_utils" / "tokenizers")
        self._encoding = tiktoken.get_encoding("cl100k_base")

    def __call__(self, text: str) -> list[int]:
        return self._encoding.encode(text, disallowed_special=())


class Bench:
    """A language model and a search engine with fixed latency, and all calls of them with their chains."""

    name = "bench"

    def __init__(self, leads: Path, reply: float, token: float) -> None:
        texts = ((one["title"], one["extract"]) for one in json.loads(leads.read_text(encoding="utf-8")).values())
        self._leads = [(title, text) for title, text in texts if len(text.split()) > 40]
        self._latency, self._tokens = (reply, token), Tokenizer()
        self._lock = threading.Lock()
        self.begin()

    def begin(self) -> None:
        """Forget all calls."""
        self.calls: list[Call] = []
        self._chains: dict[str, float] = {}

    def reply(self, texts: list[str]) -> str:
        """Reply to a prompt: the system's text, and the others."""
        start, prompt = time.monotonic(), "\n".join(texts)
        mark = mark_of(prompt)
        kind, text = scripted_reply(texts[0], texts[-1], mark)
        tokens = len(self._tokens(text))
        latency = self._latency[0] + self._latency[1] * tokens
        self._record(Call(kind, prompt, tokens, latency), mark, start)
        return text

    def search(self, query: str, k: int) -> list[Snippet]:
        """Up to ``k`` pages, four snippets each."""
        start, mark = time.monotonic(), mark_of(query)
        found = pages(query, mark, k, self._leads, _WORDS)
        self._record(Call("search", query, 0, SEARCH_SECONDS), mark, start)
        return [Snippet(one["url"], one["title"], text, engine=self.name) for one in found for text in one["snippets"]]

    def _record(self, call: Call, mark: str, start: float) -> None:
        """Record a call whose chain is its latency alone, with the longest chain among the marks in its prompt."""
        with self._lock:
            before = max((self._chains.get(found, 0.0) for found in MARK.findall(call.prompt)), default=0.0)
            self._chains[mark] = before + call.chain
            self.calls.append(replace(call, chain=self._chains[mark]))
        time.sleep(max(0.0, start + call.chain - time.monotonic()))


def main() -> None:
    """Run and print a Markdown table."""
    parser = options(__doc__, "cache")
    parser.add_argument("--embedder", choices=["real", "stub"], action="append")
    parser.add_argument("--perspectives", type=int, default=5)
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--recipe", default="storm-iterative")
    parser.add_argument("--judge", default="screen", help="screen, or model, which here doubts a sentence in ten")
    parser.add_argument("--latency", type=float, nargs=2, default=(0.25, 0.002), help="seconds a reply, and a token")
    args = parser.parse_args()
    tune_process()
    calls: list[Call] = []
    rows = (_measured(embedder, args, calls) for embedder in args.embedder or ["real", "stub"])
    print_table(("embedder", "wall s", "longest chain s", "ratio (median of runs)", "ratios", "snippets"), rows)
    print()
    head = ("call", "number", "prompt tokens", "from a prefix cache", "completion tokens")
    print_table(head, _token_rows(calls))


def _measured(embedder: str, args: argparse.Namespace, calls: list[Call]) -> tuple[object, ...]:
    """Run several times and return a row; ``calls`` becomes the calls of the last run."""
    bench = Bench(fetch(LEADS, args.cache), *args.latency)
    walls, chains = [], []
    with tempfile.TemporaryDirectory() as out:
        storm = _storm(bench, embedder, args, out)
        storm.outline("warm-up")  # loads models
        for _ in range(args.runs):
            bench.begin()
            start = time.monotonic()
            article = storm.write("Silk Road", recipe=args.recipe)
            walls.append(time.monotonic() - start)
            chains.append(max(call.chain for call in bench.calls))
            _check(article)
    ratios = [wall / chain for wall, chain in zip(walls, chains, strict=True)]
    shown = " ".join(f"{ratio:.2f}" for ratio in ratios)
    snippets = sum(len(source.snippets) for source in article.sources)
    calls[:] = bench.calls
    wall, chain, ratio = map(statistics.median, (walls, chains, ratios))
    return embedder, f"{wall:.1f}", f"{chain:.1f}", f"{ratio:.2f}", shown, snippets


def _storm(bench: Bench, embedder: str, args: argparse.Namespace, out: str) -> Storm:
    encoder = HashingEmbedder() if embedder == "stub" else None
    services = {"lm": scripted_lm(bench.reply), "search": bench, "embedder": encoder, "contents": NoContents()}
    own = {name: getattr(args, name) for name in ("perspectives", "turns", "judge", "cache")}
    return Storm(**services, **own, workers=64, out=Path(out))


def _check(article: Article) -> None:
    """Check that the run wrote an article without failures."""
    assert len(article.sections) >= 4 and article.lead, "the run wrote no article"
    failed = [problem for problem in article.report.problems if problem.kind == "failure"]
    assert not failed, failed


def _token_rows(calls: list[Call]) -> Iterator[tuple[object, ...]]:
    """Yield tokens by kind of call, and the share that a prefix cache would serve."""
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
    for kind in [*total, "all"]:
        n, t, s, o = (c.total() if kind == "all" else c[kind] for c in (number, total, served, out))
        yield kind, n, t, f"{s / t:.1%}", o


def _common(a: list[int], b: list[int]) -> int:
    return next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))


if __name__ == "__main__":
    main()
