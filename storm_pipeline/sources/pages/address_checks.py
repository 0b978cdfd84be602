"""Checks of URLs and IP addresses against SSRF: only public addresses are allowed."""

import ipaddress
import re
import socket
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network
from pathlib import Path

from storm_pipeline.errors import PageError
from storm_pipeline.run.retrying import run_within
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
    try:
        return None if "%" in host else ipaddress.ip_address(host)
    except ValueError:
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
