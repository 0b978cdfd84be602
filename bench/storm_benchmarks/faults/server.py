"""A language model and a search engine that inject faults and log every call.

Serves an OpenAI-compatible ``/v1/chat/completions`` and a SearXNG ``/search`` under ``/RUN``, the name of a run; each
run may have a fault plan (``PUT /RUN/plan``). Replies and faults depend only on the request and the number of its
repetitions, so runs are reproducible. The log, one line per call, is served at ``/RUN/log`` and appended to a file,
which outlives the server.
"""

import json
import select
import socket
import struct
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import product
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit
from urllib.request import Request, urlopen

from pydantic import TypeAdapter

from storm_benchmarks.faults.kinds import OK, Plan, Sent, sent_for
from storm_benchmarks.scripted import mark_of, number_of, pages, scripted_reply

_BENCH = Path(__file__).resolve().parents[2]
_HITS, _WORDS = 12, 20  # hits per result page, more than any search requests
_GOODS = "silk spice glass paper jade amber ivory cotton salt wool copper lacquer".split()
_PLACES = "Varn Oselle Kitta Marrow Dunmere Tolva Issel Brant Quill Harrow Selby Corvane".split()


@dataclass(frozen=True)
class Line:
    """One call in the log."""

    run: str  # name of the run
    kind: str  # kind of prompt, or ``search``
    key: str  # hash of the request
    attempt: int  # number of earlier calls with this key
    fault: str  # the injected fault; ``ok`` for none
    received: float  # when it was received, in seconds since the epoch
    ended: float = 0.0  # when the reply was sent or abandoned; 0 while the call is open
    whole: bool = False  # whether the complete reply was written to an open connection


class Log:
    """The calls so far, in memory and in a file. Thread-safe."""

    def __init__(self, file: Path) -> None:
        self._stream = file.open("a", encoding="utf-8")
        self._lines: list[Line] = []
        self._asked: Counter[tuple[str, str]] = Counter()
        self._lock = threading.Lock()

    def begin(self, run: str, kind: str, key: str, plan: Plan) -> tuple[int, Line, float]:
        """Record a received call; returns its number, its line and its latency."""
        with self._lock:
            attempt = self._asked[run, key]
            self._asked[run, key] += 1
            fault, latency = plan.drawn(key, attempt, search=kind == "search")
            line = Line(run, kind, key, attempt, fault, time.time())
            self._lines.append(line)
            return len(self._lines) - 1, line, latency

    def end(self, number: int, *, whole: bool) -> None:
        """Record the end of a call, and write its line."""
        with self._lock:
            line = self._lines[number] = replace(self._lines[number], ended=time.time(), whole=whole)
            self._stream.write(json.dumps(asdict(line)) + "\n")
            self._stream.flush()

    def of(self, run: str) -> list[Line]:
        """Return the calls of one run, in order of arrival."""
        with self._lock:
            return [line for line in self._lines if line.run == run]


@dataclass(frozen=True)
class FaultBench:
    """Client of the server in another process."""

    url: str

    @property
    def place(self) -> str:
        """Host and port."""
        return urlsplit(self.url).netloc

    def lm(self, run: str) -> str:
        """Return the language model of a run, as settings name it."""
        return f"openai/bench@{self.url}/{run}/v1"

    def search(self, run: str) -> str:
        """Return the URL of the search engine of a run."""
        return f"{self.url}/{run}"

    def plan(self, run: str, plan: Plan) -> None:
        """Set the fault plan of a run; by default no call fails."""
        body = json.dumps(asdict(plan)).encode()
        urlopen(Request(f"{self.url}/{run}/plan", data=body, method="PUT")).close()

    def wait_for_calls(self) -> None:
        """Wait until no other connection is open: also calls of a killed client are in the log then."""
        while urlopen(f"{self.url}/connections").read() != b"1":
            time.sleep(0.01)

    def log(self, run: str, timeout: float = 5.0) -> list[Line]:
        """Return the calls of a run; waits up to ``timeout`` seconds for open ones."""
        until = time.monotonic() + timeout
        while True:
            with urlopen(f"{self.url}/{run}/log") as answer:
                lines = [Line(**line) for line in json.load(answer)]
            if all(line.ended for line in lines) or time.monotonic() > until:
                return lines
            time.sleep(0.02)


@contextmanager
def serving(log: Path) -> Iterator[FaultBench]:
    """Run the server in a separate process within the block; the log is appended to a file."""
    command = [sys.executable, "-m", __name__, str(log.absolute())]
    with subprocess.Popen(command, cwd=_BENCH, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield FaultBench(process.stdout.readline().strip())
        finally:
            process.kill()


class _Server(ThreadingHTTPServer):
    """A threading server on a free port of loopback, without a concurrency limit."""

    daemon_threads = True
    request_queue_size = 256

    def __init__(self, log: Path) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.log = Log(log)
        self.plans: dict[str, Plan] = {}

    def handle_error(self, *request: Any) -> None:
        """Ignore connections dropped by killed clients."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(*request)


class _Handler(BaseHTTPRequestHandler):
    """Reads and writes JSON over persistent connections."""

    server: _Server
    disable_nagle_algorithm = True  # Nagle's algorithm adds up to 40 ms to a reply
    wbufsize = -1
    protocol_version = "HTTP/1.1"

    def log_message(self, *args: Any) -> None:
        """Stay silent."""

    def _body(self) -> Any:
        return json.loads(self.rfile.read(int(self.headers["Content-Length"])))

    def send(self, data: bytes, status: int = 200, headers: Mapping[str, str] | None = None) -> None:
        """Send a complete response."""
        self.send_response(status)
        all_headers = {"Content-Type": "application/json", "Content-Length": str(len(data))} | dict(headers or {})
        for name, value in all_headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)
        self.wfile.flush()

    def do_PUT(self) -> None:
        self.server.plans[self._run()] = TypeAdapter(Plan).validate_python(self._body())
        self.send(b"{}")

    def do_GET(self) -> None:
        if self.path == "/connections":  # each has a thread; they are accepted in the order of arrival
            return self.send(b"%d" % (threading.active_count() - 1))
        if self.path.endswith("/log"):
            return self.send(json.dumps([asdict(line) for line in self.server.log.of(self._run())]).encode())
        asked = parse_qs(urlsplit(self.path).query)
        query, page = asked["q"][0], asked.get("pageno", ["1"])[0]
        return self._reply("search", f"search {query} {page}", _results(query) if page == "1" else {"results": []})

    def do_POST(self) -> None:
        request = self._body()
        prompt = json.dumps(request["messages"], ensure_ascii=False)
        system, user = (request["messages"][place]["content"] for place in (0, -1))
        kind, text = scripted_reply(system, user, mark_of(prompt))
        sent, came = len(prompt.split()), len(text.split())
        choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
        usage = {"prompt_tokens": sent, "completion_tokens": came, "total_tokens": sent + came}
        made = {"id": mark_of(prompt), "object": "chat.completion", "created": 0, "model": request["model"]}
        self._reply(kind, prompt, made | {"choices": [choice], "usage": usage})

    def _run(self) -> str:
        return unquote(self.path.split("/")[1])

    def _reply(self, kind: str, request: str, body: dict[str, Any]) -> None:
        run, key = self._run(), f"{number_of(request):012x}"
        plan = self.server.plans.get(run, Plan())
        number, line, latency = self.server.log.begin(run, kind, key, plan)
        whole = False
        try:
            if line.fault == "time-out":
                self._stay_silent(plan.silence)
            else:
                time.sleep(latency)
                sent = Sent(json.dumps(body).encode()) if line.fault == OK else sent_for(line.fault, kind, body)
                whole = self._sent(sent)
        except OSError:  # the client has disconnected
            self.close_connection = True
        finally:
            self.server.log.end(number, whole=whole)

    def _stay_silent(self, seconds: float) -> None:
        """Wait until the client gives up, or for ``seconds``."""
        select.select([self.connection], [], [], seconds)
        self.close_connection = True

    def _sent(self, sent: Sent) -> bool:
        self.close_connection = self.close_connection or sent.broken or sent.announced > 0
        if sent.broken:
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.connection.close()
            return False
        self.send(sent.data, sent.status, {**sent.headers, "Content-Length": str(len(sent.data) + sent.announced)})
        return not sent.announced


def _results(query: str) -> dict[str, Any]:
    """Return a SearXNG result page: one page and one passage per hit."""
    mark = mark_of(f"search {query}")
    found = pages(query, mark, _HITS, _TEXTS, _WORDS)
    return {"results": [{"url": p["url"], "title": p["title"], "content": " ".join(p["snippets"][:2])} for p in found]}


_TEXTS = [
    (
        f"{good.title()} of {place}",
        f"Brokers in {place} weighed {good} on public scales before carriers took it across the hills towards "
        f"{_PLACES[(i * 5 + 3) % 12]} each spring",
    )
    for i, (good, place) in enumerate(product(_GOODS, _PLACES))
]  # of the start of snippets: a place and what was traded there


if __name__ == "__main__":
    server = _Server(Path(sys.argv[1]))
    print(f"http://127.0.0.1:{server.server_port}", flush=True)
    server.serve_forever()
