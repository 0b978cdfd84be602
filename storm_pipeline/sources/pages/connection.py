"""A request over a single connection with a hard deadline, to an address that is checked against SSRF.

Only public addresses are allowed.
"""

import contextlib
import functools
import http.client
import ipaddress
import re
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network
from pathlib import Path

from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.exceptions import HTTPError
from urllib3.response import BaseHTTPResponse

from storm_pipeline.errors import PageError
from storm_pipeline.run.retrying import run_within
from storm_pipeline.sources.transport.http import user_agent
from storm_pipeline.text.identity import LONGEST_ADDRESS

IPAddress = IPv4Address | IPv6Address

_PORTS = {"http": 80, "https": 443}
_NAME = re.compile(r"(?=.{1,253}\Z)[a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63})*")
# Resolvers read 2130706433, 0x7f.1 and 0177.0.0.1 as addresses in different ways.
_ENDS_IN_A_NUMBER = re.compile(r"(?:.*\.)?(?:[0-9]+|0x[0-9a-f]*)")
# Not covered by `is_global` in every version of Python: protocol assignments, 6to4 relays, Azure's host.
_BLOCKED_V4 = tuple(map(IPv4Network, ("192.0.0.0/24", "192.88.99.0/24", "168.63.129.16/32")))
_GLOBAL_V6 = IPv6Network("2000::/3")
_BLOCKED_V6 = tuple(map(IPv6Network, ("2001::/23", "2001:db8::/32", "3fff::/20")))
_NAT64 = IPv6Network("64:ff9b::/96")


def is_public(address: IPAddress) -> bool:
    """Return whether an address, and an IPv4 address embedded in it (mapped, NAT64, 6to4), is public."""
    if isinstance(address, IPv4Address):
        blocked = address.is_multicast or address.is_reserved or any(address in network for network in _BLOCKED_V4)
        return address.is_global and not blocked
    embedded = address.ipv4_mapped or (IPv4Address(int(address) & 0xFFFFFFFF) if address in _NAT64 else None)
    if embedded is not None:
        return is_public(embedded)
    if address.sixtofour is not None and not is_public(address.sixtofour):
        return False
    blocked = address.is_multicast or any(address in network for network in _BLOCKED_V6)
    return address in _GLOBAL_V6 and address.is_global and not blocked


def resolve_host(host: str) -> list[str]:
    """Return all addresses of a host from the system's resolver. Raises OSError: none found."""
    infos = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(entry[4][0]) for entry in infos))


@dataclass(frozen=True)
class Access:
    """Access policy: allowed addresses, resolver and trusted CAs."""

    allow: Callable[[IPAddress], bool] = is_public  # whether an address may be connected to
    resolve: Callable[[str], Sequence[str]] = resolve_host  # host name → its addresses; raises OSError if none
    certificates: Path | None = None  # CA bundle file; default: the one of ``requests``


@dataclass(frozen=True)
class Target:
    """A parsed URL, shared by checks and connection."""

    url: str  # the whole URL, normalised, without fragment
    scheme: str  # ``http`` or ``https``
    host: str  # a name in ASCII, or an IP address without brackets
    port: int  # explicit port, else the scheme's default
    path: str


def target_of(url: str) -> Target:
    """Parse a URL. Raises PageError: it is not a web URL, contains a user name, or an obfuscated IP address."""
    from urllib3.util import parse_url

    if len(url) > LONGEST_ADDRESS:
        raise PageError(f"{url[:200]!r}… has {len(url):,} characters; such URLs are not fetched")
    try:
        parts = parse_url(url.strip())
    except ValueError as error:  # urllib3's LocationParseError is one
        raise PageError(f"{url[:200]!r} is not a valid URL; correct it") from error
    if parts.scheme not in _PORTS or not parts.host:
        raise PageError(f"{url[:200]!r} is not an http or https URL; only those are fetched")
    if parts.auth is not None:
        raise PageError(f"a URL on {parts.host} contains a user name or password; such pages are not fetched")
    host = parts.host.strip("[]").rstrip(".").lower()
    if literal_address(host) is None and (_ENDS_IN_A_NUMBER.fullmatch(host) or not _NAME.fullmatch(host)):
        raise PageError(f"{host[:200]!r} is not a valid host name; such URLs are not fetched")
    port = _PORTS[parts.scheme] if parts.port is None else parts.port
    netloc = (f"[{host}]" if ":" in host else host) + (f":{port}" if port != _PORTS[parts.scheme] else "")
    return Target(f"{parts.scheme}://{netloc}{parts.request_uri}", parts.scheme, host, port, parts.request_uri)


def literal_address(host: str) -> IPAddress | None:
    """Parse a host as an IP address; return None for a name, or for an address with a zone (``%``)."""
    with contextlib.suppress(ValueError):
        return None if "%" in host else ipaddress.ip_address(host)
    return None


def require_allowed_addresses(host: str, access: Access, seconds: float) -> tuple[IPAddress, ...]:
    """Return the addresses of a host after checking all of them; connect only to these.

    Raises PageError: the host has no address, a forbidden one, or did not resolve in time.
    """
    literal = literal_address(host)
    addresses = (literal,) if literal else tuple(map(ipaddress.ip_address, _resolve(host, access, seconds)))
    if not addresses:
        raise PageError(f"the host {host} has no address; check the spelling", is_gone=True)
    for address in addresses:
        if not access.allow(address):
            raise PageError(f"{host} resolves to {address}, which is not a public address; such pages are not fetched")
    return addresses


def _resolve(host: str, access: Access, seconds: float) -> Sequence[str]:
    try:
        addresses = run_within(max(seconds, 0.001), lambda: access.resolve(host))
    except (OSError, UnicodeError) as error:
        is_gone = isinstance(error, socket.gaierror) and error.errno in {socket.EAI_NONAME, socket.EAI_NODATA}
        message = f"the host {host} could not be resolved; check the spelling and the network"
        raise PageError(message, is_gone=is_gone) from error
    if addresses is None:
        raise PageError(f"the host {host} was not resolved within {seconds:.0f} s; check the network")
    return addresses


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
    total: float = 20.0  # total seconds, including redirects, robots.txt and the wait for a turn
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
