"""HTTP servers on loopback for the benchmarks, each in a separate process."""

import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

_BENCH = Path(__file__).resolve().parents[1]


class LocalServer(ThreadingHTTPServer):
    """A threading server on a free port, without a concurrency limit."""

    daemon_threads = True
    request_queue_size = 256

    def __init__(self, handler: type[BaseHTTPRequestHandler]) -> None:
        super().__init__(("127.0.0.1", 0), handler)

    @property
    def url(self) -> str:
        """Base URL."""
        return f"http://127.0.0.1:{self.server_port}"

    def run(self) -> None:
        """Serve until killed; prints the URL first."""
        print(self.url, flush=True)
        self.serve_forever()

    def handle_error(self, *request: Any) -> None:
        """Ignore connections dropped by killed clients."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(*request)


class JsonHandler(BaseHTTPRequestHandler):
    """Reads and writes JSON over persistent connections."""

    disable_nagle_algorithm = True  # Nagle's algorithm adds up to 40 ms to a reply
    wbufsize = -1
    protocol_version = "HTTP/1.1"

    def log_message(self, *args: Any) -> None:
        """Stay silent."""

    def read(self) -> Any:
        """Return the body of the request."""
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


@contextmanager
def separate_process(module: str, *arguments: str) -> Iterator[str]:
    """Run a server module in a separate process within the block; yields its URL.

    Paths among the arguments must be absolute: the process starts in the checkout.
    """
    command = [sys.executable, "-m", module, *arguments]
    with subprocess.Popen(command, cwd=_BENCH, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip()
        finally:
            process.kill()


def texts_of(request: Mapping[str, Any]) -> tuple[str, str]:
    """Return the first and the last message of a request of OpenAI's: the system's, and the user's."""
    return request["messages"][0]["content"], request["messages"][-1]["content"]


def completion(model: str, mark: str, text: str, tokens: tuple[int, int]) -> dict[str, Any]:
    """Return a chat completion in OpenAI's format; ``tokens``: prompt and completion tokens."""
    return {
        "id": mark,
        "object": "chat.completion",
        "created": 0,
        "model": model,
        "choices": [{"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": tokens[0], "completion_tokens": tokens[1], "total_tokens": sum(tokens)},
    }
