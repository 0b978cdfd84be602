"""Host names and trusted proxies of a server."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network
from typing import Any, Self
from urllib.parse import urlsplit

from storm_pipeline.errors import SettingsError

_LOCAL_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})


@dataclass(frozen=True)
class Reach:
    """The names of a server in addition to this machine's, and its trusted proxies."""

    names: frozenset[str] = frozenset()
    proxies: tuple[IPv4Network | IPv6Network, ...] = ()

    @classmethod
    def build(cls, host: str, allow_host: tuple[str, ...] = (), trust_proxy: tuple[str, ...] = ()) -> Self:
        """Parse the owner's options: listening address, host names, and networks of proxies.

        Raises SettingsError: a name has a port or a path, or a network is invalid or includes all addresses.
        """
        names = {name.lower().removesuffix(".") for name in allow_host}
        for name in names:
            if not name or _host(f"//{name}") != name:
                raise SettingsError(f"--allow-host takes the name of a host, such as storm.example.org, not {name!r}")
        return cls(frozenset({*names, host.lower()}), tuple(map(_network, trust_proxy)))

    def refusal(self, headers: Mapping[str, str], server: Any) -> str:
        """Return the reason for refusing a request by its headers; else empty.

        The host must be a name of the server, against DNS rebinding, and the request must not come from a page of
        another site. ``server``: the receiving address, if known.
        """
        known_hosts = _LOCAL_NAMES | self.names | ({str(server[0]).lower()} if server else set())
        host = _host(f"//{headers.get('host', '')}").removesuffix(".")
        if host not in known_hosts and host.endswith(".localhost"):
            return "no `storm web` of this address is open here: start it, and open the address that it prints"
        if host not in known_hosts:
            return f"this server does not answer to the host {host[:100]!r}: its owner can allow it by --allow-host"
        is_foreign = headers.get("sec-fetch-site") == "cross-site"  # a browser sends no origin with most GETs
        if _host(headers["origin"]) not in known_hosts if "origin" in headers else is_foreign:
            return "pages of other sites may not call this server"
        return ""


def is_own_page(headers: Mapping[str, str]) -> bool | None:
    """Return whether a page of this very server makes the request, by its headers; None if no page of a browser does.

    Pages of other ports of this host are not the server's.
    """
    origin, site = headers.get("origin"), headers.get("sec-fetch-site")
    if origin is None and site is None:
        return None
    is_same = origin is None or urlsplit(origin).netloc.lower() == headers.get("host", "").lower()
    return is_same and site in (None, "same-origin")


def is_loopback(host: str) -> bool:
    """Return whether only this machine can reach an address; the only such name is ``localhost``."""
    with suppress(ValueError):
        return ip_address(host).is_loopback
    return host == "localhost"


def _network(given: str) -> IPv4Network | IPv6Network:
    try:
        network = ip_network(given)
    except ValueError as error:
        raise SettingsError(
            f"--trust-proxy takes an address or a network, such as 172.28.0.0/24, not {given!r}"
        ) from error
    if not network.prefixlen:
        raise SettingsError(f"--trust-proxy {given} would take everybody's word: name the proxy's own network")
    return network


def _host(address: str) -> str:
    with suppress(ValueError):
        return (urlsplit(address).hostname or "").lower()
    return ""
