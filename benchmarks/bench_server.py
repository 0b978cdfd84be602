"""A language model and a search engine of fixed latency on loopback, which know what every call depended on.

Every reply and every search result carries a mark of its own (a made-up word). A call depends on the calls whose marks
stand in its prompt or query, so the longest chain of dependent calls is read off the traffic itself, whatever the
pipeline is. It runs in a process of its own, as a served model does, so that it takes nothing from what it measures.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit
from urllib.request import urlopen

import tiktoken

LM_SECONDS, TOKEN_SECONDS, SEARCH_SECONDS = 0.25, 0.002, 0.1
TITLES = ("Origins", "Early development", "Groups affected", "Methods", "Regional differences", "Effects")
_MARK = re.compile(r"\bmark[a-j]{5}\b")
_FACT = re.compile(r"^\[(\d+)\] ([^:\n]*): (.+)$", re.M)


@dataclass(frozen=True)
class Call:
    """One answered call: its kind, the prompt, its latency and the length of the chain that ends with it (seconds)."""

    kind: str
    prompt: str
    tokens_in: int
    tokens_out: int
    latency: float
    chain: float


@dataclass
class Traffic:
    """Everything that was asked, and the chains between."""

    calls: list[Call] = field(default_factory=list)
    _chains: dict[str, float] = field(default_factory=dict)
    _count: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def new_mark(self) -> str:
        """A word that no other reply holds."""
        with self._lock:
            self._count += 1
            return "mark" + f"{self._count:05d}".translate(str.maketrans("0123456789", "abcdefghij"))

    def record(self, kind: str, prompt: str, mark: str, *, tokens: tuple[int, int], latency: float) -> None:
        """Note a call, whose chain is its own latency on top of the longest one that its prompt shows."""
        with self._lock:
            before = max((self._chains.get(found, 0.0) for found in _MARK.findall(prompt)), default=0.0)
            self._chains[mark] = before + latency
            self.calls.append(Call(kind, prompt, *tokens, latency, before + latency))

    def taken(self) -> list[Call]:
        """The calls so far, which are then forgotten."""
        with self._lock:
            calls, self.calls = self.calls, []
            return calls


class Tokenizer:
    """GPT-4's tokens, from the file that LiteLLM carries; nothing is fetched."""

    def __init__(self) -> None:
        spec = find_spec("litellm")
        assert spec is not None and spec.origin is not None
        os.environ["TIKTOKEN_CACHE_DIR"] = str(Path(spec.origin).parent / "litellm_core_utils" / "tokenizers")
        self._encoding = tiktoken.get_encoding("cl100k_base")

    def __call__(self, text: str) -> list[int]:
        return self._encoding.encode(text, disallowed_special=())


@dataclass(frozen=True)
class Bench:
    """A server that runs in another process."""

    url: str

    def calls(self) -> list[Call]:
        """All calls since the last look."""
        with urlopen(f"{self.url}/calls") as answer:
            return [Call(**call) for call in json.load(answer)]


@contextmanager
def serving(leads: Path, *, perspectives: int) -> Iterator[Bench]:
    """Start a server in a process of its own and end it afterwards."""
    command = [sys.executable, __file__, str(leads), str(perspectives)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield Bench(process.stdout.readline().strip())
        finally:
            process.kill()


class _Server(ThreadingHTTPServer):
    """Serves ``/v1/chat/completions``, ``/v1/search`` and ``/calls``; unlimited concurrency."""

    daemon_threads = True
    request_queue_size = 256

    def __init__(self, leads: list[tuple[str, str]], *, perspectives: int) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.traffic = Traffic()
        self.tokens = Tokenizer()
        self.perspectives = perspectives
        self._leads = leads
        self._served = 0
        self._lock = threading.Lock()

    @property
    def url(self) -> str:
        """Root address."""
        return f"http://127.0.0.1:{self.server_port}"

    def hits(self, k: int, mark: str) -> list[dict[str, Any]]:
        """``k`` pages of real encyclopedia text, four snippets of about 100 words each, all of them new."""
        pages = []
        for _ in range(k):
            snippets = []
            for _ in range(4):
                with self._lock:
                    title, text = self._leads[self._served % len(self._leads)]
                    self._served += 1
                    number = self._served
                words = text.split()
                opening = " ".join((words * (100 // len(words) + 1))[:78]).rstrip(",;. ")
                aspect = TITLES[number % len(TITLES)].lower()
                snippets.append(
                    f"{opening}. The {aspect} of the Silk Road, as {mark} tells, concerned {number} towns and {title}."
                )
            pages.append({"url": f"https://site{number}.example/{mark}", "title": title, "snippets": snippets})
        return pages


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    disable_nagle_algorithm = True  # else the kernel adds up to 40 ms to a reply
    wbufsize = -1
    protocol_version = "HTTP/1.1"

    def log_message(self, *args: Any) -> None:
        """Stay silent."""

    def do_GET(self) -> None:
        start = time.monotonic()
        if self.path == "/calls":
            self._reply([asdict(call) for call in self.server.traffic.taken()], start)
            return
        query = parse_qs(urlsplit(self.path).query)
        text, k = query["query"][0], int(query.get("count", ["3"])[0])
        mark = self.server.traffic.new_mark()
        body = {"results": {"web": self.server.hits(k, mark)}}
        self.server.traffic.record("search", text, mark, tokens=(0, 0), latency=SEARCH_SECONDS)
        self._reply(body, start + SEARCH_SECONDS)

    def do_POST(self) -> None:
        start = time.monotonic()
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        prompt = "\n".join(f"<{m['role']}>\n{m['content']}" for m in request["messages"])
        mark = self.server.traffic.new_mark()
        kind, text = scripted(request["messages"], mark, self.server.perspectives)
        tokens = len(self.server.tokens(prompt)), len(self.server.tokens(text))
        latency = LM_SECONDS + TOKEN_SECONDS * tokens[1]
        self.server.traffic.record(kind, prompt, mark, tokens=tokens, latency=latency)
        usage = {"prompt_tokens": tokens[0], "completion_tokens": tokens[1], "total_tokens": sum(tokens)}
        message = {"role": "assistant", "content": text}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        body = {
            "id": mark,
            "object": "chat.completion",
            "created": 0,
            "model": request["model"],
            "choices": [choice],
            "usage": usage,
        }
        self._reply(body, start + latency)

    def _reply(self, body: Any, at: float) -> None:
        data = json.dumps(body).encode()
        time.sleep(max(0.0, at - time.monotonic()))
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)
        self.wfile.flush()


def scripted(messages: list[dict[str, str]], mark: str, perspectives: int) -> tuple[str, str]:
    """A reply of realistic length and form to each of the pipeline's prompts, recognised by its instructions."""
    system, user = messages[0]["content"], messages[-1]["content"]
    for told, kind, answer in _ANSWERS:
        if told in system:
            return kind, answer(user, mark, perspectives)
    raise ValueError(f"the benchmark has no reply for this prompt: {system[:80]}")


def _editors(_: str, mark: str, perspectives: int) -> str:
    focus = "Side {} of the topic, with its causes, its course and its effects."
    letters = "ABCDEFGHIJKLMNOPQRST"[:perspectives]
    return json.dumps({"editors": [{"name": f"Editor {c} {mark}", "focus": focus.format(c)} for c in letters]})


def _outline(_: str, mark: str, __: int) -> str:
    below = ("Background of {} " + mark, "Course of {}")
    sections = [{"title": t, "subsections": [b.format(t.lower()) for b in below]} for t in TITLES]
    return json.dumps({"sections": sections})


def _from_facts(user: str, mark: str, *, sentences: int) -> str:
    """Sentences in other words than the facts that they cite: the same content words in another order."""
    facts = _FACT.findall(user)[-sentences * 2 :]
    told = []
    for number, _, text in facts[:sentences]:
        words = text.rstrip(".").split()[:24]
        half = len(words) // 2
        mixed = [w for pair in zip(words[half:], words[:half], strict=False) for w in pair]
        told.append(f"In {mark}, {' '.join(mixed)} [{number}].")
    return " ".join(told)


def _sentences(text: str) -> list[str]:
    return [s.strip() + "." for s in re.split(r"\.\s", text) if len(s.split()) > 4 and "#" not in s]


_ANSWERS: list[tuple[str, str, Callable[[str, str, int], str]]] = [
    (
        "closely related to the topic",
        "related topics",
        lambda _, mark, __: json.dumps({"related_topics": [f"Related subject {c} {mark}" for c in "ABCDE"]}),
    ),
    ("group of editors", "perspectives", _editors),
    (
        "interview an expert",
        "question",
        lambda _, mark, __: (
            f"How did {mark} shape the early development of the topic, and who was most affected by it?"
        ),
    ),
    (
        "search-engine queries",
        "queries",
        lambda _, mark, __: json.dumps(
            {"queries": [f"{mark} {s}" for s in ("early development", "groups", "effects")]}
        ),
    ),
    ("answer an encyclopedia writer", "answer", lambda user, mark, _: _from_facts(user, mark, sentences=4)),
    ("Improve the outline", "outline", _outline),
    ("Write the outline", "draft outline", _outline),
    ("Write one section", "section", lambda user, mark, _: _from_facts(user, mark, sentences=8)),
    ("Write the opening", "lead", lambda user, _, __: " ".join(_sentences(user.split("\n", 2)[-1])[:5])),
    ("numbered pair", "repetition", lambda *_: json.dumps({"repeated": [1]})),
    (
        "Say the same",
        "reworded",
        lambda user, *_: " ".join(reversed(user.split("Sentence:")[-1].strip(" .").split())) + ".",
    ),
]


def main() -> None:
    """Serve until killed; the first line printed is the address."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("leads", type=Path)
    parser.add_argument("perspectives", type=int)
    options = parser.parse_args()
    leads = json.loads(options.leads.read_text(encoding="utf-8"))
    texts = [(lead["title"], lead["extract"]) for lead in leads.values() if len(lead["extract"].split()) > 40]
    server = _Server(texts, perspectives=options.perspectives)
    print(server.url, flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
