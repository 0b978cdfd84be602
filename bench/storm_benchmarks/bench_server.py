"""A fake language model and search engine with fixed latency on loopback, which trace dependencies between calls.

Every reply and search result carries a unique mark (a made-up word). A call depends on the calls whose marks occur in
its prompt or query, so the critical path can be computed from the traffic alone, whatever the pipeline does. The server
runs in a separate process, so that it does not slow down what it measures.
"""

import json
import os
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit
from urllib.request import urlopen

import tiktoken

from storm_benchmarks.local_server import JsonHandler, LocalServer, completion, separate_process, texts_of
from storm_benchmarks.scripted import MARK, mark_of, pages, scripted_reply

SEARCH_SECONDS = 0.1
_WORDS = 78  # words of encyclopedia text per snippet; about 100 words in total


@dataclass(frozen=True)
class Call:
    """A completed call: kind, prompt, tokens, latency, and length of the dependency chain ending with it (seconds)."""

    kind: str
    prompt: str
    tokens_in: int
    tokens_out: int
    latency: float
    chain: float


@dataclass
class Traffic:
    """All calls and their dependency chains."""

    calls: list[Call] = field(default_factory=list)
    _chains: dict[str, float] = field(default_factory=dict)
    _epoch: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def new_mark(self, request: str) -> str:
        """Return a mark unique to this request and measurement."""
        with self._lock:
            return mark_of(f"{self._epoch} {request}")

    def record(self, kind: str, prompt: str, mark: str, *, tokens: tuple[int, int], latency: float) -> None:
        """Record a call; its chain is its latency plus the longest chain among the marks in its prompt."""
        with self._lock:
            before = max((self._chains.get(found, 0.0) for found in MARK.findall(prompt)), default=0.0)
            self._chains[mark] = before + latency
            self.calls.append(Call(kind, prompt, *tokens, latency, before + latency))

    def drain(self) -> list[Call]:
        """Return and clear the calls so far; later replies carry new marks."""
        with self._lock:
            calls, self.calls = self.calls, []
            self._chains.clear()
            self._epoch += 1
            return calls


class Tokenizer:
    """GPT-4's tokenizer, from the file shipped with LiteLLM; no download."""

    def __init__(self) -> None:
        spec = find_spec("litellm")
        assert spec is not None and spec.origin is not None
        os.environ["TIKTOKEN_CACHE_DIR"] = str(Path(spec.origin).parent / "litellm_core_utils" / "tokenizers")
        self._encoding = tiktoken.get_encoding("cl100k_base")

    def __call__(self, text: str) -> list[int]:
        return self._encoding.encode(text, disallowed_special=())


@dataclass(frozen=True)
class Latency:
    """Latency of the language model: seconds before the reply, and per completion token."""

    reply: float = 0.25
    token: float = 0.002

    def of(self, tokens: int) -> float:
        """Return seconds of a reply of so many tokens."""
        return self.reply + self.token * tokens


@dataclass(frozen=True)
class Bench:
    """Client of the server in another process."""

    url: str

    def calls(self) -> list[Call]:
        """Return all calls since the last request for them."""
        with urlopen(f"{self.url}/calls") as answer:
            return [Call(**call) for call in json.load(answer)]


@contextmanager
def serving(leads: Path, latency: Latency = Latency()) -> Iterator[Bench]:
    """Run a server in a separate process within the block."""
    with separate_process(__name__, str(leads.absolute()), str(latency.reply), str(latency.token)) as url:
        yield Bench(url)


class _Server(LocalServer):
    """Serves ``/v1/chat/completions``, ``/v1/search`` and ``/calls``."""

    def __init__(self, leads: list[tuple[str, str]], latency: Latency) -> None:
        super().__init__(_Handler)
        self.latency = latency
        self.traffic = Traffic()
        self.tokens = Tokenizer()
        self.leads = leads


class _Handler(JsonHandler):
    server: _Server

    def do_GET(self) -> None:  # noqa: N802 - the base class's contract
        start = time.monotonic()
        if self.path == "/calls":
            self._reply([asdict(call) for call in self.server.traffic.drain()], start)
            return
        query = parse_qs(urlsplit(self.path).query)
        text, k = query["query"][0], int(query.get("count", ["3"])[0])
        mark = self.server.traffic.new_mark(text)
        body = {"results": {"web": pages(text, mark, k, self.server.leads, _WORDS)}}
        self.server.traffic.record("search", text, mark, tokens=(0, 0), latency=SEARCH_SECONDS)
        self._reply(body, start + SEARCH_SECONDS)

    def do_POST(self) -> None:  # noqa: N802 - the base class's contract
        start = time.monotonic()
        request = self.read()
        prompt = "\n".join(f"<{m['role']}>\n{m['content']}" for m in request["messages"])
        mark = self.server.traffic.new_mark(prompt)
        kind, text = scripted_reply(*texts_of(request), mark)
        tokens = len(self.server.tokens(prompt)), len(self.server.tokens(text))
        latency = self.server.latency.of(tokens[1])
        self.server.traffic.record(kind, prompt, mark, tokens=tokens, latency=latency)
        self._reply(completion(request["model"], mark, text, tokens), start + latency)

    def _reply(self, body: Any, at: float) -> None:
        data = json.dumps(body).encode()
        time.sleep(max(0.0, at - time.monotonic()))
        self.send(data)


def main() -> None:
    """Serve until killed; prints the URL first."""
    leads = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    texts = [(lead["title"], lead["extract"]) for lead in leads.values() if len(lead["extract"].split()) > 40]
    sys.setswitchinterval(1e-4)  # so that replies due at the same time do not wait for each other
    _Server(texts, Latency(*map(float, sys.argv[2:4]))).run()


if __name__ == "__main__":
    main()
