"""A request over a single connection to a checked address with a hard deadline."""

import contextlib
import functools
import http.client
import socket
import ssl
import threading
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.exceptions import HTTPError
from urllib3.response import BaseHTTPResponse

from storm_pipeline.errors import PageError
from storm_pipeline.sources.pages.address_checks import Access, IPAddress, Target, require_allowed_addresses
from storm_pipeline.sources.transport.http import user_agent

_HEADERS = {
    "User-Agent": user_agent(),
    "Accept": "text/html, application/xhtml+xml, text/plain;q=0.9, application/pdf;q=0.9",
    "Accept-Encoding": "gzip, deflate",
    "Connection": "close",
}


@dataclass(frozen=True)
class Limits:
    """Time and size limits of fetching a page."""

    connect: float = 5.0  # seconds to wait for a connection
    read: float = 10.0  # seconds to wait for the next bytes
    total: float = 20.0  # total seconds, including redirects and robots.txt, excluding the host's rate limit
    max_bytes: int = 10_000_000  # maximum size after decompression
    redirects: int = 5  # maximum number of redirects followed


@contextlib.contextmanager
def exchange(target: Target, access: Access, limits: Limits, deadline: float) -> Iterator[BaseHTTPResponse]:
    """Request a page; its response is readable within the block. Proxies, cookies and netrc are not used.

    ``deadline``: ``time.monotonic`` of closing the connection. Raises PageError: a forbidden address, or an invalid,
    insecure or late answer.
    """
    addresses = require_allowed_addresses(target.host, access, deadline - time.monotonic())
    connection = HTTPConnection(target.host, target.port, timeout=limits.read)
    if target.scheme == "https":
        context = _ssl_context(access.certificates)
        connection = HTTPSConnection(target.host, target.port, timeout=limits.read, ssl_context=context)
    with contextlib.ExitStack() as stack, _translated_errors(target, limits, deadline):
        connection._new_conn = lambda: _open_socket(addresses, target.port, limits, deadline, stack)  # type: ignore[method-assign]
        stack.callback(connection.close)
        connection.request("GET", target.path, headers=_HEADERS, preload_content=False)
        response = connection.getresponse()
        if time.monotonic() >= deadline:  # a connection closed at the deadline looks like the end of the headers
            raise TimeoutError
        yield response


def _open_socket(
    addresses: Iterable[IPAddress], port: int, limits: Limits, deadline: float, stack: contextlib.ExitStack
) -> socket.socket:
    """Return a socket to the first accepting address; it is shut down at the deadline."""
    last_error: OSError = TimeoutError("no time left to connect")
    for address in addresses:
        if (left := deadline - time.monotonic()) <= 0:
            break
        try:
            sock = _connect(address, port, min(limits.connect, left))
            sock.settimeout(limits.read)
            _shut_at(deadline, sock, stack)
        except OSError as failure:
            last_error = failure
        else:
            return sock
    raise last_error


def _connect(address: IPAddress, port: int, seconds: float) -> socket.socket:
    """Connect as ``socket.create_connection``, without resolving the address."""
    sock = socket.socket(socket.AF_INET if address.version == 4 else socket.AF_INET6, socket.SOCK_STREAM)
    try:
        sock.settimeout(seconds)
        sock.connect((str(address), port))
    except BaseException:
        sock.close()
        raise
    return sock


def _shut_at(deadline: float, sock: socket.socket, stack: contextlib.ExitStack) -> None:
    # A duplicate handle: wrapping in TLS detaches the first one during the handshake.
    handle = stack.enter_context(sock.dup())

    def shut() -> None:
        with contextlib.suppress(OSError):
            handle.shutdown(socket.SHUT_RDWR)

    timer = threading.Timer(max(0.0, deadline - time.monotonic()), shut)
    timer.daemon = True
    timer.start()
    stack.callback(timer.cancel)


@functools.cache
def _ssl_context(certificates: Path | None) -> ssl.SSLContext:
    from requests.utils import DEFAULT_CA_BUNDLE_PATH

    return ssl.create_default_context(cafile=certificates or DEFAULT_CA_BUNDLE_PATH)


@contextlib.contextmanager
def _translated_errors(target: Target, limits: Limits, deadline: float) -> Iterator[None]:
    """Translate the HTTP library's exceptions."""
    try:
        yield
    except (HTTPError, http.client.HTTPException, OSError) as error:
        if time.monotonic() >= deadline:
            raise PageError(f"{target.url} was not fetched within {limits.total:g} s; the server is slow") from error
        message = f"{target.host} could not be reached or closed the connection; check the network"
        if isinstance(error, ssl.SSLCertVerificationError):
            reason = f"cannot be trusted ({error.verify_message}); the page was not fetched"
            message = f"the certificate of {target.host} {reason}"
        if isinstance(error, TimeoutError):
            message = f"{target.host} did not answer in time; check the network or try again later"
        raise PageError(message) from error
