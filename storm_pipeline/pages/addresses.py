"""Which addresses of the web may be fetched: none that leads into this machine or its network."""

import ipaddress
import queue
import re
import socket
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network
from pathlib import Path

from storm_pipeline.errors import PageError

IPAddress = IPv4Address | IPv6Address

_PORTS = {"http": 80, "https": 443}
_NAME = re.compile(r"(?=.{1,253}\Z)[a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63})*")
# Resolvers read 2130706433, 0x7f.1 and 0177.0.0.1 as addresses, each in its own way.
_ENDS_IN_A_NUMBER = re.compile(r"(?:.*\.)?(?:[0-9]+|0x[0-9a-f]*)")
# Beyond what `is_global` knows in every version of Python: protocol assignments, 6to4 relays, Azure's host.
_CLOSED_V4 = tuple(map(IPv4Network, ("192.0.0.0/24", "192.88.99.0/24", "168.63.129.16/32")))
_GLOBAL_V6 = IPv6Network("2000::/3")
_CLOSED_V6 = tuple(map(IPv6Network, ("2001::/23", "2001:db8::/32", "3fff::/20")))
_NAT64 = IPv6Network("64:ff9b::/96")


def is_public(address: IPAddress) -> bool:
    """Whether an address belongs to the public internet, and so does any IPv4 address that it stands for.

    Embedded addresses are those of IPv4-mapped, 6to4 and NAT64 (the well-known prefix) addresses.
    """
    if isinstance(address, IPv4Address):
        odd = address.is_multicast or address.is_reserved or any(address in network for network in _CLOSED_V4)
        return address.is_global and not odd
    embedded = address.ipv4_mapped or (IPv4Address(int(address) & 0xFFFFFFFF) if address in _NAT64 else None)
    if embedded is not None:
        return is_public(embedded)
    if address.sixtofour is not None and not is_public(address.sixtofour):
        return False
    closed = address.is_multicast or any(address in network for network in _CLOSED_V6)
    return address in _GLOBAL_V6 and address.is_global and not closed


def resolved(host: str) -> list[str]:
    """All addresses that the system's resolver gives for a host.

    Raises:
        OSError: there is none, or nobody could be asked.
    """
    found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


@dataclass(frozen=True)
class Access:
    """What may be reached, and how it is found and trusted.

    Attributes:
        allow: whether an address may be connected to.
        resolve: host name → its addresses; raises OSError where there is none.
        certificates: file of the certificate authorities to trust; default: those that ``requests`` trusts.
    """

    allow: Callable[[IPAddress], bool] = is_public
    resolve: Callable[[str], Sequence[str]] = resolved
    certificates: Path | None = None


@dataclass(frozen=True)
class Target:
    """A web address taken apart, by the one parser whose parts are also connected to.

    Attributes:
        url: the whole, normalised, without fragment.
        scheme: ``http`` or ``https``.
        host: a name in ASCII, or an IP address without brackets.
        port: as given, else the scheme's.
        path: path and query, as they are asked for.
    """

    url: str
    scheme: str
    host: str
    port: int
    path: str


def target_of(url: str) -> Target:
    """Take an address apart.

    Raises:
        PageError: it is no address of the web, holds a user name, or writes an IP address in a disguise.
    """
    from urllib3.util import parse_url

    try:
        parts = parse_url(url.strip())
    except ValueError as error:  # what urllib3 raises is one
        raise PageError(f"{url[:200]!r} is no web address; correct it") from error
    if parts.scheme not in _PORTS or not parts.host:
        raise PageError(f"{url[:200]!r} is no http or https address; only those are fetched")
    if parts.auth is not None:
        raise PageError(f"an address on {parts.host} holds a user name or password; such pages are not fetched")
    host = parts.host.strip("[]").rstrip(".").lower()
    if literal_address(host) is None and (_ENDS_IN_A_NUMBER.fullmatch(host) or not _NAME.fullmatch(host)):
        raise PageError(f"{host[:200]!r} is no name of a host; such addresses are not fetched")
    port = _PORTS[parts.scheme] if parts.port is None else parts.port
    place = (f"[{host}]" if ":" in host else host) + (f":{port}" if port != _PORTS[parts.scheme] else "")
    return Target(f"{parts.scheme}://{place}{parts.request_uri}", parts.scheme, host, port, parts.request_uri)


def literal_address(host: str) -> IPAddress | None:
    """The IP address that a host is written as, in its one plain form; None for a name."""
    try:
        return None if "%" in host else ipaddress.ip_address(host)
    except ValueError:
        return None


def checked_addresses(host: str, access: Access, seconds: float) -> tuple[IPAddress, ...]:
    """The addresses of a host, every one of them allowed; connect to these and to no others.

    Raises:
        PageError: the host has none, was not resolved in time, or has one that is not allowed.
    """
    literal = literal_address(host)
    found = (literal,) if literal else tuple(map(ipaddress.ip_address, _in_time(host, access.resolve, seconds)))
    if not found:
        raise PageError(f"the host {host} has no address; check the spelling")
    for address in found:
        if not access.allow(address):
            raise PageError(f"{host} leads to {address}, which is not a public address; such pages are not fetched")
    return found


def _in_time(host: str, resolve: Callable[[str], Sequence[str]], seconds: float) -> Sequence[str]:
    """What ``resolve`` gives, waited for no longer than ``seconds``: resolvers know no time limit of their own."""
    answers: queue.SimpleQueue[Sequence[str] | Exception] = queue.SimpleQueue()

    def ask() -> None:
        try:
            answers.put(resolve(host))
        except Exception as error:  # noqa: BLE001  (raised again where it is waited for)
            answers.put(error)

    threading.Thread(target=ask, daemon=True).start()
    try:
        answer = answers.get(timeout=max(seconds, 0.001))
    except queue.Empty:
        raise PageError(f"the host {host} was not resolved within {seconds:.0f} s; check the network") from None
    if isinstance(answer, OSError | UnicodeError):
        raise PageError(f"the host {host} could not be resolved; check the spelling and the network") from answer
    if isinstance(answer, Exception):
        raise answer
    return answer
