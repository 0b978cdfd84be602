"""HTTP on loopback for the benchmarks: a server in a process of its own, as a served model is."""

import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

_CHECKOUT = Path(__file__).resolve().parent.parent


class LocalServer(ThreadingHTTPServer):
    """Unlimited concurrency on a free port."""

    daemon_threads = True
    request_queue_size = 256

    def __init__(self, handler: type[BaseHTTPRequestHandler]) -> None:
        super().__init__(("127.0.0.1", 0), handler)

    @property
    def url(self) -> str:
        """Root address."""
        return f"http://127.0.0.1:{self.server_port}"

    def run(self) -> None:
        """Serve until killed; the first line printed is the address."""
        print(self.url, flush=True)
        self.serve_forever()

    def handle_error(self, *_: object) -> None:
        """A client that was killed is nothing to report."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(*_)


class JsonHandler(BaseHTTPRequestHandler):
    """Reads and writes JSON over connections that stay open."""

    disable_nagle_algorithm = True  # else the kernel adds up to 40 ms to a reply
    wbufsize = -1
    protocol_version = "HTTP/1.1"

    def log_message(self, *args: Any) -> None:
        """Stay silent."""

    def do_GET(self) -> None:
        self.get()

    def do_POST(self) -> None:
        self.post()

    def do_PUT(self) -> None:
        self.put()

    def get(self) -> None:
        """Answer a GET."""
        self.send(b"{}", 404)

    def post(self) -> None:
        """Answer a POST."""
        self.send(b"{}", 404)

    def put(self) -> None:
        """Answer a PUT."""
        self.send(b"{}", 404)

    def read(self) -> Any:
        """The body of the request."""
        return json.loads(self.rfile.read(int(self.headers["Content-Length"])))

    def send(self, data: bytes, status: int = 200, headers: Mapping[str, str] | None = None) -> None:
        """A whole reply."""
        self.send_response(status)
        told = {"Content-Type": "application/json", "Content-Length": str(len(data))} | dict(headers or {})
        for name, value in told.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)
        self.wfile.flush()


@contextmanager
def own_process(module: str, *arguments: str) -> Iterator[str]:
    """Run a server's module in a process of its own, and end it afterwards; gives its address.

    Paths among the arguments must be absolute: the process starts in the checkout.
    """
    command = [sys.executable, "-m", module, *arguments]
    with subprocess.Popen(command, cwd=_CHECKOUT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip()
        finally:
            process.kill()


def completion(model: str, mark: str, text: str, tokens: tuple[int, int]) -> dict[str, Any]:
    """A reply as OpenAI's servers form it; ``tokens`` of the prompt and of the text."""
    return {
        "id": mark,
        "object": "chat.completion",
        "created": 0,
        "model": model,
        "choices": [{"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": tokens[0], "completion_tokens": tokens[1], "total_tokens": sum(tokens)},
    }
