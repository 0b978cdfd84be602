"""One request over one connection, which goes to a checked address and ends in time, whatever the server does."""

import contextlib
import functools
import http.client
import socket
import ssl
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.exceptions import HTTPError
from urllib3.response import BaseHTTPResponse

from storm_pipeline.errors import PageError
from storm_pipeline.net.http import user_agent
from storm_pipeline.pages.addresses import Access, IPAddress, Target, checked_addresses

_HEADERS = {
    "User-Agent": user_agent(),
    "Accept": "text/html, application/xhtml+xml, text/plain;q=0.9, application/pdf;q=0.9",
    "Accept-Encoding": "gzip, deflate",
    "Connection": "close",
}


@dataclass(frozen=True)
class Limits:
    """How much a page may take.

    Attributes:
        connect: seconds to wait for a connection.
        read: seconds to wait for the next bytes.
        total: seconds for everything, redirects included; waiting for one's turn at a host is not counted.
        max_bytes: size after decompression.
        redirects: redirects that are followed.
    """

    connect: float = 5.0
    read: float = 10.0
    total: float = 20.0
    max_bytes: int = 10_000_000
    redirects: int = 5


@contextlib.contextmanager
def exchange(target: Target, access: Access, limits: Limits, deadline: float) -> Iterator[BaseHTTPResponse]:
    """Ask for a page; the answer can be read while the block lasts. No proxy, cookie or netrc plays a part.

    Args:
        target: what to ask for.
        access: which addresses are allowed.
        limits: ``connect`` and ``read`` are looked at.
        deadline: moment of ``time.monotonic`` at which the connection is broken off.

    Raises:
        PageError: the address is not allowed, or the server did not answer properly, securely and in time.
    """
    line = _Line(checked_addresses(target.host, access, deadline - time.monotonic()), target.port, limits, deadline)
    connection: HTTPConnection
    if target.scheme == "https":
        connection = _Secure(target, line, timeout=limits.read, ssl_context=_trust(access.certificates))
    else:
        connection = _Plain(target, line, timeout=limits.read)
    try:
        with _plain_failures(target, limits, deadline):
            connection.request("GET", target.path, headers=_HEADERS, preload_content=False)
            response = connection.getresponse()
            if time.monotonic() >= deadline:  # the end of a connection passes for the end of the headers
                raise TimeoutError
            yield response
    finally:
        connection.close()
        line.close()


class _Line:
    """Opens a socket to the first of some checked addresses that answers, and shuts it when time is up."""

    def __init__(self, addresses: tuple[IPAddress, ...], port: int, limits: Limits, deadline: float) -> None:
        self._addresses = addresses
        self._port = port
        self._limits = limits
        self._deadline = deadline
        self._stack = contextlib.ExitStack()

    def open(self) -> socket.socket:
        error: OSError = TimeoutError("no time left to connect")
        for address in self._addresses:
            if (left := self._deadline - time.monotonic()) <= 0:
                break
            try:
                return self._guarded(self._connected(address, min(self._limits.connect, left)))
            except OSError as failure:
                error = failure
        raise error

    def close(self) -> None:
        self._stack.close()

    def _connected(self, address: IPAddress, seconds: float) -> socket.socket:
        own = socket.socket(socket.AF_INET if address.version == 4 else socket.AF_INET6, socket.SOCK_STREAM)
        try:
            own.settimeout(seconds)
            own.connect((str(address), self._port))
            own.settimeout(self._limits.read)
        except BaseException:
            own.close()
            raise
        return own

    def _guarded(self, own: socket.socket) -> socket.socket:
        # A second handle on the connection: TLS takes the first one away while hands are still being shaken.
        handle = self._stack.enter_context(own.dup())

        def shut() -> None:
            with contextlib.suppress(OSError):
                handle.shutdown(socket.SHUT_RDWR)

        timer = threading.Timer(max(0.0, self._deadline - time.monotonic()), shut)
        timer.daemon = True
        timer.start()
        self._stack.callback(timer.cancel)
        return own


class _Plain(HTTPConnection):
    def __init__(self, target: Target, line: _Line, **options: Any) -> None:
        super().__init__(target.host, target.port, **options)
        self._line = line

    def _new_conn(self) -> socket.socket:
        return self._line.open()


class _Secure(HTTPSConnection):
    def __init__(self, target: Target, line: _Line, **options: Any) -> None:
        super().__init__(target.host, target.port, **options)
        self._line = line

    def _new_conn(self) -> socket.socket:
        return self._line.open()


@functools.cache
def _trust(certificates: Path | None) -> ssl.SSLContext:
    from requests.utils import DEFAULT_CA_BUNDLE_PATH

    return ssl.create_default_context(cafile=certificates or DEFAULT_CA_BUNDLE_PATH)


@contextlib.contextmanager
def _plain_failures(target: Target, limits: Limits, deadline: float) -> Iterator[None]:
    """Turn what the HTTP library raises into our error."""
    try:
        yield
    except (HTTPError, http.client.HTTPException, OSError) as error:
        if time.monotonic() >= deadline:
            raise PageError(f"{target.url} was not had within {limits.total:g} s; the server is slow") from error
        if isinstance(error, ssl.SSLCertVerificationError):
            raise PageError(
                f"the certificate of {target.host} cannot be trusted ({error.verify_message}); the page was not fetched"
            ) from error
        if isinstance(error, TimeoutError):
            raise PageError(f"{target.host} did not answer in time; check the network or try again later") from error
        raise PageError(
            f"{target.host} could not be reached or closed the connection ({type(error).__name__}); check the network"
        ) from error
