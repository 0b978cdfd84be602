"""A local HTTP server that says what a test tells it to say, and keeps what it was asked."""

import json
import socket
import ssl
import struct
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, parse_qsl, urlsplit


@dataclass(frozen=True)
class Request:
    """A request as it arrived. Names of headers are lower-case; ``query`` has the last value of each name."""

    method: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: bytes
    at: float

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def form(self) -> dict[str, str]:
        return dict(parse_qsl(self.body.decode(), keep_blank_values=True))


@dataclass(frozen=True)
class Reply:
    """What to answer.

    Attributes:
        status: HTTP status.
        body: bytes as they are, text, or any other value as JSON.
        headers: further headers.
        delay: seconds before the first byte.
        pieces: seconds between the bytes of the body, which then trickles; 0 sends it whole.
        reset: break the connection off instead of answering.
        cut: announce more bytes than are sent.
    """

    status: int = 200
    body: Any = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    delay: float = 0.0
    pieces: float = 0.0
    reset: bool = False
    cut: bool = False

    def data(self) -> tuple[bytes, str]:
        if isinstance(self.body, bytes):
            return self.body, "application/octet-stream"
        if isinstance(self.body, str):
            return self.body.encode(), "text/html; charset=utf-8"
        return json.dumps(self.body).encode(), "application/json"


Script = Callable[[Request], Reply]


class ScriptedServer:
    """Answers each request as the script says. Use as a context manager; ``url`` has no slash at its end.

    Args:
        script: a function from request to reply, or replies in order, of which the last is repeated.
    """

    def __init__(self, *script: Script | Reply) -> None:
        self.requests: list[Request] = []
        self._script = script
        self._lock = threading.Lock()
        self._closing = threading.Event()
        server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        server.daemon_threads = True
        server.block_on_close = False
        self._server = server
        self._thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> "ScriptedServer":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._closing.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(5)

    def reply_to(self, request: Request) -> Reply:
        with self._lock:
            self.requests.append(request)
            turn = self._script[min(len(self.requests), len(self._script)) - 1]
        return turn if isinstance(turn, Reply) else turn(request)

    def wait(self, seconds: float) -> bool:
        """Sleep; False as soon as the server is to close."""
        return not self._closing.wait(seconds)

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        scripted = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            timeout = 5
            disable_nagle_algorithm = True  # else each body waits 40 ms for the acknowledgement of its headers

            def do_GET(self) -> None:
                self._answer()

            def do_POST(self) -> None:
                self._answer()

            def log_message(self, *_: object) -> None:
                """Tests read the request log instead."""

            def _answer(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                parts = urlsplit(self.path)
                query = {name: values[-1] for name, values in parse_qs(parts.query, keep_blank_values=True).items()}
                headers = {name.lower(): value for name, value in self.headers.items()}
                reply = scripted.reply_to(Request(self.command, parts.path, query, headers, body, time.monotonic()))
                if reply.delay and not scripted.wait(reply.delay):
                    return
                try:
                    self._send(reply)
                except OSError:  # the client had enough, which tests of limits want
                    self.close_connection = True

            def _send(self, reply: Reply) -> None:
                if reply.reset:
                    self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                    self.connection.close()
                    self.close_connection = True
                    return
                data, kind = reply.data()
                length = str(len(data) + (100 if reply.cut else 0))
                self.send_response(reply.status)
                for name, value in ({"Content-Type": kind, "Content-Length": length} | dict(reply.headers)).items():
                    self.send_header(name, value)
                self.end_headers()
                if not reply.pieces:
                    self.wfile.write(data)
                for byte in data if reply.pieces else b"":
                    if not scripted.wait(reply.pieces):
                        return
                    self.wfile.write(bytes([byte]))
                self.close_connection = self.close_connection or reply.cut

        return Handler


@contextmanager
def closed_port() -> Iterator[str]:
    """Address of a port that nobody listens on while the block runs."""
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{held.getsockname()[1]}"


Talk = Callable[[socket.socket, threading.Event], None]


@contextmanager
def raw_server(talk: Talk, context: ssl.SSLContext | None = None) -> Iterator[int]:
    """The port of a server that lets ``talk`` write what it likes to each connection."""
    closing = threading.Event()

    def serve(connection: socket.socket) -> None:
        with suppress(OSError), connection:
            connection.settimeout(5)
            with context.wrap_socket(connection, server_side=True) if context else connection as line:
                line.recv(4096)
                talk(line, closing)

    def accept() -> None:
        with suppress(OSError):
            while True:
                connection, _ = listener.accept()
                threading.Thread(target=serve, args=(connection,), daemon=True).start()

    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=accept, daemon=True).start()
        try:
            yield listener.getsockname()[1]
        finally:
            closing.set()
            listener.shutdown(socket.SHUT_RDWR)


def trickle(data: bytes) -> Talk:
    def talk(line: socket.socket, closing: threading.Event) -> None:
        for byte in data * 1000:
            line.sendall(bytes([byte]))
            if closing.wait(0.05):
                return

    return talk


CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"
CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
ENDLESS = [(b"", CONTINUE), (b"HTTP/1.1 200 OK\r\nX-A: ", b"b"), (CHUNKED, b"1\r\n \r\n"), (CHUNKED + b"0\r\nA:", b"b")]
"""Beginnings of answers and what would follow for ever: interim answers, a header, a body, a trailer."""


def until_hung_up(head: bytes, piece: bytes, pause: float = 0.005) -> tuple[Talk, threading.Event]:
    """Talk that sends the head and then the piece for ever, and an event: the client has closed the connection."""
    hung_up = threading.Event()

    def talk(line: socket.socket, closing: threading.Event) -> None:
        try:
            line.sendall(head)
            while not closing.wait(pause):
                line.sendall(piece)
        except ConnectionError:
            hung_up.set()

    return talk, hung_up
